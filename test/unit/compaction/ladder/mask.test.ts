import assert from 'node:assert/strict';
import fc from 'fast-check';
import { maskedEntries, maskPlan, stubTokens, toldStubs } from '../../../../src/core/compaction/ladder/mask';
import { project } from '../../../../src/core/context/projection/projection';
import { estimateTokens } from '../../../../src/core/context/measure/estimateTokens';
import { entryText, type StoredEntry } from '../../../../src/core/session/entry';
import { BranchBuilder } from '../../../support/chat/branchBuilder';
import { testFrames } from '../../../support/chat/testFrames';

const tokensOf = (entry: StoredEntry) => entry.tokenEstimate ?? estimateTokens(entryText(entry.content));
const limits = { protectTokens: 1_000, protectUserTurns: 2, minGain: 500, tokensOf, isTold: () => true };

function loop(turns: number, callsPerTurn: number, tokens: number): BranchBuilder {
  const b = new BranchBuilder();
  for (let turn = 0; turn < turns; turn++) {
    b.user(`turn ${turn}`);
    for (let call = 0; call < callsPerTurn; call++) {
      b.call(`${turn}.${call}`, 'read_file', { path: `f${turn}` });
      b.result(`${turn}.${call}`, 'x'.repeat(tokens * 4), 'read_file');
    }
    b.assistant('done');
  }
  return b;
}

const prompt = (entries: readonly StoredEntry[]) =>
  project({
    entries,
    system: 's',
    tools: [],
    budget: { oversized: 100_000 },
    model: 'm',
    frames: testFrames,
    tokensOf,
    estimate: estimateTokens,
  });

describe('masking', () => {
  it('leaves the newest results and the last two turns alone, and takes the rest in one batch', () => {
    const b = loop(5, 2, 400);
    const plan = maskPlan(b.entries, limits);
    const results = b.entries.filter(({ content }) => content.type === 'tool_result').map(({ uuid }) => uuid);
    // The last two turns hold 1,600 of the newest tokens; everything before is past the protected 1,000.
    assert.deepEqual(plan?.masked, results.slice(0, 6));
    assert.equal(plan.gain, 6 * (400 - stubTokens));
  });

  it('is not done for little', () => {
    assert.equal(maskPlan(loop(5, 2, 400).entries, { ...limits, minGain: 3_000 }), null);
    assert.equal(maskPlan(loop(2, 9, 400).entries, limits), null, 'all within the last two turns');
    assert.equal(maskPlan(loop(5, 2, 50).entries, { ...limits, protectTokens: 0, minGain: 0 }), null, 'stubs would be as long');
  });

  it('is only for what a summary was written of while it stood in the prompt', () => {
    const b = loop(5, 2, 400);
    const results = b.entries.filter(({ content }) => content.type === 'tool_result').map(({ uuid }) => uuid);
    const told = new Set(results.slice(2, 5));
    assert.deepEqual(maskPlan(b.entries, { ...limits, isTold: ({ uuid }) => told.has(uuid) })?.masked, results.slice(2, 5));
    assert.equal(maskPlan(b.entries, { ...limits, isTold: () => false }), null);
  });

  it('is told of by a summary only where its record says so: one of an older version has asked nobody', () => {
    const b = loop(5, 2, 400);
    const masked = [...maskPlan(b.entries, limits)!.masked];
    b.compaction(b.entries[0]!, { rung: 'mask', summaryText: '', masked });
    assert.deepEqual([...toldStubs(b.entries)], []);
    b.compaction(b.entries[0]!, { rung: 'prepared', summaryText: 'state', masked, maskedTold: true });
    assert.deepEqual([...toldStubs(b.entries)], masked);
  });

  it('shows a stub with the id and the way to read on, keeps every pair, and adds up over batches', () => {
    const b = loop(5, 2, 400);
    const first = maskPlan(b.entries, limits)!;
    b.compaction(b.entries[0]!, { rung: 'mask', summaryText: '', masked: [...first.masked] });
    const { messages, pieces } = prompt(b.entries);
    const shown = messages.flatMap(({ blocks }) => blocks).filter((block) => block.type === 'tool_result');
    assert.equal(shown.length, 10);
    assert.equal(
      shown[0]!.text,
      testFrames.mark('masked', { 'left-out': 'about 400 tokens of output', read: 'recall {"entryIds": ["#3"]}' }),
    );
    assert.equal(shown.filter(({ text }) => text.startsWith('<threadkeeper-notice-')).length, 6);
    assert.ok(pieces.reduce((sum, { tokens }) => sum + tokens, 0) < 4 * 400 + 6 * (stubTokens + 10) + 320);
    for (let turn = 0; turn < 4; turn++) {
      b.user('more');
      b.call(`n${turn}`, 'read_file', {});
      b.result(`n${turn}`, 'y'.repeat(4_000), 'read_file');
      b.assistant('ok');
    }
    const second = maskPlan(b.entries, limits)!;
    assert.deepEqual(second.masked.slice(0, 6), first.masked);
    assert.equal(second.masked.length, 6 + 4 + 2);
  });

  it('is undone like any compaction', () => {
    const b = loop(5, 2, 400);
    const record = b.compaction(b.entries[0]!, { rung: 'mask', summaryText: '', masked: [...maskPlan(b.entries, limits)!.masked] });
    b.undo(record);
    assert.equal(maskedEntries(b.entries).size, 0);
    assert.ok(!JSON.stringify(prompt(b.entries).messages).includes('left-out'));
  });

  it('never touches what is protected, on any branch', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 900 })), { minLength: 1, maxLength: 12 }),
        (shape) => {
          const b = new BranchBuilder();
          for (const [turn, [calls, tokens]] of shape.entries()) {
            b.user('q');
            for (let call = 0; call < calls; call++) {
              b.call(`${turn}.${call}`);
              b.result(`${turn}.${call}`, 'x'.repeat(tokens * 4));
            }
          }
          const plan = maskPlan(b.entries, limits);
          if (!plan) return;
          const masked = new Set(plan.masked);
          const results = b.entries.filter(({ content }) => content.type === 'tool_result');
          const firstKept = results.findIndex(({ uuid }, i) => i > 0 && !masked.has(uuid) && masked.has(results[i - 1]!.uuid));
          const turns = b.entries.filter(({ content }) => content.type === 'message');
          for (const entry of results) if (turns.length < 2 || entry.seq > turns.at(-2)!.seq) assert.ok(!masked.has(entry.uuid));
          assert.ok(plan.gain >= limits.minGain);
          let newest = 0;
          for (const entry of [...results].reverse()) {
            newest += tokensOf(entry);
            if (newest <= limits.protectTokens) assert.ok(!masked.has(entry.uuid), `${firstKept}`);
          }
        },
      ),
    );
  });
});
