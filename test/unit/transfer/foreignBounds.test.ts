import { deepStrictEqual, throws } from 'node:assert';
import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseForeignOrThrow } from '../../../src/core/transfer/formats/foreignJson';
import { readLines } from '../../../src/node/transfer/foreign/readJsonLines';
import { tempFolder } from '../../support/store/storeTemp';

const mostLine = 256 * 1024 * 1024;

describe('what a foreign file may hold at most', () => {
  it('is 20 million values, counted before any of them is made', () => {
    throws(() => parseForeignOrThrow(`[${'0,'.repeat(20_000_000)}0]`), /more than 20 million values/);
  });

  it('is 256 MB a line: a longer one is named, and what stands behind it is read', async function () {
    this.timeout(20_000);
    const temp = tempFolder();
    try {
      const file = join(temp.path, 'long.jsonl');
      writeFileSync(file, '{"first":1}\n');
      truncateSync(file, 12 + mostLine + 1);
      appendFileSync(file, '\n{"last":1}\n');
      const found = [];
      for await (const { text, bytes } of readLines(file)) found.push([text, bytes?.length ?? null]);
      deepStrictEqual(found, [
        ['{"first":1}', 11],
        [`{"type":"too_large","bytes":${mostLine + 2}}`, null],
        ['{"last":1}', 10],
      ]);
    } finally {
      temp.remove();
    }
  });
});
