import { deepStrictEqual, match, doesNotMatch } from 'node:assert';
import { parseTags, sessionDescription, sessionsText, sessionTags, sessionTooltip } from '../../../../src/vscode/sessions/sessionText';
import { aSession, now } from './sessions';

describe('the Sessions view: its words', () => {
  it('shows tags, and nothing that is none', () => {
    const session = aSession({ messageCount: 1_234, updatedAt: now, metadata: { tags: ['work', 3, '', null, 'tide tables'] } });
    deepStrictEqual(sessionDescription(session, now), 'just now · 1,234 messages · #work #tide tables');
    deepStrictEqual(sessionTags(aSession({ metadata: { tags: 'work' } })), []);
  });

  it('counts of a fork what was said since', () => {
    const forked = (messageCount: number) => sessionDescription(aSession({ messageCount, parentSession: 'p' }), now);
    deepStrictEqual([0, 1, 2].map(forked), ['just now · no new messages', 'just now · 1 new message', 'just now · 2 new messages']);
  });

  it('reads tags as they are typed', () => {
    deepStrictEqual(parseTags(' work, #Tide   tables ,,WORK, ##\n#moon'), ['work', 'Tide tables', 'moon']);
    deepStrictEqual(parseTags(' , '), []);
  });

  it('shows in a tooltip what a title says, not what it does', () => {
    const text = sessionTooltip(
      aSession({ title: '[click](command:x) **bold** | $(alert) <img src=x>', model: 'anthropic/claude_test' }),
      '/home/me/tides',
    );
    doesNotMatch(text, /(?<!\\)[[\]<$]/);
    match(text, /`20261122_001`/);
    match(text, /\/home\/me\/tides/);
  });

  it('keeps an imported key in its cell of the tooltip, where it loads nothing', () => {
    const lines = (key: string) => sessionTooltip(aSession({ key }), null).split('\n');
    const hostile = lines('a`|\r\n\n![x](https://example.org/seen.png)\u2028b');
    deepStrictEqual(hostile.length, lines('work:tides').length);
    deepStrictEqual(
      hostile.filter((line) => line.includes('seen.png')),
      ["| Key | `a'\\| ![x](https://example.org/seen.png) b` |"],
    );
  });

  it('names one session and counts several', () => {
    deepStrictEqual([sessionsText([{ title: '' }]), sessionsText([{ title: 'a' }, { title: 'b' }])], ['"Untitled"', '2 sessions']);
  });
});
