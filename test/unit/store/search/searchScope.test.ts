import { deepEqual, equal } from 'node:assert/strict';
import type { SearchQuery } from '../../../../src/core/session/searchQuery';
import { SearchStore } from '../../../support/store/searchStore';
import { tempFolder, type TempFolder } from '../../../support/store/storeTemp';

for (const indexed of [true, false]) {
  describe(`store: what a search is limited to, ${indexed ? 'indexed' : 'not indexed'}`, () => {
    let temp: TempFolder;
    let store: SearchStore;
    beforeEach(async () => {
      temp = tempFolder();
      store = await SearchStore.open(temp.path);
    });
    afterEach(() => {
      store.database.close();
      temp.remove();
    });
    const found = (text: string, more: Partial<SearchQuery> = {}) => {
      if (indexed) store.index();
      return store.core.search({ text, limit: 20, ...more }).hits;
    };
    const texts = (text: string, more: Partial<SearchQuery> = {}) =>
      found(text, more)
        .map((hit) => hit.text)
        .sort();

    it('finds what a fork shares with a session in the trash, as of the fork, and no other branch of it', () => {
      const main = store.session('main', 'Main');
      const root = store.say(main, 'quince at the root');
      store.say(main, 'quince on an abandoned branch');
      store.core.moveLeaf(main, root);
      const shared = store.say(main, 'quince before the fork');
      store.say(main, 'quince after the fork');
      store.core.forkSession(shared, { uuid: 'fork', key: 'cli:fork', channel: 'cli', title: 'Fork', createdAt: 1 });
      const last = store.say('fork', 'quince in the fork');
      store.core.forkSession(last, { uuid: 'next', key: 'cli:next', channel: 'cli', title: 'Next', createdAt: 2 });
      store.say('next', 'quince in the next fork');
      store.core.updateSession(main, { deletedAt: 5 });
      const expected = ['quince at the root', 'quince before the fork', 'quince in the fork', 'quince in the next fork'];
      deepEqual(texts('quince'), expected);
      deepEqual(new Set(found('quince').map(({ sessionTitle }) => sessionTitle)), new Set(['Fork', 'Next']));
      store.core.updateSession('fork', { deletedAt: 5 });
      deepEqual(texts('quince'), expected);
      deepEqual(new Set(found('quince').map(({ session }) => session)), new Set(['next']));
      store.core.updateSession('next', { deletedAt: 5 });
      deepEqual(texts('quince'), []);
    });

    it('keeps to a model, a tag and values of the metadata', () => {
      for (const [session, metadata] of [
        ['a', { tags: ['fruit', 'work'], ticket: 7 }],
        ['b', { tags: ['work'], ticket: '7' }],
        ['c', {}],
      ] as const) {
        store.core.createSession({ uuid: session, key: `cli:${session}`, channel: 'cli', createdAt: 1, metadata });
        store.say(session, `medlar ${session}`);
        store.say(session, '', {
          type: 'message',
          role: 'assistant',
          text: `medlar answer ${session}`,
          provider: session === 'a' ? 'ollama' : 'anthropic',
          model: 'large',
        });
      }
      const cases: [Partial<SearchQuery>, string[]][] = [
        [{ tag: 'fruit' }, ['medlar a', 'medlar answer a']],
        [{ tag: 'work', role: 'user' }, ['medlar a', 'medlar b']],
        [{ tag: 'nothing' }, []],
        [{ metadata: { ticket: 7 } }, ['medlar a', 'medlar answer a']],
        [{ metadata: { ticket: '7' } }, ['medlar answer b', 'medlar b']],
        [{ model: 'large' }, ['medlar answer a', 'medlar answer b', 'medlar answer c']],
        [{ model: 'ollama/large' }, ['medlar answer a']],
        [{ model: 'large', tag: 'work', session: 'b' }, ['medlar answer b']],
        [{ model: 'small' }, []],
      ];
      for (const [filter, expected] of cases) deepEqual(texts('medlar', filter), expected, JSON.stringify(filter));
    });
  });
}

describe('store: words that are common elsewhere', () => {
  it('are found in a session of few entries, with a filter too, and where each of several is common everywhere', async function () {
    this.timeout(60_000);
    const temp = tempFolder();
    const store = await SearchStore.open(temp.path);
    try {
      const small = store.session('small');
      store.say(small, 'the parser reads tables');
      store.say(small, 'nothing of interest');
      store.say(small, 'a wholly different matter: cache, parser');
      // Old, and the only one with both words.
      const other = store.session('other');
      store.say(other, 'parser and cache and gauge together', {
        type: 'message',
        role: 'assistant',
        text: 'parser and cache and gauge together',
      });
      sayOften(store, 'the parser once more', 'a gauge and its cache');
      deepEqual(
        store.texts('parser cache', { session: small }).filter((text) => /parser|cache/.test(text)),
        ['a wholly different matter: cache, parser', 'the parser reads tables'],
      );
      deepEqual(
        store.core.search({ text: 'parser', limit: 5, role: 'assistant' }).hits.map(({ session }) => session),
        ['other'],
      );
      equal(store.texts('parser gauge')[0], 'parser and cache and gauge together');
    } finally {
      store.database.close();
      temp.remove();
    }
  });

  it('hide no rare word where they are the parts of a version or a path, nor a text that has the path alone', async function () {
    this.timeout(60_000);
    const temp = tempFolder();
    const store = await SearchStore.open(temp.path);
    try {
      const other = store.session('other');
      const flanges = ['the flange broke', 'a second flange', 'flange at last'];
      for (const text of flanges) store.say(other, text);
      store.say(other, 'we pinned lib to 2.5.7 then');
      // Its path is no term of the index: more stands behind it.
      store.say(store.session('night'), 'it failed at src/core/x.ts:12 in the night');
      for (let i = 0; i < 100; i++) store.say(other, `gasket ${i}`);
      store.say(other, 'a gasket for src/core/x.ts:40');
      sayOften(store, 'src, x and 2, 5, 7 once more', 'core, ts again');
      const flangesOf = (query: string) => {
        const found = store.texts(query);
        return flanges.filter((flange) => found.includes(flange));
      };
      // The version as a whole is counted, its numbers are in every other entry.
      deepEqual(flangesOf('2.5.7 flange'), flanges);
      equal(store.texts('2.5.7 flange')[0], 'we pinned lib to 2.5.7 then');
      // Nothing of it is counted, and many have all of its numbers.
      deepEqual(flangesOf('7.5.2 flange'), flanges);
      deepEqual(flangesOf('src/core/x.ts flange'), flanges);
      deepEqual(store.texts('src/core/x.ts gasket').slice(0, 2), [
        'a gasket for src/core/x.ts:40',
        'it failed at src/core/x.ts:12 in the night',
      ]);
    } finally {
      store.database.close();
      temp.remove();
    }
  });
});

/** Appends each of two texts 5,000 times to a session of its own, and indexes everything. */
function sayOften(store: SearchStore, even: string, odd: string): void {
  const session = store.session('big');
  for (let part = 0; part < 20; part++) {
    const entries = Array.from({ length: 500 }, (_, i) => ({
      uuid: `m${part}-${i}`,
      session,
      parent: null,
      createdAt: 1,
      modelFacing: true,
      display: true,
      tokenEstimate: 1,
      content: { type: 'message' as const, role: 'user' as const, text: i % 2 === 0 ? even : odd },
    }));
    store.core.append(session, { entries });
  }
  store.index(1_000);
}
