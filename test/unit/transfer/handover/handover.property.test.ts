import assert from 'node:assert/strict';
import fc from 'fast-check';
import { emptyFoldedState, renderFoldedState } from '../../../../src/core/compaction/ledgers/foldedState';
import type { EntryContent } from '../../../../src/core/session/entry';
import { handedHistory, lastEntry, type HandedHistory } from '../../../../src/core/transfer/handover/handedHistory';
import { handoverPrograms, type HandoverProgramId } from '../../../../src/core/transfer/handover/handoverPrograms';
import type { SourceEvent } from '../../../../src/core/transfer/sourceRecord';
import { compactionContent } from '../../../support/chat/compactionContent';
import { branchOf, contents, handoverInput, readBack } from '../../../support/agents/handedSessions';

const wide = { tokens: 1_000_000, contents: new Map<string, string>() };

/** What is said, called and returned, in a line each. */
function linesOf({ steps }: HandedHistory, program: HandoverProgramId): string[] {
  return steps.flatMap(({ role, text, calls }) => [
    ...(text === '' ? [] : [`${role}: ${text}`]),
    ...calls.map(({ id, name, input }) => `call ${id} ${name} ${JSON.stringify(input)}`),
    // Codex says of no result whether it is an error.
    ...calls.map(({ id, name, result }) => `result ${id} ${name} ${result.isError && program !== 'codex' ? 'error' : 'ok'} ${result.text}`),
  ]);
}

function lineOf(content: EntryContent): string[] {
  switch (content.type) {
    case 'message':
      return [`${content.role}: ${content.text}`];
    case 'tool_call':
      return [`call ${content.callId} ${content.name} ${JSON.stringify(content.input)}`];
    case 'tool_result':
      return [`result ${content.callId} ${content.name} ${content.status} ${content.text}`];
    default:
      return [];
  }
}

const records = (events: readonly SourceEvent[]) => events.flatMap((event) => (event.type === 'record' ? [event.record] : []));

describe('handing over', () => {
  for (const { id, write } of handoverPrograms)
    it(`${id}: what is written is read by its importer with the same messages, calls and results`, () => {
      fc.assert(
        fc.property(contents, (all) => {
          const entries = branchOf(all);
          const history = handedHistory(entries, wide);
          fc.pre(history.steps.length > 0);
          const file = write(handoverInput(history));
          const read = records(readBack(id, file));
          const said = read.flatMap(({ parts }) =>
            parts.filter(({ modelFacing }) => modelFacing).flatMap(({ content }) => lineOf(content)),
          );
          // opencode keeps a result with its call.
          const ordered = (lines: readonly string[]) => (id === 'opencode' ? [...lines].sort() : lines);
          assert.deepEqual(ordered(said), ordered(linesOf(history, id)));
          // What is read of the file is known to be ours, to the last record.
          const withParts = read.filter(({ parts }) => parts.length > 0).map((record) => record.id);
          assert.deepEqual(
            withParts.filter((record) => file.records[record] === undefined),
            [],
          );
          const uuids = new Set(entries.map(({ uuid }) => uuid));
          assert.deepEqual(
            Object.values(file.records).filter((uuid) => !uuids.has(uuid)),
            [],
          );
          const last = records(readBack(id, file))
            .filter(({ parts }) => parts.some(({ modelFacing }) => modelFacing))
            .at(-1)!;
          assert.equal(file.records[last.id], lastEntry(history.steps.at(-1)!));
        }),
        { numRuns: 150 },
      );
    });

  it('begins with the user, answers every call at once, and names each call once', () => {
    fc.assert(
      fc.property(contents, fc.integer({ min: 200, max: 3_000 }), (all, tokens) => {
        const { steps } = handedHistory(branchOf(all), { ...wide, tokens });
        const ids = steps.flatMap(({ calls }) => calls.map(({ id }) => id));
        assert.deepEqual(
          [steps[0]?.role ?? 'user', new Set(ids).size, steps.filter(({ role, calls }) => role === 'user' && calls.length > 0)],
          ['user', ids.length, []],
        );
        assert.deepEqual(
          ids.filter((id) => !/^[\w-]{1,64}$/.test(id)),
          [],
        );
      }),
    );
  });

  it('tells in passages what does not fit, and keeps the end word for word', () => {
    const long = Array.from(
      { length: 400 },
      (_, i): EntryContent => ({
        type: 'message',
        role: i % 2 === 0 ? 'user' : 'assistant',
        text: `Message ${i}: the gate at port ${7000 + i} opens at ${i % 24} o'clock. ${'It is as it was said. '.repeat(20)}`,
      }),
    );
    const { steps, tokens, isFolded } = handedHistory(branchOf(long), { ...wide, tokens: 20_000 });
    assert.deepEqual([isFolded, tokens <= 20_000, tokens > 15_000], [true, true, true]);
    assert.match(steps[0]!.text, /^Passages of what was said before, oldest first:\n\n- [^]*user: Message \d+: the gate at port/);
    assert.deepEqual([steps.at(-1)!.text, steps[1]!.role, steps[2]!.role], [(long.at(-1) as { text: string }).text, 'assistant', 'user']);
  });

  it('keeps the work behind a question that does not fit any more', () => {
    const word = (role: 'user' | 'assistant', i: number): EntryContent => ({
      type: 'message',
      role,
      text: `Step ${i}. ${'It is as it was said. '.repeat(40)}`,
    });
    const all = [...Array.from({ length: 200 }, (_, i) => word(i === 0 ? 'user' : 'assistant', i)), word('user', 200)];
    const { steps, tokens } = handedHistory(branchOf(all), { ...wide, tokens: 20_000 });
    assert.deepEqual([tokens > 12_000, tokens <= 20_000, steps[0]!.role, steps[1]!.role], [true, true, 'user', 'assistant']);
  });

  it('tells a summary without how our own model looks things up', () => {
    const folded = { ...emptyFoldedState, raw: 'The tide table is sorted.' };
    const all: EntryContent[] = [
      { type: 'message', role: 'user', text: 'Sort it.' },
      compactionContent('c1', null, { summaryText: renderFoldedState(folded, null, 1_000) }),
      { type: 'message', role: 'user', text: 'And now?' },
    ];
    const [first] = handedHistory(branchOf(all), wide).steps;
    assert.equal(first?.text, 'Summary of our conversation so far:\n\nThe tide table is sorted.');
  });

  it('tells what was attached to the request that a summary carries', () => {
    const file = { kind: 'file' as const, name: 'plan.md', hash: 'h', mime: 'text/plain' };
    const shot = { kind: 'image' as const, name: 'shot.png', hash: 'i', mime: 'image/png' };
    const folded = { ...emptyFoldedState, request: { ref: '#1', text: 'Follow the plan.', attachments: [file, shot] } };
    const all: EntryContent[] = [
      { type: 'message', role: 'user', text: 'Follow the plan.', attachments: [file, shot] },
      compactionContent('c1', null, { summary: folded, summaryText: renderFoldedState(folded, null, 1_000) }),
      { type: 'message', role: 'assistant', text: 'Step one is done.' },
    ];
    const [first] = handedHistory(branchOf(all), { ...wide, contents: new Map([['h', 'First sort, then count.']]) }).steps;
    assert.match(
      first!.text,
      /Follow the plan\.\n {2}\[attached file: plan\.md\]\n {2}\[attached image: shot\.png\]\n\n\[attached file: plan\.md\]\nFirst sort, then count\.\n\[end of plan\.md\]$/,
    );
    const long = Array.from({ length: 20_000 }, (_, i) => `tide${i}`).join(' ');
    const { tokens } = handedHistory(branchOf(all), { tokens: 8_000, contents: new Map([['h', long]]) });
    assert.ok(tokens > 1_000 && tokens < 8_000 * 0.27, `${tokens}`);
  });

  it('is no larger than it may be, whatever a last message, its calls and the summary hold', () => {
    const words = (count: number) => Array.from({ length: count }, (_, i) => (i % 3 === 0 ? '高潮' : `tide${i}`)).join(' ');
    const size = fc.constantFrom(0, 1, 40, 1_500);
    const input = fc.oneof(
      size.map((count) => ({ path: 'a.txt', content: words(count) })),
      size.map((count) => ({ edits: Array.from({ length: count }, (_, i) => ({ line: i, text: 'ebb' })) })),
      size.map((count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, [[`${i}`]]]))),
    );
    const step = fc.record({
      text: size.map(words),
      calls: fc.array(fc.record({ input, result: size.map(words) }), { maxLength: 4 }),
      times: size,
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), fc.integer({ min: 4_000, max: 12_000 }), (steps, tokens) => {
        const all = steps.flatMap(({ text, calls, times }, at): EntryContent[] => {
          const many = calls.flatMap((call) => Array.from({ length: Math.max(1, Math.min(8, times)) }, () => call));
          return [
            { type: 'message', role: 'user', text: `Step ${at}` },
            { type: 'message', role: 'assistant', text },
            ...many.map((call, i): EntryContent => ({ type: 'tool_call', callId: `c${at}.${i}`, name: 'edit', input: call.input })),
            ...many.map(
              (call, i): EntryContent => ({ type: 'tool_result', callId: `c${at}.${i}`, name: 'edit', text: call.result, status: 'ok' }),
            ),
          ];
        });
        const history = handedHistory(branchOf(all), { ...wide, tokens });
        assert.ok(history.tokens <= tokens, `${history.tokens} of ${tokens}`);
        const last = history.steps.at(-1)!;
        assert.deepEqual(
          last.calls.filter(({ input: given, result }) => Object.keys(given).length === 0 && result.text === ''),
          [],
        );
      }),
      { numRuns: 25 },
    );
  });
});
