import { deepStrictEqual, match, doesNotMatch } from 'node:assert';
import { agoText, parseTags, sessionDescription, sessionsText, sessionTags, sessionTooltip } from '../../../src/vscode/sessionText';
import { aSession, now } from './sessions';

describe('the Sessions view: its words', () => {
  it('says how long ago', () => {
    const minute = 60_000;
    const passed = [-minute, 0, minute - 1, minute, 60 * minute - 1, 60 * minute, 24 * 60 * minute, 7 * 24 * 60 * minute - 1, 7 * 24 * 60 * minute];
    deepStrictEqual(passed.map((ms) => agoText(now - ms, now)), ['now', 'now', 'now', '1 min ago', '59 min ago', '1 h ago', '1 d ago', '6 d ago', '2026-11-15']);
  });

  it('shows tags, and nothing that is none', () => {
    const session = aSession({ messageCount: 1_234, updatedAt: now, metadata: { tags: ['work', 3, '', null, 'tide tables'] } });
    deepStrictEqual(sessionDescription(session, now), 'now · 1,234 messages · #work #tide tables');
    deepStrictEqual(sessionTags(aSession({ metadata: { tags: 'work' } })), []);
  });

  it('counts of a fork what was said since', () => {
    const forked = (messageCount: number) => sessionDescription(aSession({ messageCount, parentSession: 'p' }), now);
    deepStrictEqual([0, 1, 2].map(forked), ['now · no new messages', 'now · 1 new message', 'now · 2 new messages']);
  });

  it('reads tags as they are typed', () => {
    deepStrictEqual(parseTags(' work, #Tide   tables ,,WORK, ##\n#moon'), ['work', 'Tide tables', 'moon']);
    deepStrictEqual(parseTags(' , '), []);
  });

  it('shows in a tooltip what a title says, not what it does', () => {
    const text = sessionTooltip(aSession({ title: '[click](command:x) **bold** | $(alert) <img src=x>', model: 'anthropic/claude_test' }), '/home/me/tides');
    doesNotMatch(text, /(?<!\\)[[\]<$]/);
    match(text, /`20261122_001`/);
    match(text, /\/home\/me\/tides/);
  });

  it('names one session and counts several', () => {
    deepStrictEqual([sessionsText([{ title: '' }]), sessionsText([{ title: 'a' }, { title: 'b' }])], ['"Untitled"', '2 sessions']);
  });
});
