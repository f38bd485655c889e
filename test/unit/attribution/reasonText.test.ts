import assert from 'node:assert/strict';
import { limitTexts, saidText, unknownText } from '../../../src/core/attribution/reasonText';
import { timeText } from '../../../src/core/recall/dateText';
import { branchOf } from '../../support/agents/handedSessions';

describe('the reason of a line, for people', () => {
  it('says what is known of a line that no session has written, and what was not looked at', () => {
    const commit = { commit: '0123456789abcdef', author: 'Ada', at: 1_700_000_000_000, summary: 'tides: count them' };
    assert.deepEqual(
      [unknownText(commit, null), unknownText(null, 'no_repository'), unknownText(null, 'git_failed'), unknownText(null, null)],
      [
        `No session has written this line. It came with commit 01234567 by Ada on ${timeText(commit.at)}: tides: count them`,
        'No session is known to have written this line. The file is in no Git repository, so its past was not looked at.',
        'No session is known to have written this line. Git could not be used, so its past was not looked at.',
        'No session is known to have written this line. It is not committed yet.',
      ],
    );
    assert.deepEqual(limitTexts(false, 'git_failed', false), [], 'said already');
    assert.deepEqual(limitTexts(true, 'git_failed', true), [
      'Git could not be used, so the past of this line was not looked at: an older edit may have written it.',
      'There are too many edits of files with this name: the oldest were not compared.',
    ]);
  });

  it('shows what was said on one line, without the changes that an answer spells out', () => {
    const text = 'First this:\n\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\nthen\tthat.';
    const [said, thought, call] = branchOf([
      { type: 'message', role: 'assistant', text },
      { type: 'thinking', text: 'Hm.\nWell.', provider: 'p', model: 'm' },
      { type: 'tool_call', callId: 'c', name: 'read_file', input: {} },
    ]);
    assert.deepEqual([said!, thought!, call!].map(saidText), ['First this: … then that.', 'Hm. Well.', '']);
  });
});
