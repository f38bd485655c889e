import assert from 'node:assert/strict';
import { StoreError } from '../../../../src/core/errors';
import { openReaderCopy } from '../../../../src/node/store/copies/copiedStore';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { SearchStore } from '../../../support/store/searchStore';
import { openHost, tempFolder, wasmFile, type TempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

const day = 86_400_000;
const start = 1_763_800_000_000;

for (const indexed of [true, false]) {
  describe(`store: search ${indexed ? 'by the index' : 'of what is not indexed yet'}`, () => {
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
    const found = (text: string, more = {}) => {
      if (indexed) store.index();
      assert.equal(store.core.index.indexedThrough > 0, indexed);
      return store.texts(text, more);
    };

    /** Each in a session of its own: a neighbour of what matches is found as well. */
    const corpus = (texts: readonly string[]) => texts.forEach((text, i) => store.say(store.session(`s${i}`), text));

    it('finds English words in every form', () => {
      corpus(['He was running the migrations.', 'Databases are migrated at night.', 'Nothing of the kind.']);
      assert.deepEqual(found('migration').sort(), ['Databases are migrated at night.', 'He was running the migrations.']);
      assert.deepEqual(found('run'), ['He was running the migrations.']);
      assert.deepEqual(found('the of'), []);
    });

    it('finds words with and without their diacritics, in both directions', () => {
      corpus(['naïve café', 'naive cafe', 'Die Straße über Łódź', 'nothing']);
      assert.equal(found('café').length, 2);
      assert.equal(found('CAFE').length, 2);
      assert.deepEqual(found('strasse'), ['Die Straße über Łódź']);
      assert.deepEqual(found('lodz uber'), ['Die Straße über Łódź']);
      assert.deepEqual(found('ｎａｉｖｅ').length, 2);
    });

    it('finds every part of Chinese, Japanese, Korean and Thai text', () => {
      const texts = [
        '会議は東京駅の近くで開かれます',
        '我能吞下玻璃而不伤身体',
        '나는 유리를 먹을 수 있어요',
        'ฉันกินกระจกได้',
        '数据库迁移在午夜开始。',
      ];
      corpus(texts);
      let asked = 0;
      for (const text of texts) {
        const characters = [...text.replace(/[\s。]/g, '\u0000')];
        for (const length of [1, 2, 3, 4]) {
          for (let i = 0; i + length <= characters.length; i++) {
            const part = characters.slice(i, i + length).join('');
            if (part.includes('\u0000')) continue;
            asked++;
            assert.ok(found(part, { limit: 50 }).includes(text), `${part} in ${text}`);
          }
        }
      }
      assert.ok(asked > 150, String(asked));
    });

    it('finds identifiers, paths, URLs and values, the exact one first', () => {
      corpus([
        'src/core/ports.ts holds the ports',
        'ports of the core: src, ts, core, ports',
        'getUserById() throws E_CONN_4711',
        'see https://example.com/a?b=c#d',
        'version 1.2.3-rc.4 of @scope/pkg',
      ]);
      assert.equal(found('src/core/ports.ts')[0], 'src/core/ports.ts holds the ports');
      for (const query of ['getUserById', 'user id', 'E_CONN_4711', '4711'])
        assert.equal(found(query)[0], 'getUserById() throws E_CONN_4711', query);
      assert.equal(found('https://example.com/a?b=c#d')[0], 'see https://example.com/a?b=c#d');
      assert.equal(found('1.2.3-rc.4')[0], 'version 1.2.3-rc.4 of @scope/pkg');
      assert.equal(found('@scope/pkg')[0], 'version 1.2.3-rc.4 of @scope/pkg');
    });

    it('takes nothing in a query for syntax', () => {
      corpus(['alpha NEAR beta', 'plain']);
      const queries = [
        '"',
        '""',
        '"alpha',
        'alpha"',
        '*',
        'alpha*',
        '-alpha',
        '(',
        ')',
        '((alpha)',
        'NEAR',
        'NEAR/3',
        'alpha NEAR/1 beta',
        'AND',
        'OR',
        'NOT',
        'alpha OR',
        'body:alpha',
        'docid:1',
        "'",
        "'; DROP TABLE entries; --",
        '\\',
        '%',
        '_',
        '^alpha',
        '\0',
        'a\0b',
        '\ud83d',
        '😀',
        '\u200b',
        '',
        ' ',
        '.',
        '/',
        '?'.repeat(5000),
        'alpha '.repeat(5000),
        Array.from({ length: 3000 }, (_, i) => `word${i}`).join(' '),
      ];
      for (const query of queries) assert.doesNotThrow(() => found(query), JSON.stringify(query.slice(0, 40)));
      assert.deepEqual(found('body:alpha'), ['alpha NEAR beta']);
      assert.deepEqual(found('NEAR'), ['alpha NEAR beta']);
    });

    it('finds text that is not valid Unicode', () => {
      corpus(['half \ud83d and \0 nul, tangerine']);
      assert.deepEqual(found('tangerine'), ['half \ud83d and \0 nul, tangerine']);
    });

    it('finds abandoned branches, compacted originals and archived sessions, and no summaries or trash', () => {
      const session = store.session('main', 'Main');
      const root = store.say(session, 'root');
      store.say(session, 'the abandoned pomegranate');
      store.core.moveLeaf(session, root);
      store.say(session, 'the pomegranate that stayed');
      store.say(session, '', {
        type: 'compaction',
        operationId: 'op',
        summaryText: 'summary: pomegranate',
        firstKeptEntry: null,
        coversFrom: root,
        tokensBefore: 2,
        tokensAfter: 1,
        messagesBefore: 2,
        messagesAfter: 1,
        trigger: 'manual',
        rung: 'extractive',
        model: null,
        durationMs: 0,
        heldMs: 0,
        needsSummaryRetry: false,
      });
      const archived = store.session('archived');
      store.say(archived, 'an archived pomegranate');
      store.core.updateSession(archived, { archivedAt: 5 });
      const trashed = store.session('trashed');
      store.say(trashed, 'a trashed pomegranate');
      store.core.updateSession(trashed, { deletedAt: 5 });
      assert.deepEqual(
        found('pomegranate')
          .filter((text) => text !== 'root')
          .sort(),
        ['an archived pomegranate', 'the abandoned pomegranate', 'the pomegranate that stayed'],
      );
    });

    it('searches one session with what a fork shares, and refuses one that does not exist', () => {
      const main = store.session('main');
      const shared = store.say(main, 'shared marmalade');
      store.say(main, 'later marmalade');
      const fork = store.session('fork');
      store.database.connection.transaction(() =>
        store.database.connection.run('UPDATE sessions SET parent_session = ?, fork_entry = ? WHERE uuid = ?', [main, shared, fork]),
      );
      store.say(fork, 'marmalade in the fork');
      assert.deepEqual(found('marmalade', { session: fork }).sort(), ['marmalade in the fork', 'shared marmalade']);
      assert.deepEqual(found('marmalade', { session: main }).sort(), ['later marmalade', 'shared marmalade']);
      assert.throws(
        () => found('marmalade', { session: 'nobody' }),
        (error) => StoreError.is(error) && error.reason === 'invalid',
      );
    });

    it('filters by time and role, and says where each passage stands', () => {
      const session = store.session('main', 'Fruit');
      store.say(session, 'kiwi one', undefined, start);
      store.say(session, 'kiwi two', { type: 'message', role: 'assistant', text: 'kiwi two' }, start + 10 * day);
      store.say(session, '', { type: 'tool_call', callId: 'c', name: 'grep', input: { pattern: 'kiwi' } }, start + 20 * day);
      const long = `${'Filler. '.repeat(400)}The kiwi stands at the end.`;
      store.say(session, '', { type: 'tool_result', callId: 'c', name: 'grep', text: long, status: 'ok' }, start + 20 * day);
      if (indexed) store.index();
      const hits = (more: object) => store.core.search({ text: 'kiwi', limit: 20, ...more }).hits;
      assert.deepEqual(
        hits({ role: 'assistant' }).map(({ text }) => text),
        ['kiwi two'],
      );
      assert.deepEqual(
        hits({ from: start + day, to: start + 11 * day }).map(({ text }) => text),
        ['kiwi two'],
      );
      const tools = hits({ role: 'tool' });
      assert.deepEqual([...new Set(tools.map(({ speaker }) => speaker))].sort(), ['call of grep', 'result of grep']);
      const last = tools.find(({ text }) => text.includes('at the end'))!;
      assert.equal(last.text, long.slice(last.start, last.start + last.text.length));
      assert.deepEqual(
        { length: last.length, sessionTitle: last.sessionTitle, session: last.session, role: last.role },
        { length: long.length, sessionTitle: 'Fruit', session, role: 'tool' },
      );
    });

    it('finds by date, lifts what stands beside a match, and keeps to the limit', () => {
      const session = store.session('main');
      const at = new Date(2026, 2, 14, 12).getTime();
      store.say(session, 'Which port?', undefined, at);
      store.say(session, 'It is 54329.', undefined, at);
      for (let i = 0; i < 30; i++) store.say(store.session(`o${i}`), `filler port ${i}`, undefined, start);
      assert.ok(found('14 march 2026').slice(0, 2).includes('It is 54329.'));
      assert.deepEqual(found('54329').slice(0, 2), ['It is 54329.', 'Which port?']);
      assert.equal(found('port', { limit: 7 }).length, 7);
    });
  });
}

describe('store: search while the index follows', () => {
  let temp: TempFolder;
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(() => temp.remove());

  it('ranks what is indexed and what is not as one', async () => {
    const store = await SearchStore.open(temp.path);
    const session = store.session('main');
    store.say(session, 'old lemon');
    for (let i = 0; i < 5; i++) store.say(session, `filler ${i}`);
    store.index();
    store.say(session, 'new lemon');
    assert.deepEqual(
      store
        .texts('lemon')
        .filter((text) => text.includes('lemon'))
        .sort(),
      ['new lemon', 'old lemon'],
    );
    store.database.close();
  });

  it('finds what is not indexed whatever the time it takes, and says what was too much', async () => {
    const store = await SearchStore.open(temp.path);
    const session = store.session('main');
    store.say(session, 'The oldest is a quince.');
    for (let i = 0; i < 600; i++) store.say(session, `filler ${i}`);
    const { now } = performance;
    let clock = 0;
    performance.now = () => (clock += 10_000);
    try {
      const { hits, complete } = store.core.search({ text: 'quince', limit: 1 });
      assert.deepEqual([hits[0]?.text, complete], ['The oldest is a quince.', true]);
    } finally {
      performance.now = now;
    }

    for (let i = 0; i < 10; i++) store.say(session, `page ${i} `.repeat(125_000));
    for (let i = 0; i < 500; i++) store.say(session, `later ${i}`);
    const found = (more: object) => {
      const { hits, complete } = store.core.search({ text: 'quince', limit: 1, ...more });
      return [hits[0]?.text, complete];
    };
    assert.deepEqual(
      [found({}), found({ whole: true })],
      [
        [undefined, false],
        ['The oldest is a quince.', true],
      ],
    );
    store.database.close();
  });

  it('goes on where a killed process stopped, and indexes nothing twice', async () => {
    const first = await SearchStore.open(temp.path);
    const session = first.session('main');
    for (let i = 0; i < 300; i++) first.say(session, `number${i} apple`);
    assert.equal(first.core.index.indexBatch(0), true);
    assert.equal(first.core.index.indexedThrough, 1);
    const { connection } = first.database;
    // In the middle of a batch the log holds half of it.
    assert.throws(() =>
      connection.transaction(() => {
        connection.run("INSERT INTO entries_fts(docid, said) VALUES (2, 'number1')");
        throw new Error('killed');
      }),
    );
    first.database.abandon();

    const second = await SearchStore.open(temp.path);
    assert.equal(second.core.index.indexedThrough, 1);
    second.index();
    assert.equal(second.core.index.pending, 0);
    const { evidence, statistics } = second.core.index.evidence(['appl'], new Set(), { within: null, matching: null });
    assert.deepEqual(
      [evidence.length, new Set(evidence.map(({ position }) => position)).size, statistics.documentFrequency, statistics.count],
      [300, 300, [300], 300],
    );
    assert.equal(second.texts('number299')[0], 'number299 apple');
    second.database.close();
  });

  it('indexes 20,000 messages in short batches', async function () {
    this.timeout(120_000);
    const store = await SearchStore.open(temp.path);
    const session = store.session('main');
    let parent: string | null = null;
    for (let part = 0; part < 40; part++) {
      const entries = Array.from({ length: 500 }, (_, i) => {
        const n = part * 500 + i;
        const uuid = `m${n}`;
        const entry = {
          uuid,
          session,
          parent,
          createdAt: start + n * 1000,
          modelFacing: true,
          display: true,
          tokenEstimate: 1,
          content: {
            type: 'message' as const,
            role: 'user' as const,
            text: `message ${n} about topic${n % 97} and src/file${n % 501}.ts, word${(n * 7919) % 4999}`,
          },
        };
        parent = uuid;
        return entry;
      });
      store.core.append(session, { entries });
    }
    const batches = store.index();
    assert.equal(store.core.index.pending, 0);
    // How long one takes is measured by `npm run bench search`.
    assert.ok(batches.length >= 100, `${batches.length} batches`);
    assert.equal(store.texts('message 12345', { limit: 1 })[0]?.startsWith('message 12345 '), true);
    store.database.close();
  });

  it('indexes in the background of an owner and never of a reader, which searches its copy', async () => {
    const owner = await openHost(temp.path);
    await owner.call('createSession', [{ uuid: 's', key: 'cli:s', channel: 'cli', createdAt: start }]);
    let parent: string | null = null;
    for (let i = 0; i < 80; i++) {
      const uuid = `e${i}`;
      await owner.call('append', [
        's',
        {
          entries: [
            {
              uuid,
              session: 's',
              parent,
              createdAt: start + i,
              modelFacing: true,
              display: true,
              tokenEstimate: 1,
              content: { type: 'message', role: 'user', text: `melon ${i}` },
            },
          ],
        },
      ]);
      parent = uuid;
    }
    const indexed = async () => {
      const copy = await openHost(temp.path, { readonly: true });
      try {
        const { hits, complete } = await copy.call('search', [{ text: 'melon 79', limit: 1 }]);
        assert.deepEqual([hits[0]?.text, complete], ['melon 79', true]);
        return indexedThrough(temp.path);
      } finally {
        await copy.close();
      }
    };
    assert.equal(await indexed(), 0);
    await waitFor('the index', async () => (await indexed()) === 80);
    await owner.close();
  });
});

/** Of what another process would read. */
async function indexedThrough(folder: string): Promise<number> {
  const copy = openReaderCopy(await loadSqlite(wasmFile), storeFiles(folder), { reason: 'other_owner', detail: '' });
  try {
    return Number(copy.connection.get("SELECT value FROM meta WHERE key = 'fts_indexed'")?.['value'] ?? 0);
  } finally {
    copy.dispose();
  }
}
