import { deepStrictEqual, throws } from 'node:assert';
import type { SessionQuery } from '../../../../src/core/session/session';
import { changedDetails, detailsText } from '../../../../src/vscode/sessions/sessionDetails';
import { groupSessions } from '../../../../src/vscode/sessions/tree/sessionNodes';
import { SessionLists } from '../../../../src/vscode/sessions/tree/treeLists';
import { sessionTooltip } from '../../../../src/vscode/sessions/sessionText';
import { aSession, now } from './sessions';

const session = aSession({
  id: '20260211_001',
  key: 'vscode:20260211_001',
  title: 'Prices',
  metadata: { user_id: 'user_123', tags: ['a'], old: 1 },
  costLimit: 0.5,
});

describe('the details of a session', () => {
  const edit = (change: (details: Record<string, unknown>) => void): string => {
    const details = JSON.parse(detailsText(session)) as Record<string, unknown>;
    change(details);
    return JSON.stringify(details);
  };

  it('are a document, of which only what was changed is stored (seed 000: metadata)', () => {
    deepStrictEqual(changedDetails(detailsText(session), session), {});
    const changed = edit((details) =>
      Object.assign(details, {
        title: ' Costs ',
        key: 'telegram:123456',
        costLimit: null,
        metadata: { user_id: 'user_123', tags: ['a', 'b'], channel: 'telegram' },
      }),
    );
    deepStrictEqual(changedDetails(changed, session), {
      title: 'Costs',
      key: 'telegram:123456',
      costLimit: null,
      metadata: { tags: ['a', 'b'], old: null, channel: 'telegram' },
    });
  });

  it('are refused with a reason', () => {
    throws(() => changedDetails('{', session), /This is no JSON/);
    throws(
      () =>
        changedDetails(
          edit((details) => (details['costLimit'] = 0)),
          session,
        ),
      /dollars above 0/,
    );
    throws(
      () =>
        changedDetails(
          edit((details) => (details['key'] = 'none')),
          session,
        ),
      /no key of a session/,
    );
    throws(
      () =>
        changedDetails(
          edit((details) => (details['owner'] = 'me')),
          session,
        ),
      /nothing else/,
    );
    throws(
      () =>
        changedDetails(
          edit((details) => (details['metadata'] = { tags: 'a' })),
          session,
        ),
      /list of texts/,
    );
  });

  it('stand in the tooltip: key, cost limit and metadata', () => {
    const tooltip = sessionTooltip({ ...session, key: 'telegram:123456' }, null);
    deepStrictEqual(
      ['| Key | `telegram:123456` |', '| Cost limit | $0.50 |', 'user\\_id | user\\_123'].map((row) => tooltip.includes(row)),
      [true, true, true],
      tooltip,
    );
    deepStrictEqual(sessionTooltip(session, null).includes('| Key |'), false, 'a key that says nothing more than the id is left out');
  });

  it('are what the list is filtered by, in the words of a search', async () => {
    const asked: SessionQuery[] = [];
    const lists = new SessionLists();
    lists.sort = 'cost';
    const query = async (filter: string) => {
      lists.filter = filter;
      asked.length = 0;
      await lists.load({ listSessions: async (one) => (asked.push(one ?? {}), []) });
      const { archived: _archived, pinned: _pinned, limit: _limit, trashed: _trashed, ...rest } = asked[0]!;
      return rest;
    };
    deepStrictEqual(await query('meta:user_id=user_123 meta:n=3 tide'), {
      metadata: { user_id: 'user_123', n: 3 },
      text: 'tide',
      sort: 'cost',
    });
    deepStrictEqual(await query('#work meta:n=3'), { tag: 'work', metadata: { n: 3 }, sort: 'cost' });
    deepStrictEqual(await query('#two words'), { tag: 'two words', sort: 'cost' });
    deepStrictEqual(await query('20260211_001'), { text: '20260211_001', sort: 'cost' });
    deepStrictEqual(await query('role:user'), { text: 'role:user', sort: 'cost' }, 'what says something of messages is part of a title');
    deepStrictEqual(await query(''), { sort: 'cost' });
  });

  it('order the list: by days where it is one of time, else in one group', () => {
    const sessions = [aSession({ createdAt: now - 40 * 86_400_000, updatedAt: now }), aSession({ pinnedAt: 1 })];
    deepStrictEqual(
      (['updated', 'created', 'title', 'tokens', 'cost'] as const).map((sort) => groupSessions(sessions, now, sort).map(({ id }) => id)),
      [
        ['pinned', 'today'],
        ['pinned', 'older'],
        ['pinned', 'sorted'],
        ['pinned', 'sorted'],
        ['pinned', 'sorted'],
      ],
    );
  });
});
