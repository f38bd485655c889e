import assert from 'node:assert/strict';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileTail } from '../../../../src/node/transfer/foreign/fileTail';
import { tempFolder, type TempFolder } from '../../../support/store/storeTemp';

describe('the tail of a file', () => {
  let temp: TempFolder;
  let file: string;

  beforeEach(() => {
    temp = tempFolder();
    file = join(temp.path, 'session.jsonl');
  });
  afterEach(() => temp.remove());

  /** So many bytes each, with their line feed. */
  const lines = (age: string, count: number, bytes: number) =>
    Array.from({ length: count }, (_, i) => `${i + 1} ${age}`.padStart(bytes - 1, '.'));
  const written = (...texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');

  /** What a read gives; `then` happens when there are so many. */
  async function read(tail: FileTail, after = Infinity, then = () => {}): Promise<string[]> {
    const found: string[] = [];
    for await (const event of tail.read()) {
      found.push(event.type === 'line' ? event.text : '(from its start)');
      if (found.length === after) then();
    }
    return found;
  }

  it('loses nothing that is appended while it is read', async () => {
    const [one, two, three] = lines('old', 3, 20);
    writeFileSync(file, written(one!, two!));
    const tail = new FileTail(file);
    const found = await read(tail, 2, () => appendFileSync(file, written(three!)));
    assert.deepEqual([...found, ...(await read(tail))], [one, two, three]);
  });

  it('puts no line of a new text behind those of the old one, when it is rewritten while it is read', async () => {
    // The first line is the same, and the others are as long as they were.
    const old = ['the header', ...lines('old', 1, 400)];
    const now = ['the header', ...lines('new', 3, 400)];
    writeFileSync(file, written(...old));
    const tail = new FileTail(file);
    assert.deepEqual(await read(tail, 2, () => writeFileSync(file, written(...now))), old);
    assert.deepEqual(await read(tail), ['(from its start)', ...now]);
  });

  it('sees that also in a text that takes several reads', async () => {
    const old = lines('old', 2_000, 512);
    const now = lines('new', 2_000, 512);
    writeFileSync(file, written(...old));
    const tail = new FileTail(file);
    const found = await read(tail, 1, () => writeFileSync(file, written(...now)));
    assert.deepEqual(found, old.slice(0, found.length));
    assert.ok(found.length < old.length);
    assert.deepEqual(await read(tail), ['(from its start)', ...now]);
  });

  it('goes on with what it has begun when another file gets its name', async () => {
    const old = lines('old', 2_000, 512);
    const now = lines('new', 2_000, 512);
    writeFileSync(file, written(...old));
    const tail = new FileTail(file);
    const replace = () => {
      writeFileSync(`${file}.tmp`, written(...now));
      renameSync(`${file}.tmp`, file);
    };
    assert.deepEqual(await read(tail, 1, replace), old);
    assert.deepEqual(await read(tail), ['(from its start)', ...now]);
  });
});
