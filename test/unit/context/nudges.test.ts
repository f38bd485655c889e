import assert from 'node:assert/strict';
import { dueNudge, nudgeStates } from '../../../src/core/memory/nudges';
import { resolveBudget } from '../../../src/core/context/measure/budget';
import { resolvePolicy } from '../../../src/core/context/policy/resolvePolicy';
import { BranchBuilder } from '../../support/chat/branchBuilder';

const budget = resolveBudget(resolvePolicy('balanced').policy, { window: 100_000, maxOutput: 4_000 });
const states = (b: BranchBuilder, used: number) => nudgeStates(b.entries, budget, used).map(({ state }) => state);
const due = (b: BranchBuilder, used: number) => dueNudge(nudgeStates(b.entries, budget, used), used, budget.effective);

describe('nudges', () => {
  it('are sent as a message of the system where they are asked for as the system', () => {
    const b = new BranchBuilder();
    b.user('one');
    assert.deepEqual([due(b, 50_000)?.asMessage, due(b, 80_000)?.asMessage], [true, undefined]);
  });

  it('fire at the boundary exactly, once per cycle', () => {
    const b = new BranchBuilder();
    b.user('q');
    assert.deepEqual(states(b, 49_999), ['ahead', 'ahead']);
    assert.deepEqual(states(b, 50_000), ['due', 'ahead']);
    assert.equal(due(b, 49_999), null);
    assert.deepEqual([due(b, 50_000)?.percent, due(b, 50_000)?.injectAs], [50, 'system']);
    b.nudge(50);
    assert.deepEqual(states(b, 60_000), ['delivered', 'ahead']);
    assert.equal(due(b, 60_000), null);
  });

  it('ask once when a jump crosses both', () => {
    const b = new BranchBuilder();
    b.user('q');
    assert.deepEqual([due(b, 80_000)?.percent, due(b, 80_000)?.injectAs], [75, 'user']);
    b.nudge(75);
    assert.deepEqual(states(b, 80_000), ['passed', 'delivered']);
  });

  it('count as acted on when a note is written, and not when one is read', () => {
    const b = new BranchBuilder();
    b.user('q');
    b.nudge(50);
    b.call('1', 'memory', { command: 'view', path: '/' });
    assert.deepEqual(states(b, 60_000), ['delivered', 'ahead']);
    b.call('2', 'memory', { command: 'create', path: 'a.md', file_text: 'x' });
    assert.deepEqual(states(b, 60_000), ['acted', 'ahead']);
  });

  it('begin anew after a compaction, and return to the old cycle when it is undone', () => {
    const b = new BranchBuilder();
    b.user('q');
    b.nudge(50);
    const record = b.compaction(b.entries[0]!);
    assert.deepEqual(states(b, 50_000), ['due', 'ahead']);
    b.undo(record);
    assert.deepEqual(states(b, 50_000), ['delivered', 'ahead']);
  });
});
