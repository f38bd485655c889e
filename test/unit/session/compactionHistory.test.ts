import assert from 'node:assert/strict';
import { isEntryOf, type ContentOf } from '../../../src/core/session/entry';
import { compactionHistory, earlierSummaries } from '../../../src/core/session/liveCompaction';
import { BranchBuilder } from '../../support/chat/branchBuilder';

describe('compactionHistory', () => {
  it('says what has become of each', () => {
    const b = new BranchBuilder();
    b.user('q');
    const worse = b.compaction(null);
    const better = b.compaction(null, { supersedes: worse.uuid });
    const regretted = b.compaction(null);
    b.undo(regretted);
    const last = b.compaction(null);
    const states = () => compactionHistory(b.entries).map(({ entry, state }) => [entry.uuid, state]);
    assert.deepEqual(states(), [
      [worse.uuid, 'replaced'],
      [better.uuid, 'superseded'],
      [regretted.uuid, 'undone'],
      [last.uuid, 'live'],
    ]);
    b.undo(last);
    assert.deepEqual(states(), [
      [worse.uuid, 'replaced'],
      [better.uuid, 'live'],
      [regretted.uuid, 'undone'],
      [last.uuid, 'undone'],
    ]);
  });
});

describe('earlierSummaries', () => {
  it('are those that the record has taken the place of, one after the other, and no end of them in damaged records', () => {
    const b = new BranchBuilder();
    b.user('q');
    const record = (over: Partial<ContentOf<'compaction'>>) => {
      const entry = b.compaction(null, over);
      assert.ok(isEntryOf(entry, 'compaction'));
      return entry;
    };
    const first = record({});
    const second = record({ supersedes: first.uuid });
    const third = record({ supersedes: second.uuid });
    const find = (uuid: string) => b.entries.find((entry) => entry.uuid === uuid);
    assert.deepEqual(earlierSummaries(third, find), [second, first]);
    assert.deepEqual(
      earlierSummaries(third, (uuid) => (uuid === second.uuid ? third : undefined)),
      [],
    );
    assert.deepEqual(
      earlierSummaries(second, (uuid) => (uuid === first.uuid ? third : uuid === second.uuid ? second : undefined)),
      [third],
    );
  });
});
