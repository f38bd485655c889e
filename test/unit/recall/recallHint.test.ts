import { deepEqual, equal, ok } from 'node:assert/strict';
import { hintText, referenceIn, sureHit } from '../../../src/core/recall/recallHint';
import { referringMessages } from '../../support/chat/referringMessages';
import { SearchStore } from '../../support/store/searchStore';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('a hint at what a message refers to', () => {
  const { history, referring, plain } = referringMessages();
  let temp: TempFolder;
  let store: SearchStore;
  before(async () => {
    temp = tempFolder();
    store = await SearchStore.open(temp.path);
    const other = store.session('other', 'Planning');
    for (const text of history) {
      store.say(other, text);
      store.say(other, 'Good, noted. Next, the colours of the gauge and a flaky test.', {
        type: 'message',
        role: 'assistant',
        text: 'Good, noted.',
      });
    }
    store.index(1_000);
  });
  after(() => {
    store.database.close();
    temp.remove();
  });
  const hintFor = (message: string, isOpen: (text: string) => boolean = () => false) => {
    const query = referenceIn(message);
    return query === null ? null : sureHit(query, store.core.search({ text: query, limit: 10 }), ({ text }) => isOpen(text));
  };

  it(`is given for none of ${plain.length} messages that refer to nothing`, () => {
    ok(plain.length >= 190, String(plain.length));
    deepEqual(
      plain.filter((message) => hintFor(message) !== null),
      [],
    );
  });

  it('is given for at least 80 % of the messages that refer to something, and then names it', () => {
    const hints = referring.map(({ text, to }) => ({ text, expected: history[to], found: hintFor(text)?.text }));
    const given = hints.filter(({ found }) => found !== undefined);
    deepEqual(
      given.filter(({ expected, found }) => found !== expected),
      [],
    );
    ok(
      given.length >= 0.8 * referring.length,
      hints
        .filter(({ found }) => found === undefined)
        .map(({ text }) => text)
        .join('\n'),
    );
  });

  it('is not given for what the model has before it, or where nothing of the kind was said', () => {
    equal(
      hintFor('Do it as we decided for the importer.', (text) => text.includes('importer')),
      null,
    );
    equal(hintFor('Do it as we decided for the zeppelin hangar.'), null);
    equal(hintFor(`As we discussed: ${'the importer reads files. '.repeat(60)}`), null);
  });

  it('is given for the source, and not for what pointed back at it before', async () => {
    const folder = tempFolder();
    const edited = await SearchStore.open(folder.path);
    try {
      const other = edited.session('other');
      for (let i = 0; i < 30; i++) edited.say(other, `Please check gauge ${i} and tell me.`);
      const source = 'For the importer: rows that fail are skipped and counted.';
      edited.say(other, source);
      edited.say(other, 'Do it as we decided for the importer.');
      edited.say(other, 'As we agreed for the importer, but in two steps.');
      const query = referenceIn('Do it as we decided for the importer, please.')!;
      equal(sureHit(query, edited.core.search({ text: query, limit: 10 }), () => false)?.text, source);
    } finally {
      edited.database.close();
      folder.remove();
    }
  });

  it('names the entry and quotes nothing', () => {
    const hit = hintFor('What did we agree on for the audit log?')!;
    equal(
      hintText({ ...hit, at: new Date(2026, 10, 20, 12, 3).getTime() }, 'mine'),
      `The message may refer to #${hit.seq} (2026-11-20 12:03, in another conversation, ${hit.sessionId}): recall {"around": "#${hit.seq}"} reads it.`,
    );
    ok(hintText(hit, 'other').includes('earlier in this conversation'));
  });
});
