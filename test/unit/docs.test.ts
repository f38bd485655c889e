import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { presets } from '../../src/core/context/policy/resolvePolicy';
import { projectRoot } from '../support/paths';
import { settingsReference, settingsReferenceFile } from '../support/source/settingsReference';

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...readdirSync(join(projectRoot, 'docs')).map((name) => `docs/${name}`)];

interface Code {
  readonly files: ReadonlySet<string>;
  readonly exported: ReadonlySet<string>;
}

async function readCode(): Promise<Code> {
  const below = async (root: string) =>
    (await readdir(join(projectRoot, root), { recursive: true }))
      .filter((path) => /\.(?:ts|mjs)$/.test(path))
      .map((path) => join(projectRoot, root, path));
  const paths = (await Promise.all(['src', 'webview-ui', 'test'].map(below))).flat();
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  return {
    files: new Set(['esbuild.mjs', 'eslint.config.mjs', ...paths.map((path) => basename(path))]),
    exported: new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/^export (?:class|interface|type|const|(?:async )?function) (\w+)/gm)].map(([, name]) => name!),
      ),
    ),
  };
}

/** As GitHub and VS Code name the places of headings. */
function headings(page: string): ReadonlySet<string> {
  const text = readFileSync(join(projectRoot, page), 'utf8');
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

describe('the documents', () => {
  let code: Code;
  before(async () => {
    code = await readCode();
  });

  it('have a settings reference that agrees with the manifest (npm run docs writes it)', async () => {
    assert.equal(await readFile(settingsReferenceFile, 'utf8'), await settingsReference());
  });

  it('name every package that ships, and no other', async () => {
    const { dependencies } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const listed = [...(await readFile(join(projectRoot, 'docs', 'security.md'), 'utf8')).matchAll(/^\| `([^`]+)` \| /gm)].map(
      ([, name]) => name,
    );
    assert.deepEqual(listed, Object.keys(dependencies).sort());
  });

  it('tell users the marks of the default policy as they are', async () => {
    const page = await readFile(join(projectRoot, 'docs', 'context.md'), 'utf8');
    const { memoryFlush, compaction, window } = presets.balanced;
    assert.deepEqual(
      [
        /^\| (\d+)% and (\d+)% \| the model is reminded/m,
        /^\| (\d+)% \| a summary/m,
        /^\| (\d+)% \| it takes/m,
        /more than ([\d,]+) tokens/,
        /or of ([\d,]+) tokens/,
      ].map((pattern) => pattern.exec(page)?.slice(1)),
      [
        memoryFlush.thresholds.map(({ percent }) => `${percent}`),
        [`${compaction.prepareAtPercent}`],
        [`${compaction.trigger.percent}`],
        [compaction.keep.tokens?.max.toLocaleString('en')],
        [window.maxTokens.toLocaleString('en')],
      ],
    );
  });

  it('name for every claim about security the test that would fail', async () => {
    const [claims = ''] = (await readFile(join(projectRoot, 'docs', 'security.md'), 'utf8')).split(/^## /m);
    const rows = [...claims.matchAll(/^\| (?:\*\*[^|]+\*\*)? \| [^|]+ \| ([^|]*) \|$/gm)].map(([, tests]) => tests!);
    assert.ok(rows.length > 50, 'the claims are found');
    assert.deepEqual(
      rows.filter((tests) => !/^(?:`(?:test\/[\w/.]+\.test\.ts|eslint\.config\.mjs)`(?:, |$))+$/.test(tests)),
      [],
    );
  });

  for (const page of pages) {
    it(`lead nowhere that is not there: ${page}`, async () => {
      const text = await readFile(join(projectRoot, page), 'utf8');
      const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => target!);
      const paths = [...text.matchAll(/`((?:src|test|webview-ui|docs|media)\/[\w./-]+)`/g)].map(([, path]) => path!);
      const broken = [
        ...links.filter((target) => !existsSync(join(projectRoot, dirname(page), target))),
        ...paths.filter((path) => !existsSync(join(projectRoot, path))),
      ];
      const anchors = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].filter(
        ([, target, anchor]) => !headings(target === '' ? page : join(dirname(page), target!)).has(anchor!),
      );
      assert.deepEqual([broken, anchors.map(([link]) => link)], [[], []]);
    });

    it(`name only settings, scripts and parts of the code that are there: ${page}`, async () => {
      const text = await readFile(join(projectRoot, page), 'utf8');
      const named = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))];
      const { scripts, contributes } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')) as {
        scripts: Record<string, string>;
        contributes: { configuration: { properties: object }[] };
      };
      const settings = new Set(contributes.configuration.flatMap(({ properties }) => Object.keys(properties)));
      const { files, exported } = code;
      assert.deepEqual(
        {
          settings: named(/`(threadkeeper\.[\w.]+)`/g).filter((name) => !settings.has(name)),
          scripts: named(/`npm run ([\w:]+)/g).filter((name) => !(name in scripts)),
          files: named(/`([\w.-]+\.(?:ts|mjs))`/g).filter((name) => !files.has(name)),
          // Elsewhere other programs' names are meant as well.
          exported: page === 'docs/architecture.md' ? named(/`([A-Z][a-z]\w+)(?:\.\w+)?`/g).filter((name) => !exported.has(name)) : [],
        },
        { settings: [], scripts: [], files: [], exported: [] },
      );
    });
  }
});
