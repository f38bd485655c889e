import { deepEqual, equal, ok } from 'node:assert/strict';
import type { PassageVector } from '../../../../src/core/embeddings/embeddings';
import { quantised } from '../../../../src/core/embeddings/vectors';
import { VectorRows } from '../../../../src/node/store/search/vectorRows';
import { EntryRows } from '../../../../src/node/store/rows/entryRows';
import { BlobFiles } from '../../../../src/node/store/rows/blobFiles';
import { madeVector } from '../../../support/servers/madeVectors';
import { SearchStore } from '../../../support/store/searchStore';
import { tempFolder, type TempFolder } from '../../../support/store/storeTemp';

const space = '1 ollama/embed';

describe('store: vectors of passages', () => {
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

  /** Texts in the order in which they are asked for. */
  const embedAll = (most = 2, of = space, vectorOf: (text: string) => readonly number[] = (text) => quantised(madeVector(text))) => {
    const asked: string[][] = [];
    for (let more = true; more; ) {
      const found = store.core.unembedded(of, most);
      more = found.more;
      if (found.passages.length === 0) continue;
      asked.push(found.passages.map(({ text }) => text));
      store.core.saveVectors(
        of,
        found.passages.map(({ hash, text }): PassageVector => ({ hash, vector: vectorOf(text) })),
      );
    }
    return asked;
  };
  const near = (text: string, of = space) => ({ space: of, vector: quantised(madeVector(text)) });
  const found = (text: string, more: { readonly session?: string; readonly of?: string } = {}) =>
    store.core
      .search({ text, limit: 5, near: near(text, more.of), ...(more.session === undefined ? {} : { session: more.session }) })
      .hits.map((hit) => [hit.text, hit.meant === true]);

  const talk = () => {
    const [a, b] = [store.session('s-a'), store.session('s-b')];
    store.say(a, 'The saloon needs new tyres before winter.');
    store.say(a, 'We adopted two puppies in spring.');
    store.say(b, 'The surgeon has time on Monday.');
    store.say(b, 'ok');
    store.say(b, 'contents of a file with a car', {
      type: 'tool_result',
      callId: 'c',
      name: 'read_file',
      status: 'ok',
      text: 'a file with a car and a vehicle',
    });
    return { a, b };
  };

  it('are asked for newest first, once, and for what was said alone', () => {
    const { b } = talk();
    store.index();
    deepEqual(embedAll(), [
      ['The surgeon has time on Monday.', 'We adopted two puppies in spring.'],
      ['The saloon needs new tyres before winter.'],
    ]);
    deepEqual(embedAll(), []);
    store.say(b, 'The ferry leaves at seven.');
    store.say(b, 'The surgeon has time on Monday.');
    deepEqual(embedAll(), [['The ferry leaves at seven.']]);
    deepEqual(store.core.vectorStatus(), { space, embedded: 5, passages: 5, bytes: 4 * 8, full: false });
  });

  it('find what has none of the words, within the scope of a search', () => {
    const { a, b } = talk();
    deepEqual(found('automobile'), []);
    embedAll();
    deepEqual(found('automobile')[0], ['The saloon needs new tyres before winter.', true]);
    deepEqual(found('which hound', { session: a })[0], ['We adopted two puppies in spring.', true]);
    ok(found('which hound', { session: b }).every(([text]) => !String(text).includes('puppies')));
    deepEqual(store.core.search({ text: 'automobile', limit: 5 }).hits, []);
    store.core.updateSession(a, { deletedAt: 1 });
    ok(found('automobile').every(([text]) => !String(text).includes('saloon')));
  });

  it('of another model are not mixed with those of this one, and leave', () => {
    talk();
    embedAll();
    deepEqual(found('automobile', { of: '1 ollama/other' }), []);
    deepEqual(embedAll(5, '1 ollama/other').length, 1);
    equal(store.core.vectorStatus().space, '1 ollama/other');
    deepEqual(found('automobile'), []);
    deepEqual(found('automobile', { of: '1 ollama/other' })[0]?.[1], true);
    store.core.saveVectors(space, [{ hash: '00', vector: [1] }]);
    equal(store.core.vectorStatus().bytes, 3 * 8);
  });

  it('of another length under the same name take the place of the others', () => {
    const { b } = talk();
    embedAll();
    store.say(b, 'The ferry leaves at seven.');
    const asked = embedAll(5, space, (text) => quantised(madeVector(text, 20)));
    equal(asked.flat().length, 1 + 3);
    deepEqual(store.core.vectorStatus(), { space, embedded: 4, passages: 4, bytes: 4 * 20, full: false });
  });

  it('wait under the text of a passage when the index is made anew', () => {
    talk();
    embedAll();
    store.core.index.reset();
    deepEqual(found('automobile'), []);
    deepEqual(embedAll(), []);
    deepEqual(found('automobile')[0]?.[1], true);
  });

  it('go with what is purged', () => {
    const { a } = talk();
    embedAll();
    store.core.updateSession(a, { deletedAt: 1 });
    store.core.purge([a]);
    equal(store.core.vectorStatus().bytes, 8);
    deepEqual(embedAll(), []);
    deepEqual(store.core.vectorStatus(), { space, embedded: 1, passages: 1, bytes: 8, full: false });
  });

  for (const reopened of [false, true])
    it(`are made for a session that comes back from the trash, ${reopened ? 'after a restart' : 'at once'}`, async () => {
      const { a, b } = talk();
      store.say(a, 'The ferry leaves at seven.');
      store.core.updateSession(a, { deletedAt: 1 });
      const late = store.session('s-c');
      store.say(late, 'The gauge hangs in the hall.');
      store.index();
      deepEqual(embedAll().flat(), ['The gauge hangs in the hall.', 'The surgeon has time on Monday.']);
      store.core.updateSession(b, { deletedAt: 1 });
      store.core.updateSession(a, { deletedAt: null });
      if (reopened) {
        store.database.close();
        store = await SearchStore.open(temp.path);
      }
      deepEqual(embedAll().flat().sort(), [
        'The ferry leaves at seven.',
        'The saloon needs new tyres before winter.',
        'We adopted two puppies in spring.',
      ]);
      deepEqual(found('automobile')[0], ['The saloon needs new tyres before winter.', true]);
      deepEqual(embedAll(), []);
    });

  it('of the oldest leave where there is no room, and a passage that cannot be read is not asked about again', () => {
    const { b } = talk();
    store.index();
    const rows = new VectorRows(store.database.connection, new EntryRows(store.database.connection, new BlobFiles(temp.path)), {
      bytes: 2 * 768,
    });
    const fill = () => {
      const asked: string[] = [];
      for (let more = true; more; ) {
        const one = rows.unembedded(space, 1);
        more = one.more;
        asked.push(...one.passages.map(({ text }) => text));
        rows.save(
          space,
          one.passages.map(({ hash, text }) => ({ hash, vector: text.includes('puppies') ? [] : quantised(madeVector(text, 768)) })),
        );
      }
      rows.tidy();
      return asked;
    };
    deepEqual(fill(), ['The surgeon has time on Monday.', 'We adopted two puppies in spring.']);
    deepEqual(rows.status(), { space, embedded: 2, passages: 3, bytes: 768, full: true });
    store.say(b, 'The ferry leaves at seven.');
    store.index();
    deepEqual(fill(), ['The ferry leaves at seven.']);
    deepEqual(rows.status(), { space, embedded: 2, passages: 4, bytes: 2 * 768, full: true });
    deepEqual(fill(), []);
  });
});
