import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../support/paths';

interface Manifest {
  publisher: string;
  version: string;
  license: string;
  pricing: string;
  galleryBanner: { color: string; theme: string };
  keywords: string[];
  icon: string;
}

const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as Manifest;

describe('the manifest for the marketplaces', () => {
  it('says what is asked for, and invents no address', () => {
    const { publisher, license, pricing, galleryBanner, keywords, ...rest } = manifest;
    const png = readFileSync(join(projectRoot, manifest.icon));
    deepStrictEqual(
      {
        publisher,
        license,
        pricing,
        banner: /^#[\da-f]{6}$/.test(galleryBanner.color) && ['dark', 'light'].includes(galleryBanner.theme),
        keywords: keywords.length > 0 && keywords.length <= 30 && new Set(keywords).size === keywords.length,
        // Wide and high: 128 is the least.
        icon: [png.readUInt32BE(16), png.readUInt32BE(20)],
        addresses: Object.keys(rest).filter((name) => /^(?:repository|homepage|bugs|sponsor|badges|qna)$/.test(name)),
      },
      { publisher: 'threadkeeper', license: 'MIT', pricing: 'Free', banner: true, keywords: true, icon: [256, 256], addresses: [] },
    );
    const [, newest] = /^## \[?(\d+\.\d+\.\d+)/m.exec(readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8')) ?? [];
    deepStrictEqual(newest, manifest.version);
  });
});
