import assert from 'node:assert/strict';
import { emptyFoldedState, renderFoldedState } from '../../../../src/core/compaction/ledgers/foldedState';
import type { ContentOf } from '../../../../src/core/session/entry';
import { compactionPreviewText, summaryIn } from '../../../../src/vscode/context/compactionText';
import { BranchBuilder } from '../../../support/chat/branchBuilder';
import { oneLine } from '../../../../src/vscode/plainText';

describe('the preview of a compaction', () => {
  const b = new BranchBuilder();
  const folds = Array.from({ length: 45 }, (_, i) => b.user(`question ${i}\n\n${'word '.repeat(40)}`));
  const kept = b.assistant('the last answer');
  const entries = new Map(b.entries.map((entry) => [entry.uuid, entry]));
  const content = b.compaction(kept, {
    summaryText: 'First line\n\nsecond line',
    tokensBefore: 168_200,
    tokensAfter: 3_900,
    messagesBefore: 46,
    messagesAfter: 1,
    model: 'claude-test',
    note: 'It is rather short.',
    continuity: { inContextPercent: 96.6, elements: 3, reachablePercent: null, searched: 0 },
    audit: { checked: 3, inSummary: 3, leftBehind: 3, missing: [], repaired: false, unknownIds: ['#91', '#94'] },
  }).content as ContentOf<'compaction'>;
  const uuids = (list: readonly { readonly uuid: string }[]) => list.map(({ uuid }) => uuid);

  it('says what folds, what stays and what the summary is, and counts what it does not list', () => {
    const text = compactionPreviewText({ content, folds: uuids(folds), stays: [kept.uuid, 'gone'], message: null }, entries);
    const [head, summary, whatFolds, whatStays] = text.split('\n\n## ');
    assert.equal(
      head,
      [
        '# What compacting now would do\n\nNothing has changed yet. Apply it, or close this document to leave the conversation as it is.\n',
        '- 168,200 → 3,900 tokens',
        '- 45 messages go into the summary',
        '- 1 message stays word for word',
        '- summary by claude-test',
        '- Key details kept: 97%',
        '- Fixed wrong source references (#91, #94).',
        '- It is rather short.',
      ].join('\n'),
    );
    assert.equal(
      summary,
      'The summary\n\nYou can change it here before you apply it.\n\n<!-- The summary begins here. -->\nFirst line\n\nsecond line\n<!-- The summary ends here. -->',
    );
    const listed = whatFolds!.split('\n').filter((line) => line.startsWith('- '));
    assert.deepEqual([listed.length, listed[0]?.startsWith('- #1 user: question 0 word word'), listed.at(-1)], [41, true, '- and 5 more']);
    assert.ok(listed.every((line) => line.length < 130 && !line.includes('\n')));
    assert.equal(whatStays?.trim(), 'What stays\n\n- #46 assistant: the last answer');
  });

  it('lets the user change what the model wrote, and nothing beside it', () => {
    const folded = { ...emptyFoldedState, raw: 'The plan is set.', ledger: [{ ref: '#1', text: 'keep the port' }] };
    const rich = { ...content, summary: folded, summaryText: renderFoldedState(folded, null, 1_000) };
    const text = compactionPreviewText({ content: rich, folds: [], stays: [], message: null }, entries);
    assert.equal(summaryIn(text), 'The plan is set.');
    assert.match(text, /## What is kept beside the summary, word for word\n\n(>.*\n)+> - \(#1\) keep the port/);
    assert.equal(text.split('The plan is set.').length, 2, 'once');
    assert.equal(summaryIn(text.replace('The plan is set.', ' Mine.\n\n- and more ')), 'Mine.\n\n- and more');
    assert.equal(summaryIn(text.replace('<!-- The summary begins here. -->', '')), null);
  });

  it('says so when nothing stays, and shortens to one line', () => {
    assert.match(
      compactionPreviewText({ content, folds: [], stays: [], message: null }, entries),
      /## What is compacted\n\n.*\n\nNothing\.\n\n## What stays\n\nNothing\./s,
    );
    assert.deepEqual([oneLine(' a\n b ', 9), oneLine('abcdef', 4)], ['a b', 'abc…']);
  });
});
