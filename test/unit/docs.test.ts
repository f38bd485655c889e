import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { projectRoot } from '../support/paths';
import { settingsReference, settingsReferenceFile } from '../support/settingsReference';

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs/architecture.md', 'docs/security.md', 'docs/settings.md'];

describe('the documents', () => {
  it('have a settings reference that agrees with the manifest (npm run docs writes it)', async () => {
    assert.equal(await readFile(settingsReferenceFile, 'utf8'), await settingsReference());
  });

  it('name every package that ships, and no other', async () => {
    const { dependencies } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
    const listed = [...(await readFile(join(projectRoot, 'docs', 'security.md'), 'utf8')).matchAll(/^\| `([^`]+)` \| /gm)].map(([, name]) => name);
    assert.deepEqual(listed, Object.keys(dependencies).sort());
  });

  for (const page of pages) {
    it(`lead nowhere that is not there: ${page}`, async () => {
      const text = await readFile(join(projectRoot, page), 'utf8');
      const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => target!);
      const paths = [...text.matchAll(/`((?:src|test|webview-ui|docs|media)\/[\w./-]+)`/g)].map(([, path]) => path!);
      const broken = [...links.filter((target) => !existsSync(join(projectRoot, dirname(page), target))), ...paths.filter((path) => !existsSync(join(projectRoot, path)))];
      assert.deepEqual(broken, []);
    });
  }
});
