import { deepEqual, equal } from 'node:assert/strict';
import fc from 'fast-check';
import { dayStart, parseSearchText, searchTyped, type TypedSearch } from '../../../src/core/recall/parseSearchText';
import { openTestStore, tempFolder, userMessage } from '../../support/store/storeTemp';

describe('filters typed into a search', () => {
  const day = (month: number, date: number) => new Date(2026, month - 1, date).getTime();
  const cases: [string, string, Partial<TypedSearch['filters']>, string?][] = [
    ['plain words', 'plain words', {}],
    [
      'tag:x role:user after:2026-11-01 before:2026-11-20 session:20261122_001 port',
      'port',
      { tag: 'x', role: 'user', from: day(11, 1), to: day(11, 20) - 1 },
      '20261122_001',
    ],
    ['which port tag:"two words" is it', 'which port is it', { tag: 'two words' }],
    ['Role:Assistant MODEL:anthropic/large x', 'x', { role: 'assistant', model: 'anthropic/large' }],
    ['meta:ticket=7 meta:done=true meta:team=red x', 'x', { metadata: { ticket: 7, done: true, team: 'red' } }],
    ['tag:a tag:b x', 'x', { tag: 'b' }],
    // No filters: unknown names, values that are none, and colons inside of words.
    ['see https://example.com/a:b and core:ports x:y', 'see https://example.com/a:b and core:ports x:y', {}],
    [
      'role:me after:yesterday before:2026-02-30 session:today meta:x tag: tag:""',
      'role:me after:yesterday before:2026-02-30 session:today meta:x tag: tag:""',
      {},
    ],
    ['hashtag:x a"tag:x b', 'hashtag:x a"tag:x b', {}],
    ['', '', {}],
  ];
  for (const [typed, text, filters, sessionId = null] of cases) {
    it(JSON.stringify(typed), () => deepEqual(parseSearchText(typed), { text, filters, sessionId }));
  }

  it('leave every text without a colon as it is, but for its spaces', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll(':', '');
        deepEqual(parseSearchText(plain), { text: plain.replace(/\s+/g, ' ').trim(), filters: {}, sessionId: null });
      }),
    );
  });

  it('know which days there are', () => {
    equal(dayStart('2026-11-20'), day(11, 20));
    for (const none of ['2026-13-01', '2026-00-10', '2026-02-30', '26-1-1', 'x']) equal(dayStart(none), null, none);
  });
});

describe('a search that is typed', () => {
  it('keeps to the session that it names, also one in the trash, and finds nothing in one that is not there', async () => {
    const temp = tempFolder();
    const store = await openTestStore(temp.path);
    const ids: string[] = [];
    for (const name of ['one', 'two']) {
      ids.push((await store.createSession({ uuid: name, channel: 'cli', createdAt: 1_763_800_000_000, title: name })).id);
      await store.append(name, { entries: [userMessage(name, null, `The ferry leaves ${name}.`)] });
    }
    await store.updateSession('two', { deletedAt: 1 });
    const found = async (typed: string) => (await searchTyped(store, typed)).hits.map(({ sessionTitle }) => sessionTitle).sort();
    deepEqual(
      await Promise.all([
        found('ferry'),
        found(`ferry session:${ids[0]}`),
        found(`ferry session:${ids[1]}`),
        found('ferry session:19990101_001'),
      ]),
      [['one'], ['one'], ['two'], []],
    );
    await store.close();
    temp.remove();
  });
});
