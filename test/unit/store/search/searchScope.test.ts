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
      const big = store.session('big');
      for (let part = 0; part < 20; part++) {
        const entries = Array.from({ length: 500 }, (_, i) => ({
          uuid: `m${part}-${i}`,
          session: big,
          parent: null,
          createdAt: 1,
          modelFacing: true,
          display: true,
          tokenEstimate: 1,
          content: {
            type: 'message' as const,
            role: 'user' as const,
            text: i % 2 === 0 ? 'the parser once more' : 'a gauge and its cache',
          },
        }));
        store.core.append(big, { entries });
      }
      store.index(1_000);
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
});
