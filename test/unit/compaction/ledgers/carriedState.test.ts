import assert from 'node:assert/strict';
import { inProcessAnalyst } from '../../../../src/core/compaction/measure/textAnalysis';
import { emptyFoldedState } from '../../../../src/core/compaction/ledgers/foldedState';
import { foldByExtraction } from '../../../../src/core/compaction/ladder/fold';
import { formatOf } from '../../../../src/core/compaction/summary/summaryFormat';
import { estimateTokens } from '../../../../src/core/context/measure/estimateTokens';
import { BranchBuilder } from '../../../support/chat/branchBuilder';
import { silentLog } from '../../../support/chat/conversationRig';
import { testFrames } from '../../../support/chat/testFrames';

describe('a state before, in a fold without a model', () => {
  const raw = Array.from({ length: 200 }, (_, i) => `Line ${i} of what the user has written.`).join('\n');
  const folded = (shortens?: boolean) => {
    const { entries } = new BranchBuilder();
    const cut = { folded: entries, firstKept: null, kept: [], currentRequest: null };
    const previous = { ...emptyFoldedState, raw };
    return foldByExtraction(
      {
        frames: testFrames,
        cut,
        stubs: new Set<string>(),
        previous,
        maxSummaryTokens: 200,
        ledgerTokens: 300,
        instructions: null,
        format: formatOf('narrative'),
        estimate: estimateTokens,
        analyst: inProcessAnalyst,
        log: silentLog,
        ...(shortens ? { shortens } : {}),
      },
      null,
    );
  };

  it('is carried whole, however long a user or a model has made it', async () => {
    assert.equal((await folded()).folded.raw, raw);
  });

  it('ends as it ended, and is as short as it has to be, where it would not fit', async () => {
    const short = (await folded(true)).folded.raw!;
    assert.ok(
      short.startsWith('[…] ') && short.endsWith('Line 199 of what the user has written.') && estimateTokens(short) <= 310,
      short.slice(0, 40),
    );
  });
});
