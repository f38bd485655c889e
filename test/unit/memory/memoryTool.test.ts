import type { MemoryWrite } from '../../../src/core/memory/notes';
import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { CancelledError } from '../../../src/core/errors';
import { createMemoryTool } from '../../../src/core/memory/memoryTool';
import type { MemoryNotes } from '../../../src/core/ports';

const never = new AbortController().signal;

function notesOf(files: Record<string, string>): MemoryNotes & { files: Map<string, string> } {
  const map = new Map(Object.entries(files));
  return {
    files: map,
    list: async () => [...map].map(([path, text]) => ({ path, bytes: Buffer.byteLength(text), modifiedAt: 1 })),
    read: async (path) => map.get(path),
    write: async (path, text) => void map.set(path, text),
    delete: async (path) => void map.delete(path),
    rename: async (from, to) => {
      map.set(to, map.get(from) ?? '');
      map.delete(from);
    },
  };
}

describe('memory tool', () => {
  const setUp = (files: Record<string, string>) => {
    const notes = notesOf(files);
    const writes: MemoryWrite[] = [];
    const tool = createMemoryTool(notes, (write) => writes.push(write));
    return { notes, writes, run: (input: unknown) => tool.run(input, never), after: () => Object.fromEntries(notes.files) };
  };
  const ok = (text: string) => ({ status: 'ok', text });
  const error = (text: string) => ({ status: 'error', text: `Error: ${text}` });

  it('lists the notes of a folder', async () => {
    const { run } = setUp({ 'b/two.md': 'zwei', 'a.md': 'ä' });
    deepEqual(
      await run({ command: 'view', path: '/memories' }),
      ok('The notes in /memories:\n2 bytes\t/memories/a.md\n4 bytes\t/memories/b/two.md'),
    );
    deepEqual(await run({ command: 'view', path: 'b/' }), ok('The notes in /memories/b:\n4 bytes\t/memories/b/two.md'));
    deepEqual(await setUp({}).run({ command: 'view' }), ok('The notes in /memories:\n(none yet)'));
    deepEqual(await run({ command: 'view', path: '/memories/c.md' }), error('The path /memories/c.md does not exist.'));
  });

  it('shows a note with line numbers, and lines of it', async () => {
    const { run } = setUp({ 'a.md': 'one\ntwo\nthree' });
    deepEqual(
      await run({ command: 'view', path: 'a.md' }),
      ok("Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree"),
    );
    deepEqual(
      await run({ command: 'view', path: 'a.md', view_range: [2, -1] }),
      ok("Here's the content of /memories/a.md with line numbers:\n     2\ttwo\n     3\tthree"),
    );
    deepEqual(
      await run({ command: 'view', path: 'a.md', view_range: [3, 3] }),
      ok("Here's the content of /memories/a.md with line numbers:\n     3\tthree"),
    );
    deepEqual(
      await run({ command: 'view', path: 'a.md', view_range: [4, 5] }),
      error('Invalid `view_range`: [4, 5]. /memories/a.md has the lines 1 to 3.'),
    );
  });

  it('shows a long note in pieces', async () => {
    const { run } = setUp({ 'a.md': 'a line of text\n'.repeat(3_000) });
    const { text } = await run({ command: 'view', path: 'a.md' });
    const [, next] = /… the rest with "view_range": \[(\d+), -1\]$/.exec(text) ?? [];
    match(text.slice(0, -1), new RegExp(`\n +${Number(next) - 1}\ta line of text\n… the rest`));
    equal(text.length < 17_000, true);
  });

  it('creates a note, once', async () => {
    const { run, writes, after } = setUp({});
    deepEqual(
      await run({ command: 'create', path: '/memories/a.md', file_text: 'né\n' }),
      ok('File created successfully at: /memories/a.md'),
    );
    deepEqual(writes, [{ op: 'create', path: 'a.md', bytes: 4, before: null, after: 'né\n' }]);
    const again = error('File /memories/a.md already exists. Change it with str_replace or insert, or choose another name.');
    deepEqual(await run({ command: 'create', path: 'a.md', file_text: '' }), again);
    deepEqual(await run({ command: 'create', path: 'A.MD', file_text: '' }), again);
    deepEqual(await run({ command: 'create', path: 'a.md/b', file_text: '' }), error('/memories/a.md is a note, not a folder.'));
    deepEqual(after(), { 'a.md': 'né\n' });
  });

  it('replaces text that stands exactly once, taking it literally', async () => {
    const { run, writes, after } = setUp({ 'a.md': 'port 1\nport 2\n' });
    deepEqual(
      await run({ command: 'str_replace', path: 'a.md', old_str: 'port 1', new_str: "$& $' 7" }),
      ok('The memory file /memories/a.md has been edited.'),
    );
    deepEqual(writes, [{ op: 'str_replace', path: 'a.md', bytes: 15, before: 'port 1\nport 2\n', after: "$& $' 7\nport 2\n" }]);
    deepEqual(
      await run({ command: 'str_replace', path: 'a.md', old_str: ' ', new_str: '' }),
      error('No replacement was performed. old_str stands more than once in /memories/a.md, on lines 1, 2. Make it unique.'),
    );
    deepEqual(
      await run({ command: 'str_replace', path: 'a.md', old_str: 'nine' }),
      error('No replacement was performed, old_str "nine" did not appear verbatim in /memories/a.md.'),
    );
    deepEqual(await run({ command: 'str_replace', path: 'a.md', old_str: '' }), error('`old_str` is empty. Use insert to add text.'));
    deepEqual(await run({ command: 'str_replace', path: 'b.md', old_str: 'x' }), error('The path /memories/b.md does not exist.'));
    deepEqual(after(), { 'a.md': "$& $' 7\nport 2\n" });
  });

  it('inserts lines after a line', async () => {
    const insert = async (text: string, line: number, added: string) => {
      const { run, after } = setUp({ 'a.md': text });
      const outcome = await run({ command: 'insert', path: 'a.md', insert_line: line, insert_text: added });
      return outcome.status === 'ok' ? after()['a.md'] : outcome.text;
    };
    deepEqual(
      await Promise.all([
        insert('a\nb\n', 0, 'x\n'),
        insert('a\nb\n', 2, 'x'),
        insert('a\nb', 1, 'x\ny\n'),
        insert('a\nb', 2, 'x'),
        insert('', 0, 'x'),
        insert('a\n', 2, 'x'),
        insert('a\n', 1, '\n'.repeat(200_000)),
      ]),
      [
        'x\na\nb\n',
        'a\nb\nx\n',
        'a\nx\ny\nb',
        'a\nb\nx',
        'x\n',
        'Error: Invalid `insert_line`: 2. It must be within the lines of the note: [0, 1].',
        `a\n${'\n'.repeat(200_000)}`,
      ],
    );
  });

  it('deletes a note, or a folder with its notes, but not everything', async () => {
    const { run, writes, after } = setUp({ 'a.md': 'a', 'b/c.md': 'c', 'b/d.md': 'd', 'bc.md': 'x' });
    deepEqual(await run({ command: 'delete', path: '/memories/a.md' }), ok('Successfully deleted /memories/a.md'));
    deepEqual(await run({ command: 'delete', path: '/memories/b' }), ok('Successfully deleted /memories/b with 2 notes'));
    deepEqual(await run({ command: 'delete', path: 'b' }), error('The path /memories/b does not exist.'));
    match((await run({ command: 'delete', path: '/memories' })).text, /^Error: The path "\/memories" is not allowed: /);
    deepEqual(writes, [
      { op: 'delete', path: 'a.md', bytes: 0, before: 'a', after: null },
      { op: 'delete', path: 'b/c.md', bytes: 0, before: 'c', after: null },
      { op: 'delete', path: 'b/d.md', bytes: 0, before: 'd', after: null },
    ]);
    deepEqual(after(), { 'bc.md': 'x' });
  });

  it('renames a note or a folder', async () => {
    const { run, writes, after } = setUp({ 'a.md': 'a', 'b/c.md': 'c' });
    deepEqual(
      await run({ command: 'rename', old_path: 'a.md', new_path: 'd/a.md' }),
      ok('Successfully renamed /memories/a.md to /memories/d/a.md'),
    );
    deepEqual(await run({ command: 'rename', old_path: 'b', new_path: 'e' }), ok('Successfully renamed /memories/b to /memories/e'));
    deepEqual(
      writes.map(({ op, from, path, bytes }) => [op, from, path, bytes]),
      [
        ['rename', 'a.md', 'd/a.md', 1],
        ['rename', 'b/c.md', 'e/c.md', 1],
      ],
    );
    deepEqual(await run({ command: 'rename', old_path: 'e', new_path: 'e/f' }), error('/memories/e cannot be moved into itself.'));
    deepEqual(await run({ command: 'rename', old_path: 'x', new_path: 'y' }), error('The path /memories/x does not exist.'));
    match(
      (await run({ command: 'rename', old_path: 'd/a.md', new_path: 'e/C.md' })).text,
      /^Error: File \/memories\/e\/c.md already exists/,
    );
    deepEqual(after(), { 'd/a.md': 'a', 'e/c.md': 'c' });
  });

  it('refuses paths that lead elsewhere, in every command', async () => {
    const { run, writes, after } = setUp({ 'a.md': 'a' });
    for (const path of ['../a.md', '/etc/passwd', '..\\a.md', 'a\0.md', '/memories/../a.md', 'con.md']) {
      for (const input of [
        { command: 'view', path },
        { command: 'create', path, file_text: '' },
        { command: 'str_replace', path, old_str: 'a' },
        { command: 'insert', path, insert_line: 0, insert_text: 'x' },
        { command: 'delete', path },
        { command: 'rename', old_path: path, new_path: 'b.md' },
        { command: 'rename', old_path: 'a.md', new_path: path },
      ]) {
        match((await run(input)).text, /^Error: The path ".*" is not allowed: /);
      }
    }
    deepEqual([writes, after()], [[], { 'a.md': 'a' }]);
  });

  it('tells the model what is wrong with its input, and what the notes reject', async () => {
    const { run, notes } = setUp({});
    for (const input of [
      null,
      'view',
      {},
      { command: 'format' },
      { command: 'create', path: 'a.md' },
      { command: 'insert', path: 'a', insert_line: 'x', insert_text: '' },
    ]) {
      match((await run(input)).text, /^Error: The input is not valid: /);
    }
    notes.write = () => Promise.reject(new Error('The disk is full.'));
    deepEqual(await run({ command: 'create', path: 'a.md', file_text: '' }), error('The disk is full.'));
  });

  it('runs commands one after the other, and rejects only when cancelled', async () => {
    const { run, notes, after } = setUp({ 'a.md': 'count 0' });
    const { read } = notes;
    notes.read = async (path) => {
      const text = await read(path);
      await Promise.resolve();
      return text;
    };
    await Promise.all(
      Array.from({ length: 5 }, (_, i) => run({ command: 'str_replace', path: 'a.md', old_str: `count ${i}`, new_str: `count ${i + 1}` })),
    );
    deepEqual(after(), { 'a.md': 'count 5' });
    await rejects(createMemoryTool(notes).run({ command: 'view' }, AbortSignal.abort()), CancelledError);
  });

  it('asks before it changes what holds in every workspace, shows the change, and does nothing else than what was shown', async () => {
    const notes = notesOf({ 'a.md': 'own', 'user/prefs.md': 'Be brief.\n' });
    const tool = createMemoryTool(notes);
    const asked = (input: unknown) => tool.needsApproval!(input, never);
    for (const input of [
      { command: 'view' },
      { command: 'view', path: '/memories/user/prefs.md' },
      { command: 'create', path: 'b.md', file_text: 'x' },
      { command: 'delete', path: 'a.md' },
    ])
      equal(await asked(input), null);
    const edit = { command: 'str_replace', path: '/memories/user/prefs.md', old_str: 'brief', new_str: 'evil' };
    const question = await asked(edit);
    deepEqual(
      { kind: question?.kind, everyTime: question?.everyTime, change: question?.change },
      { kind: 'write', everyTime: false, change: { path: '/memories/user/prefs.md', before: 'Be brief.\n', after: 'Be evil.\n' } },
    );
    for (const input of [
      { command: 'create', path: 'user/new.md', file_text: 'x' },
      { command: 'insert', path: 'user/prefs.md', insert_line: 0, insert_text: 'x' },
      { command: 'delete', path: '/memories/user' },
      { command: 'rename', old_path: 'a.md', new_path: 'user/a.md' },
      { command: 'rename', old_path: 'user', new_path: 'mine' },
    ])
      equal((await asked(input))?.kind, 'write');
    await rejects(asked({ command: 'delete', path: 'user/none.md' }), {
      name: 'ToolFault',
      message: 'Error: The path /memories/user/none.md does not exist.',
    });
    deepEqual(Object.fromEntries(notes.files), { 'a.md': 'own', 'user/prefs.md': 'Be brief.\n' }, 'nothing was written while asking');
    const run = (approved: Awaited<ReturnType<typeof asked>>) =>
      tool.run(edit, never, { approved, onOutput: () => undefined, tell: () => undefined });
    equal((await run(null)).status, 'error');
    notes.files.set('user/prefs.md', 'Be brief. Be kind.\n');
    match((await run(question)).text, /changed since the user was asked/);
    equal((await run(await asked(edit))).status, 'ok');
  });
});
