import assert from 'node:assert/strict';
import { previousText } from '../../../../src/core/compaction/ladder/fold';
import { emptyFoldedState, type FoldedState } from '../../../../src/core/compaction/ledgers/foldedState';
import { extendLedger } from '../../../../src/core/compaction/ledgers/userLedger';
import { BranchBuilder } from '../../../support/chat/branchBuilder';

describe('a state that is to be merged', () => {
  const value = (index: number) => `For the record: the gate code of pier ${index} is K${10_000 + index}-${index}.`;
  const tokens = (text: string) => Math.ceil(text.length / 4);

  it('tells of every value of the user, although folds without a model leave room for the newest only', () => {
    const b = new BranchBuilder();
    const room = 600;
    let state: FoldedState = emptyFoldedState;
    const merged = new Set<number>();
    for (let fold = 0; fold < 6; fold++) {
      const folded = Array.from({ length: 5 }, (_, i) => b.user(`${'lorem ipsum dolor sit amet '.repeat(60)}. ${value(fold * 5 + i)}`));
      state = { ...state, ...extendLedger(state, folded, room, tokens) };
      for (let i = 0; i < 30; i++) if (previousText(state)?.includes(value(i))) merged.add(i);
    }
    assert.ok(state.values.length < 30, 'the oldest have given way');
    assert.equal(merged.size, 30);
  });

  it('tells nothing twice', () => {
    const values = [
      { ref: '#1', text: 'The port is 5173.' },
      { ref: '#2', text: 'The code is K1-2.' },
      { ref: '#3', text: 'The seal is S9-3.' },
    ];
    const state = { logos: ['The port is 5173. (#1)'], pathos: [], abstract: [], conversation_summary: '' };
    const text = previousText({ ...emptyFoldedState, state, values, lines: [{ ref: '#2', text: 'Right. The code is K1-2.' }] });
    assert.deepEqual((JSON.parse(text!) as typeof state).logos, [
      'The port is 5173. (#1)',
      'The seal is S9-3. (#3)',
      'Right. The code is K1-2. (#2)',
    ]);
    assert.equal(previousText({ ...emptyFoldedState, raw: 'The port is 5173.', values: values.slice(0, 1) }), 'The port is 5173.');
    assert.equal(previousText(emptyFoldedState), null);
  });
});
