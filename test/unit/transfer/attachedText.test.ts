import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { changesText, endOf, pastChatText, pastEntryText } from '../../../src/core/transfer/attachedText';
import { timeText } from '../../../src/core/recall/dateText';
import { BranchBuilder } from '../../support/chat/branchBuilder';

describe('a past chat that goes with a message', () => {
  const session = { id: '20261120_001', title: 'Tides' };

  it('is its newest messages, and the end of them where they are many', () => {
    const b = new BranchBuilder();
    b.user('When is high water?');
    const [entry] = b.entries;
    const text = `user, ${timeText(entry!.createdAt)}:\nWhen is high water?`;
    strictEqual(pastChatText(session, b.entries), `Past chat 20261120_001: Tides\n\n${text}`);
    strictEqual(pastEntryText(session, entry!), `From 20261120_001: Tides, ${timeText(entry!.createdAt)}:\n\nWhen is high water?`);
    b.user('x'.repeat(30_000));
    match(pastChatText(session, b.entries), /^Past chat 20261120_001: Tides\n\n\[… \d+ characters before are left out …\]\nx{24000}$/);
  });

  it('has changes and output of a bounded length', () => {
    deepStrictEqual([changesText('+ a'), endOf('abc', 3), endOf('abcd', 3)], ['+ a', 'abc', '[… 1 characters before are left out …]\nbcd']);
    match(changesText('y'.repeat(100_005)), /y\n\[… 5 more characters are left out …\]$/);
  });
});
