import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createMemoryTool } from '../../../src/core/memory/memoryTool';
import { wholeNoteChange } from '../../../src/core/memory/notes';
import type { MemoryNotes } from '../../../src/core/ports';
import { callChange } from '../../../src/core/tools/files/callChange';

/** What the memory tool makes of a note, and what its call says. */
async function changed(
  note: string,
  input: Readonly<Record<string, unknown>>,
): Promise<{ readonly now: string; readonly change: ReturnType<typeof callChange> }> {
  let now = note;
  const notes = {
    list: async () => [{ path: 'a.md', bytes: now.length, modifiedAt: 0 }],
    read: async () => now,
    write: async (_: string, text: string) => void (now = text),
  } as unknown as MemoryNotes;
  const tool = createMemoryTool(notes, () => undefined);
  const { status, text } = await tool.run({ ...input, path: '/memories/a.md' }, new AbortController().signal);
  assert.equal(status, 'ok', text);
  return { now, change: callChange({ name: tool.name, input: { ...input, path: '/memories/a.md' } }) };
}

describe('the whole change of a note', () => {
  it('is what it was before a part was replaced, whatever stands around it', async () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(word, { minLength: 3, maxLength: 8 }),
        fc.nat(7),
        fc.stringMatching(/^[A-Z]{1,6}$/),
        async (lines, index, added) => {
          const note = `${lines.map((line) => `- ${line}.`).join('\n')}\n`;
          const { now, change } = await changed(note, {
            command: 'str_replace',
            old_str: `- ${lines[index % lines.length]}.`,
            new_str: `- ${added}.`,
          });
          assert.deepEqual(wholeNoteChange(change!, now), { path: 'a.md', before: note, after: now });
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is what it was before lines were inserted', async () => {
    const note = '# Notes\n- one\n- two\n';
    const { now, change } = await changed(note, { command: 'insert', insert_line: 2, insert_text: '- between' });
    assert.deepEqual(
      [now, wholeNoteChange(change!, now)],
      ['# Notes\n- one\n- between\n- two\n', { path: 'a.md', before: note, after: now }],
    );
  });

  it('is not made up where the note no longer tells', () => {
    const part = { path: 'a.md', before: 'old', after: 'new' };
    assert.deepEqual(
      [
        wholeNoteChange(part, 'newer: new'),
        wholeNoteChange(part, 'gone'),
        wholeNoteChange({ ...part, after: '' }, 'anything'),
        wholeNoteChange({ ...part, before: null }, 'new'),
      ],
      [null, null, null, null],
    );
  });
});
