import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { EntryContent, StoredEntry } from '../../../../src/core/session/entry';
import { joinPart, splitEntries } from '../../../../src/node/store/client/answerParts';
import { userMessage } from '../../../support/store/storeTemp';

describe('store: long lists of entries on their way to another thread', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\ud83d', '\ude00', 'a\0b', 'x'.repeat(300_000)));
  const content = fc.oneof<fc.Arbitrary<EntryContent>[]>(
    text.map((text) => ({ type: 'message', role: 'user', text })),
    text.map((text) => ({ type: 'tool_result', callId: 'c', name: 'n', text, status: 'ok' })),
    text.map((text) => ({ type: 'tool_call', callId: 'c', name: 'n', input: { text } })),
    text.map((text) => ({ type: 'custom', customType: 'c', data: { text } })),
  );

  it('arrive as they left, in parts that are neither empty nor long', () => {
    fc.assert(
      fc.property(fc.array(content, { maxLength: 250, size: 'max' }), (contents) => {
        const entries = contents.map((content, i): StoredEntry => ({ ...userMessage('s', null, ''), content, seq: i }));
        const parts = [...splitEntries(entries)];
        for (const part of parts) {
          assert.ok(part.entries.length > 0 && part.entries.length <= 50);
          // The longest text, escaped.
          assert.ok(JSON.stringify(part).length < 3 * 132 * 1024 + 300_000 + 50 * 1000, String(JSON.stringify(part).length));
        }
        assert.deepEqual(
          parts.flatMap((part) => joinPart(structuredClone(part))),
          entries,
        );
      }),
      { numRuns: 30 },
    );
  });
});
