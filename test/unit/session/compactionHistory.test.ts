import assert from 'node:assert/strict';
import { compactionHistory } from '../../../src/core/session/liveCompaction';
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
