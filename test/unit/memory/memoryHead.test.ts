import { deepStrictEqual, ok } from 'node:assert';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryHead } from '../../../src/core/memory/notes';
import { FileMemoryNotes } from '../../../src/node/memory/fileMemoryNotes';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('the notes at the head of the context', () => {
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());
  /** Changed at that second. */
  const put = (name: string, text: string, at: number) => {
    mkdirSync(temp.path, { recursive: true });
    writeFileSync(join(temp.path, name), text);
    utimesSync(join(temp.path, name), at, at);
  };
  const head = () => memoryHead(new FileMemoryNotes(temp.path));

  it('are an index and what the notes say, the newest first; nothing where there are none', async () => {
    deepStrictEqual(await head(), null);
    put('old.md', 'Use tabs.\n', 1);
    put('new.md', 'The port is 4711.', 2);
    put('empty.md', ' \n', 3);
    deepStrictEqual(
      await head(),
      'Your notes (memory tool):\n- empty.md (2 bytes)\n- new.md (17 bytes)\n- old.md (10 bytes)\n\nnew.md:\n  The port is 4711.\n\nold.md:\n  Use tabs.',
    );
  });

  it('are there although a file among them is no text, or too long for one', async () => {
    put('notes.md', 'The port is 4711.', 1);
    put('large.md', 'x'.repeat(1_100_000), 2);
    put('Thumbs.db', '', 3);
    writeFileSync(join(temp.path, 'Thumbs.db'), Buffer.from([0xff, 0xd8, 0xff]));
    utimesSync(join(temp.path, 'Thumbs.db'), 3, 3);
    deepStrictEqual(
      await head(),
      'Your notes (memory tool):\n- Thumbs.db (3 bytes)\n- large.md (1100000 bytes)\n- notes.md (17 bytes)\n\nnotes.md:\n  The port is 4711.',
    );
  });

  it('take a bounded part of the window, whatever they are, and cut no character', async () => {
    put('long.md', '😀'.repeat(5_000), 2);
    put('other.md', 'Left out for lack of room.', 1);
    const cut = (await head())!;
    ok(cut.length <= 4_000 && cut.endsWith('😀 […]') && !/[\ud800-\udbff](?![\udc00-\udfff])/.test(cut), cut.slice(-20));
    for (let i = 0; i < 60; i++) put(`note-${String(i).padStart(2, '0')}.md`, 'x'.repeat(300), 100 + i);
    const many = (await head())!;
    ok(
      many.length <= 4_000 &&
        many.includes('- note-59.md (300 bytes)') &&
        many.includes('\n- and 22 more\n') &&
        !many.includes('- note-19.md'),
      many.slice(0, 200),
    );
  });
});
