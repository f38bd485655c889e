import assert from 'node:assert/strict';
import fc from 'fast-check';
import { policyChangeNote } from '../../../src/core/chat/turn/turnNotes';
import { cutPoint } from '../../../src/core/compaction/ladder/cutPoint';
import { compactionDue, resolveBudget } from '../../../src/core/context/measure/budget';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { presetNames, resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';
import { project, type Projection } from '../../../src/core/context/projection/projection';
import type { StoredEntry } from '../../../src/core/session/entry';
import { policyChangeOf } from '../../../src/core/session/liveCompaction';
import { BranchBuilder } from '../../support/chat/branchBuilder';
import { assertValidPrompt } from '../../support/chat/validPrompt';
import { testFrames } from '../../support/chat/testFrames';

const rounds = 120;
const tokensOf = (entry: StoredEntry) => entry.tokenEstimate ?? 0;

/** One thing that happens in a conversation: a message with its size, a step with calls, or a compaction as the policy makes it. */
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('turn' as const), tokens: fc.integer({ min: 1, max: 900 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      calls: fc.integer({ min: 1, max: 4 }),
      answered: fc.integer({ min: 0, max: 4 }),
      tokens: fc.integer({ min: 1, max: 600 }),
      thinks: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('undo' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('policy' as const), oversized: fc.integer({ min: 5, max: 4_000 }) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

const words = (tokens: number) => 'w'.repeat(tokens * 4);
const breaks = new Set(['compaction', 'compaction_undone']);

for (const preset of presetNames) {
  describe(`every conversation under ${preset}`, () => {
    const { policy } = resolvePolicy(preset);
    const budget = resolveBudget(policy, { window: 12_000, maxOutput: 1_000 });
    const projected = (entries: readonly StoredEntry[], oversized = budget.oversized) =>
      project({
        entries,
        system: 'S',
        tools: [],
        budget: { oversized },
        model: 'm',
        frames: testFrames,
        tokensOf,
        estimate: estimateTokens,
      });

    function play(b: BranchBuilder, one: Happening, n: number): void {
      if (one.kind === 'turn') {
        b.user(`q${n} ${words(one.tokens)}`);
        b.assistant(`a${n}`);
      } else if (one.kind === 'calls') {
        b.user(`use ${n}`);
        if (one.thinks) b.add({ type: 'thinking', text: `t${n}`, model: 'm', signature: 's' });
        for (let i = 0; i < one.calls; i++) b.call(`c${n}-${i}`);
        for (let i = 0; i < Math.min(one.calls, one.answered); i++) b.result(`c${n}-${i}`, words(one.tokens));
      } else if (one.kind === 'compact') {
        const cut = cutPoint(b.entries, { keep: policy.compaction.keep, tokens: budget.keep, tokensOf });
        if (cut)
          b.compaction(cut.firstKept, {
            placement: policy.compaction.placement,
            coversFrom: cut.folded[0]!.uuid,
            summaryText: `STATE ${n}`,
          });
      } else if (one.kind === 'undo') {
        const last = b.entries.findLast(({ content }) => content.type === 'compaction');
        if (last) b.undo(last);
      }
    }

    it('projects to a prompt that a provider takes, and each extends the one before it unless a break was declared', () => {
      fc.assert(
        fc.property(fc.array(happening, { maxLength: 24 }), (story) => {
          const b = new BranchBuilder();
          b.user('start');
          let oversized = budget.oversized;
          let before: { readonly projection: Projection; readonly entries: number } | null = null;
          for (const [n, one] of story.entries()) {
            if (one.kind === 'policy') oversized = one.oversized;
            play(b, one, n);
            b.user(`next ${n}`);
            const note = policyChangeNote(b.entries, { oversized, policyOversized: oversized }, tokensOf);
            if (note) b.add(note);
            const projection = projected(b.entries, oversized);
            assertValidPrompt(projection.messages);
            const isBroken =
              before !== null &&
              b.entries.slice(before.entries).some((entry) => breaks.has(entry.content.type) || policyChangeOf(entry)?.isBreak);
            if (before && !isBroken) assert.deepEqual(flat(projection).slice(0, flat(before.projection).length), flat(before.projection));
            before = { projection, entries: b.entries.length };
          }
        }),
        { numRuns: rounds },
      );
    });

    it('folds in front of whole messages, keeps the newest request, and loses nothing between', () => {
      fc.assert(
        fc.property(fc.array(happening, { maxLength: 24 }), (story) => {
          const b = new BranchBuilder();
          b.user('start');
          story.forEach((one, n) => play(b, one, n));
          const request = b.user('the newest request');
          const cut = cutPoint(b.entries, { keep: policy.compaction.keep, tokens: budget.keep, tokensOf });
          if (!cut) return;
          assert.ok(cut.kept.includes(request) || cut.currentRequest === request);
          const kept = new Set(cut.kept.map(({ uuid }) => uuid));
          for (const { uuid, content } of cut.folded) {
            if (content.type !== 'tool_call') continue;
            const results: readonly StoredEntry[] = cut.kept.filter(
              (entry) => entry.content.type === 'tool_result' && entry.content.callId === content.callId,
            );
            assert.deepEqual([results.length, kept.has(uuid)], [0, false]);
          }
          const record = b.compaction(cut.firstKept, { placement: policy.compaction.placement });
          const sent = new Set(projected(b.entries).pieces.map(({ entryId }) => entryId));
          for (const entry of cut.kept) if (entry.content.type === 'message') assert.ok(sent.has(entry.uuid), 'what is kept is sent');
          for (const entry of cut.folded) assert.ok(!sent.has(entry.uuid), 'what is folded is not');
          b.undo(record);
          const again = new Set(projected(b.entries).pieces.map(({ entryId }) => entryId));
          for (const entry of [...cut.folded, ...cut.kept])
            if (entry.content.type === 'message') assert.ok(again.has(entry.uuid), 'an undo brings all of it back');
        }),
        { numRuns: rounds },
      );
    });

    it('resolves to nudges < prepare < trigger ≤ hard limit ≤ limit for every model', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1_000, max: 2_000_000 }), fc.integer({ min: 256, max: 128_000 }), (window, maxOutput) => {
          const b = resolveBudget(policy, { window, maxOutput });
          const at = JSON.stringify(b);
          assert.ok(
            b.nudges.every(({ tokens }) => tokens < (b.prepare ?? b.trigger)),
            at,
          );
          assert.ok(
            (b.prepare ?? 0) < b.trigger &&
              b.trigger <= b.hardLimit &&
              b.hardLimit <= b.limit &&
              b.limit <= b.effective &&
              b.effective <= b.window,
            at,
          );
          assert.ok(b.keep < b.trigger, at);
          assert.ok(!compactionDue(policy.compaction, b, b.trigger - 1, 0) && compactionDue(policy.compaction, b, b.trigger + 1, 0), at);
        }),
        { numRuns: rounds },
      );
    });
  });
}

function flat({ systemSummary, messages }: Projection): string[] {
  return [JSON.stringify(systemSummary), ...messages.flatMap(({ role, blocks }) => blocks.map((block) => JSON.stringify({ role, block })))];
}
