import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryTool } from '../../../src/core/memory/memoryTool';
import type { MemoryNotes } from '../../../src/core/ports';
import { FileMemoryNotes, ScopedMemoryNotes } from '../../../src/node/memory/fileMemoryNotes';

describe('notes as files', () => {
  let base: string;
  let folder: string;
  let notes: FileMemoryNotes;

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'notes-'));
    folder = join(base, 'notes');
    notes = new FileMemoryNotes(folder);
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  const paths = async () => (await notes.list()).map(({ path, bytes }) => [path, bytes]);

  it('are empty before the folder exists, and made by the first write', async () => {
    deepEqual([await notes.list(), await notes.read('a.md'), await notes.read('b/a.md')], [[], undefined, undefined]);
    await notes.write('b/a.md', 'Grüße\n');
    deepEqual(
      [await paths(), await notes.read('b/a.md'), readFileSync(join(folder, 'b', 'a.md'), 'utf8')],
      [[['b/a.md', 8]], 'Grüße\n', 'Grüße\n'],
    );
  });

  it('are replaced, renamed and deleted, and leave no empty folders or drafts behind', async () => {
    await notes.write('b/c/a.md', 'one');
    await notes.write('b/c/a.md', 'two');
    await notes.rename('b/c/a.md', 'd/e.md');
    deepEqual([await paths(), readdirSync(folder)], [[['d/e.md', 3]], ['d']]);
    await notes.delete('d/e.md');
    deepEqual(readdirSync(folder), []);
  });

  it('are written only as they were seen, where it is said how that was', async () => {
    const changed = { name: 'NoteChangedError', message: 'a.md has just been changed by somebody else. Look at it and try again.' };
    await rejects(notes.write('a.md', 'two', 'one'), changed);
    await notes.write('a.md', 'one', null);
    await rejects(notes.write('a.md', 'other', null), changed);
    await rejects(notes.write('a.md', 'other', 'two'), changed);
    await notes.write('a.md', 'two', 'one');
    deepEqual([readdirSync(folder), await notes.read('a.md')], [['a.md'], 'two']);
  });

  it('are deleted only as they were seen, where it is said how that was', async () => {
    const changed = { name: 'NoteChangedError', message: 'a.md has just been changed by somebody else. Look at it and try again.' };
    const scoped = new ScopedMemoryNotes(notes, new FileMemoryNotes(join(base, 'everywhere')));
    await notes.write('a.md', 'two');
    await rejects(notes.delete('a.md', 'one'), changed);
    await rejects(scoped.delete('a.md', 'one'), changed);
    equal(await notes.read('a.md'), 'two');
    await scoped.delete('a.md', 'two');
    deepEqual(readdirSync(folder), []);
    await rejects(notes.delete('a.md', 'two'), changed);
  });

  it('are not deleted by a session over an edit made since it looked', async () => {
    await notes.write('a.md', 'one');
    const edited: MemoryNotes = {
      list: () => notes.list(),
      read: async (path) => {
        const text = await notes.read(path);
        await notes.write(path, 'one and two');
        return text;
      },
      write: (...args) => notes.write(...args),
      delete: (...args) => notes.delete(...args),
      rename: (...args) => notes.rename(...args),
    };
    const { run } = createMemoryTool(edited);
    const { text } = await run({ command: 'delete', path: 'a.md' }, new AbortController().signal);
    match(text, /^Error: a\.md has just been changed by somebody else/);
    equal(await notes.read('a.md'), 'one and two');
  });

  it('keep every edit that several sessions were told was made', async () => {
    await notes.write('a.md', '');
    const sessions = Array.from({ length: 4 }, () => createMemoryTool(new FileMemoryNotes(folder)));
    const made: string[] = [];
    for (let round = 0; round < 10; round++) {
      const edits = sessions.map(async ({ run }, session) => {
        const line = `${round} of ${session}`;
        const input = { command: 'insert', path: 'a.md', insert_line: 0, insert_text: line };
        const { status, text } = await run(input, new AbortController().signal);
        if (status === 'ok') made.push(line);
        else match(text, /^Error: a\.md has just been changed by somebody else/);
      });
      await Promise.all(edits);
    }
    ok(made.length >= 10, 'one of each round');
    deepEqual((await notes.read('a.md'))?.trim().split('\n').toSorted(), made.toSorted());
  });

  it('reject what is not there or already there', async () => {
    await notes.write('a.md', 'a');
    await notes.write('b.md', 'b');
    await rejects(notes.delete('c.md'), { message: 'c.md does not exist.' });
    await rejects(notes.rename('c.md', 'd.md'), { message: 'c.md does not exist.' });
    await rejects(notes.rename('a.md', 'b.md'), { message: 'b.md already exists.' });
    await rejects(notes.write('a.md/c.md', 'c'), { message: 'a.md/c.md cannot be made: a.md is a note, not a folder.' });
    mkdirSync(join(folder, 'dir'));
    await rejects(notes.write('dir', 'x'), { message: 'dir is a folder.' });
    deepEqual(await paths(), [
      ['a.md', 1],
      ['b.md', 1],
    ]);
  });

  it('never leave the folder', async () => {
    writeFileSync(join(base, 'secret'), 'secret');
    for (const path of ['../secret', '/etc/hosts', '..\\secret', 'a/../../secret', 'a\0b', join(base, 'secret'), 'nul']) {
      await rejects(notes.read(path), /is not allowed/);
      await rejects(notes.write(path, 'x'), /is not allowed/);
      await rejects(notes.delete(path), /is not allowed/);
      await rejects(notes.rename(path, 'a.md'), /is not allowed/);
    }
    equal(readFileSync(join(base, 'secret'), 'utf8'), 'secret');
  });

  it('do not follow symbolic links out of the folder', async function () {
    if (process.platform === 'win32') return this.skip();
    mkdirSync(folder);
    mkdirSync(join(base, 'outside'));
    writeFileSync(join(base, 'outside', 'secret.md'), 'secret');
    symlinkSync(join(base, 'outside'), join(folder, 'link'));
    symlinkSync(join(base, 'outside', 'secret.md'), join(folder, 'file.md'));
    symlinkSync(join(base, 'outside', 'new.md'), join(folder, 'dangling.md'));
    deepEqual(await paths(), []);
    equal(await notes.read('file.md'), undefined);
    await rejects(notes.read('link/secret.md'), /symbolic link/);
    await rejects(notes.write('link/new.md', 'x'), /symbolic link/);
    await rejects(notes.write('file.md', 'x'), { message: 'file.md is a symbolic link.' });
    await rejects(notes.write('dangling.md', 'x'), { message: 'dangling.md is a symbolic link.' });
    await rejects(notes.delete('link/secret.md'), /symbolic link/);
    await rejects(notes.rename('link/secret.md', 'a.md'), /symbolic link/);
    deepEqual([readdirSync(join(base, 'outside')), readFileSync(join(base, 'outside', 'secret.md'), 'utf8')], [['secret.md'], 'secret']);
  });

  it('may lie behind a link themselves', async function () {
    if (process.platform === 'win32') return this.skip();
    mkdirSync(join(base, 'real'));
    symlinkSync(join(base, 'real'), folder);
    await notes.write('b/a.md', 'x');
    deepEqual([await notes.read('b/a.md'), readdirSync(join(base, 'real', 'b'))], ['x', ['a.md']]);
  });

  it('list what is a note and pass over the rest', async function () {
    if (process.platform === 'win32') return this.skip();
    await notes.write('a.md', 'a');
    for (const name of ['.hidden', '.tmp-1', 'a:b', 'nul', 'trailing.']) writeFileSync(join(folder, name), 'x');
    mkdirSync(join(folder, '.git'));
    writeFileSync(join(folder, '.git', 'config'), 'x');
    execFileSync('mkfifo', [join(folder, 'pipe.md')]);
    deepEqual([await paths(), await notes.read('pipe.md')], [[['a.md', 1]], undefined]);
  });

  it('reject what is no text, and more than the limits', async () => {
    const small = new FileMemoryNotes(folder, { bytesPerNote: 10, notes: 2, bytesInAll: 15 });
    await rejects(small.write('a.md', 'é'.repeat(6)), /would have 12 bytes; at most 10/);
    await small.write('a.md', '1234567890');
    await rejects(small.write('b.md', '123456'), /would have 16 bytes; at most 15/);
    await small.write('b.md', '12345');
    await rejects(small.write('c.md', ''), /2 notes already/);
    await small.write('a.md', 'fits');
    writeFileSync(join(folder, 'large.md'), 'x'.repeat(101));
    await rejects(small.read('large.md'), /too large/);
    writeFileSync(join(folder, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00]));
    await rejects(small.read('binary.md'), { message: 'binary.md is not a text file.' });
  });

  it('are whole whenever they are read while others write', async () => {
    const texts = Array.from({ length: 12 }, (_, i) => String.fromCharCode(97 + i).repeat(20_000));
    const other = new FileMemoryNotes(folder);
    await notes.write('a.md', texts[0] ?? '');
    const reads: (string | undefined)[] = [];
    await Promise.all([
      ...texts.map((text, i) => (i % 2 ? notes : other).write('a.md', text)),
      (async () => {
        for (let i = 0; i < 60; i++) reads.push(readFileSync(join(folder, 'a.md'), 'utf8'), await notes.read('a.md'));
      })(),
    ]);
    ok(reads.every((text) => text !== undefined && texts.includes(text)));
    deepEqual(readdirSync(folder), ['a.md']);
  });

  it('keep the old text and no draft when writing fails', async function () {
    if (process.platform === 'win32' || process.getuid?.() === 0) return this.skip();
    await notes.write('a.md', 'old');
    execFileSync('chmod', ['500', folder]);
    await rejects(notes.write('a.md', 'new'));
    execFileSync('chmod', ['700', folder]);
    deepEqual([readFileSync(join(folder, 'a.md'), 'utf8'), readdirSync(folder)], ['old', ['a.md']]);
  });

  it('of the user appear under user/', async () => {
    const scoped = new ScopedMemoryNotes(notes, new FileMemoryNotes(join(base, 'everywhere')));
    await scoped.write('a.md', 'a');
    await scoped.write('user/b.md', 'b');
    deepEqual(
      (await scoped.list()).map(({ path }) => path),
      ['a.md', 'user/b.md'],
    );
    await scoped.rename('a.md', 'user/a.md');
    await rejects(scoped.rename('user/a.md', 'user/b.md'), { message: 'b.md already exists.' });
    deepEqual([await scoped.read('user/a.md'), await scoped.read('a.md')], ['a', undefined]);
    await scoped.delete('user/b.md');
    deepEqual([existsSync(join(folder, 'a.md')), readdirSync(join(base, 'everywhere'))], [false, ['a.md']]);
    await rejects(scoped.write('user/../a.md', 'x'), /is not allowed/);
  });
});
