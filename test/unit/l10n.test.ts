import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../support/paths';

const strings = (name: string) => JSON.parse(readFileSync(join(projectRoot, name), 'utf8')) as Record<string, string>;
const english = strings('package.nls.json');
const chinese = strings('package.nls.zh-cn.json');

/** What must not be lost in translation: settings, values, links to commands. */
function fixedParts(text: string): string[] {
  return [...text.matchAll(/`[^`]+`|\]\([^)]+\)/g)].map(([part]) => part).sort();
}

describe('the texts of the manifest', () => {
  it('are all there in Chinese, in the same order', () => {
    assert.deepEqual(Object.keys(chinese), Object.keys(english));
  });

  it('keep their values and links in Chinese', () => {
    const differing = Object.keys(english).filter(
      (key) => JSON.stringify(fixedParts(english[key]!)) !== JSON.stringify(fixedParts(chinese[key] ?? '')),
    );
    assert.deepEqual(differing, []);
  });

  it('are none of them left in English', () => {
    assert.deepEqual(
      Object.keys(english).filter((key) => english[key] === chinese[key]),
      [],
    );
  });
});
