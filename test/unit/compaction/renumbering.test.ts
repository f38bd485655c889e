import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { emptyFoldedState, type FoldedState, renderFoldedState } from '../../../src/core/compaction/ledgers/foldedState';
import { Renumbering } from '../../../src/core/transfer/renumbering';
import { compactionContent } from '../../support/chat/compactionContent';

const folded = (ref: (number: number) => string, cited: (number: number) => string): FoldedState => ({
  ...emptyFoldedState,
  state: {
    logos: [`The port is 48213 (${cited(45)}, ${cited(46)})`],
    pathos: [],
    abstract: [],
    conversation_summary: `As in ${cited(45)}.`,
  },
  ledger: [
    { ref: ref(46), text: 'Fix issue #45 first (see #46).\nThen #7.' },
    { ref: ref(45), text: '#45' },
  ],
  earlier: [ref(45)],
  orders: [{ ref: ref(47), text: 'Never close #45 [#46] (a+b)' }],
  work: {
    ...emptyFoldedState.work,
    files: [{ path: 'src/tide.ts', action: 'edited', range: null, ref: ref(46) }],
    todos: [{ text: 'answer #45', ref: ref(47) }],
    lastError: { text: 'no such port', ref: ref(45), source: 'run', fix: `works since ${ref(46)}` },
  },
  identifiers: [{ ref: ref(45), text: 'src/tide.ts' }],
  request: {
    ref: ref(47),
    text: 'Is #46\nopen?',
    attachments: [{ kind: 'image', name: 'shot of #45.png', hash: 'h', mime: 'image/png' }],
    leftOut: [{ kind: 'file', name: 'long.log', hash: 'i', mime: 'text/plain' }],
  },
});

describe('Entries that get other numbers', () => {
  it('are followed by what cites them, and not by what the user said of issues of the same number', () => {
    const renumbering = new Renumbering();
    for (const number of [45, 46, 47]) renumbering.note(number, number + 1_000);
    const [before, now] = [(n: number) => `#${n}`, (n: number) => `#${n + 1_000}`];
    const [old, expected] = [folded(before, before), folded(now, now)];
    const content = compactionContent('op', 'e1', { summary: old, summaryText: renderFoldedState(old, null, 1_000, 'a pin of #46') });
    const renumbered = renumbering.apply(content);
    ok(renumbered.type === 'compaction');
    deepStrictEqual(renumbered.summary, expected);
    strictEqual(renumbered.summaryText, renderFoldedState(expected, null, 1_000, 'a pin of #1046'));
    ok(renumbered.summaryText.includes('- (#1046) Fix issue #45 first (see #46).'));
  });

  it('are followed by the summary of a branch that was left, which has only its text', () => {
    const renumbering = new Renumbering();
    for (const number of [45, 46, 47]) renumbering.note(number, number + 1_000);
    const opening = (number: number) => `The user left another branch, which began with #${number}.`;
    const text = (ref: (number: number) => string) => {
      const { state, work, request, ...lines } = folded(ref, ref);
      const { leftOut: _, ...carried } = request!;
      const told = { ...state!, conversation_summary: `As in ${ref(45)}.\nAnd in ${ref(46)}.` };
      const kept = { ...lines, state: told, work: { ...work, todos: [] }, request: carried };
      return renderFoldedState(kept, null, 1_000, '', opening(Number(ref(45).slice(1))));
    };
    const summary = { type: 'branch_summary' as const, branchLeaf: 'e1' };
    deepStrictEqual(renumbering.apply({ ...summary, text: text((n) => `#${n}`) }), { ...summary, text: text((n) => `#${n + 1_000}`) });
  });
});
