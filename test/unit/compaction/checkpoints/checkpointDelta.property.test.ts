import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inProcessAnalyst } from '../../../../src/core/compaction/measure/textAnalysis';
import { foldByCheckpoint } from '../../../../src/core/compaction/ladder/fold';
import { formatOf } from '../../../../src/core/compaction/summary/summaryFormat';
import { estimateTokens } from '../../../../src/core/context/measure/estimateTokens';
import { entryText, type EntryOf, type StoredEntry } from '../../../../src/core/session/entry';
import { BranchBuilder } from '../../../support/chat/branchBuilder';
import { silentLog } from '../../../support/chat/conversationRig';
import { testFrames } from '../../../support/chat/testFrames';

const rounds = 60;

/** A turn: what is said in it, and whether something is done with a tool. */
const turn = fc.record({
  port: fc.integer({ min: 10_000, max: 99_999 }),
  edits: fc.boolean(),
  asksFor: fc.constantFrom('the parser', 'the index', 'the gauge'),
});

function branchOf(turns: readonly { readonly port: number; readonly edits: boolean; readonly asksFor: string }[]): BranchBuilder {
  const b = new BranchBuilder();
  for (const [n, { port, edits, asksFor }] of turns.entries()) {
    b.user(`Turn ${n}: look at ${asksFor} in src/part${n}/main.ts.`);
    if (edits) {
      b.call(`c${n}`, 'edit_file', { path: `src/part${n}/main.ts` });
      b.result(`c${n}`, 'done', 'edit_file');
    }
    b.assistant(`I looked at it. It listens on port ${port} of host-${n}.example.org.`);
  }
  return b;
}

describe('folding by a checkpoint', () => {
  it('leaves nothing out between where the checkpoint ends and what stays: it is in the ledgers, the passages or the identifiers', () =>
    fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 10 }), fc.nat(), async (turns, at) => {
        const { entries: folded } = branchOf(turns);
        const covered = at % folded.length;
        const content = {
          type: 'checkpoint' as const,
          summary: 'They looked.',
          topics: [],
          keyDecisions: [],
          openQuestions: [],
          tokensAtCheckpoint: 1,
          messagesAtCheckpoint: 1,
          coversThrough: folded[covered]!.uuid,
        };
        const checkpoint = { ...folded[covered]!, uuid: 'checkpoint', content } as EntryOf<'checkpoint'>;
        const cut = { folded, firstKept: null, kept: [], currentRequest: null };
        const fold = await foldByCheckpoint(
          {
            frames: testFrames,
            cut,
            stubs: new Set<string>(),
            previous: null,
            maxSummaryTokens: 4_000,
            ledgerTokens: 4_000,
            instructions: null,
            format: formatOf('session-state'),
            estimate: estimateTokens,
            analyst: inProcessAnalyst,
            log: silentLog,
          },
          checkpoint,
        );
        const { ledger, work, lines } = fold.folded;
        const delta = folded.slice(covered + 1);
        const ofKind = (entries: readonly StoredEntry[], type: string, role?: string) =>
          entries.filter(
            (entry) =>
              entry.content.type === type && (role === undefined || (entry.content.type === 'message' && entry.content.role === role)),
          );
        assert.deepEqual(
          ledger.map(({ ref }) => ref),
          ofKind(folded, 'message', 'user').map(({ seq }) => `#${seq}`),
          'every message of the user',
        );
        assert.deepEqual(
          work.files.map(({ ref }) => ref),
          ofKind(folded, 'tool_call').map(({ seq }) => `#${seq}`),
          'every edit',
        );
        assert.deepEqual([fold.audit?.leftBehind, fold.audit?.missing], [fold.audit?.checked, []], 'every identifier');
        const texts = delta.map(({ content: one }) => entryText(one));
        for (const { text } of lines)
          assert.ok(
            texts.some((one) => one.includes(text)),
            `${text} is of what the checkpoint does not cover`,
          );
        for (const answer of ofKind(delta, 'message', 'assistant'))
          assert.ok(
            lines.some(({ ref }) => ref === `#${answer.seq}`),
            `answer #${answer.seq} has a passage`,
          );
      }),
      { numRuns: rounds },
    ));
});
