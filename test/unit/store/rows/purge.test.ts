import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { StoreError } from '../../../../src/core/errors';
import type { EntryContent, NewEntry } from '../../../../src/core/session/entry';
import { blobFile } from '../../../../src/node/store/rows/blobFiles';
import { Connection } from '../../../../src/node/store/database/connection';
import { migrate } from '../../../../src/node/store/database/migrations';
import { ProblemList, verifyDerived, verifyTree } from '../../../../src/node/store/repair/verifyContents';
import { rebuildStore } from '../../../../src/node/store/repair/rebuildStore';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { openOperations, type StoreOperations } from '../../../../src/node/store/owner/storeOperations';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { compactionContent } from '../../../support/chat/compactionContent';
import { SearchStore } from '../../../support/store/searchStore';
import { tempFolder, testUuid, userMessage, wasmFile, type TempFolder } from '../../../support/store/storeTemp';

describe('store: deleting sessions for good', () => {
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

  const trash = (...sessions: string[]) => sessions.forEach((session) => store.core.updateSession(session, { deletedAt: 1 }));
  const purge = (...sessions: string[]) => (trash(...sessions), store.core.purge(sessions));
  const count = (table: string) => Number(store.database.connection.get(`SELECT count(*) AS n FROM ${table}`)?.['n']);
  const problems = () => {
    const list = new ProblemList();
    verifyTree(store.database.connection, list);
    verifyDerived(store.database.connection, list);
    return list.problems;
  };

  it('takes everything that belongs to a session alone, and keeps what it has cost', () => {
    const [gone, stays] = [store.session('gone'), store.session('stays')];
    for (const session of [gone, stays]) {
      const said = store.say(session, `${session} said marmalade`);
      const fold = userMessage(session, said, '', { content: compactionContent(`op of ${session}`, said) });
      const mark = userMessage(session, said, '', {
        content: {
          type: 'checkpoint',
          summary: 's',
          topics: [],
          keyDecisions: [],
          openQuestions: [],
          tokensAtCheckpoint: 1,
          messagesAtCheckpoint: 1,
          coversThrough: said,
        },
      });
      const usage = {
        entry: said,
        provider: 'p',
        model: 'm',
        kind: 'turn',
        input: 1,
        output: 2,
        cacheRead: 3,
        cacheWrite: 4,
        cost: 0.5,
        at: 10,
      } as const;
      store.core.append(session, {
        entries: [fold, mark],
        usage: [usage],
        memoryWrites: [{ entry: said, path: 'a', op: 'create', bytes: 1, at: 1 }],
      });
      store.core.saveSummaryRetry({ compaction: fold.uuid, nextAt: 1, attempts: 1 });
      store.core.savePin({ session, kind: 'entry', target: said, contentHash: null, at: 1 });
      store.core.saveDraft(session, { text: 'draft', attachments: [], at: 1 });
      store.core.saveQueue(session, [{ id: 'q', text: 'x' }]);
      store.core.writePartial({
        entry: testUuid(),
        session,
        parent: said,
        kind: 'message',
        provider: 'p',
        model: 'm',
        createdAt: 1,
        text: 'half',
      });
    }
    store.index();
    trash(gone);
    const preview = store.core.purgePreview([gone, 'nobody', gone]);
    assert.deepEqual(preview, { sessions: [gone], entries: 3, keptEntries: 0, bytes: preview.bytes });
    assert.ok(preview.bytes > 500 && preview.bytes < 2_000, String(preview.bytes));
    const tables = [
      'sessions',
      'entries',
      'bodies',
      'compactions',
      'checkpoints',
      'memory_writes',
      'retry_queue',
      'pins',
      'drafts',
      'queue',
      'partials',
      'partial_chunks',
    ];
    const before = tables.map(count);
    assert.deepEqual(store.core.purge([gone, 'nobody']), preview);
    assert.deepEqual(
      tables.map(count),
      before.map((n) => n / 2),
    );
    assert.deepEqual(store.core.usageTotals({}), [
      {
        provider: 'p',
        model: 'm',
        requests: 2,
        input: 2,
        output: 4,
        cacheRead: 6,
        cacheWrite: 8,
        cost: 1,
        requestsWithoutCost: 0,
        requestsEstimated: 0,
      },
    ]);
    assert.deepEqual(store.core.usageTotals({ session: gone }), []);
    assert.deepEqual([store.core.session(gone), problems()], [undefined, []]);
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(store.texts('marmalade'), ['stays said marmalade']);
      store.index();
    }
    assert.deepEqual(store.core.purge([gone]), { sessions: [], entries: 0, keptEntries: 0, bytes: 0 }, 'again');
    assert.throws(() => store.core.purge([stays]), isInvalid);
    assert.throws(() => store.database.connection.run('DELETE FROM bodies'), /append-only/);
  });

  it('leaves no trace of a text in the file or its log', () => {
    const session = store.session('gone');
    store.say(session, `the secret is ${'quincequince '.repeat(500)}`);
    store.say(store.session('stays'), 'something else');
    store.index();
    purge(session);
    const { main, wal } = storeFiles(temp.path);
    for (const file of [main, wal]) assert.equal(readFileSync(file).includes('quince'), false, file);
  });

  it('leaves no trace of what was streamed, drafted and indexed either, in any of many sessions', () => {
    for (let round = 0; round < 24; round++) {
      const session = store.session(round % 2 === 1 ? `gone${round}` : `stays${round}`);
      const word = round % 2 === 1 ? 'quince' : 'medlar';
      const text = (length: number) => `${word}${round} ${word}s `.repeat(length);
      store.core.saveDraft(session, { text: text(60), attachments: [], at: 1 });
      store.core.saveDraft(session, null);
      const entry = userMessage(session, null, text(round * 7 + 1));
      for (let i = 0; i <= round; i++)
        store.core.writePartial({
          entry: entry.uuid,
          session,
          parent: null,
          kind: 'message',
          provider: 'p',
          model: 'm',
          createdAt: 1,
          text: text(20),
        });
      store.core.append(session, { entries: [entry] });
      store.say(session, text(2));
      store.index();
    }
    purge(...Array.from({ length: 12 }, (_, i) => `gone${2 * i + 1}`));
    store.index();
    const { main, wal } = storeFiles(temp.path);
    for (const file of [main, wal]) assert.equal(readFileSync(file).includes('quince'), false, file);
    assert.equal(store.texts('medlar2').length, 2);
  });

  it('leaves everything as it was when it fails near its end', () => {
    const session = store.session('gone');
    store.say(session, `marmalade ${'x'.repeat(100_000)}`);
    store.index();
    trash(session);
    const { connection } = store.database;
    const entries = store.core.page(session, { limit: 9 });
    // The last step of all, after the index has been dropped.
    connection.exec("CREATE TEMP TRIGGER stop BEFORE INSERT ON meta WHEN NEW.key = 'purge_files' BEGIN SELECT RAISE(ABORT, 'stop'); END");
    assert.throws(() => store.core.purge([session]), StoreError);
    assert.deepEqual(
      { page: store.core.page(session, { limit: 9 }), pending: store.core.index.pending, problems: problems() },
      { page: entries, pending: 0, problems: [] },
    );
    store.core.updateSession(session, { deletedAt: null });
    assert.ok(store.texts('marmalade')[0]?.startsWith('marmalade'));
    connection.exec('DROP TRIGGER stop');
    assert.equal(purge(session).entries, 1);
    assert.deepEqual(
      { texts: store.texts('marmalade'), countEntries: count('entries'), countPassages: count('passages') },
      { texts: [], countEntries: 0, countPassages: 0 },
    );
  });

  it('gives out neither a session id nor a number of an entry again', async () => {
    const createdAt = new Date(2031, 4, 6, 12).getTime();
    const create = () => store.core.createSession({ uuid: testUuid(), channel: 'cli', createdAt });
    const first = create();
    const last = create();
    store.say(first.uuid, 'first');
    store.say(last.uuid, 'last');
    assert.equal(last.id, '20310506_002');
    purge(last.uuid);
    assert.equal(create().id, '20310506_003');
    store.database.close();
    store = await SearchStore.open(temp.path);
    assert.equal(create().id, '20310506_004');
    purge(first.uuid);
    const target = new Connection((await loadSqlite(wasmFile)).openMemory(), { file: 'rebuilt', beforeCommit: () => undefined });
    migrate(target, () => undefined);
    rebuildStore(store.database.connection, target);
    for (const core of [store.core, openOperations(target, temp.path, 'owner')]) {
      const { uuid, id } = core.createSession({ uuid: testUuid(), channel: 'cli', createdAt });
      assert.deepEqual([id, core.append(uuid, { entries: [userMessage(uuid, null, 'next')] })[0]?.seq], ['20310506_005', 3]);
    }
    target.close();
  });

  it('hands what a fork shares on to it, labels included, and lets the next fork begin there', () => {
    const root = store.session('root');
    const shared = [1, 2, 3, 4].map((i) => store.say(root, `shared ${i}`));
    const alone = store.say(root, 'alone');
    const label = (target: string) =>
      store.core.append(root, { entries: [userMessage(root, target, '', { content: { type: 'label', target, label: 'l' } })] })[0]!.uuid;
    const [kept, lost] = [label(shared[1]!), label(alone)];
    const fork = (entry: string, createdAt: number) =>
      store.core.forkSession(entry, { uuid: testUuid(), channel: 'vscode', createdAt }).uuid;
    const later = fork(shared[3]!, 1_763_800_000_002);
    const early = fork(shared[1]!, 1_763_800_000_001);
    const answer = store.say(early, 'early goes on');
    assert.deepEqual(purge(root), { sessions: [root], entries: 2, keptEntries: 5, bytes: 102 });
    const owner = (uuid: string) => store.core.entries([uuid])[0]?.session;
    assert.deepEqual([...shared, kept, alone, lost, answer].map(owner), [early, early, later, later, early, undefined, undefined, early]);
    const line = (uuid: string) => {
      const { parentSession, forkEntry, messageCount, totalTokens } = store.core.session(uuid)!;
      return { parentSession, forkEntry, messageCount, totalTokens };
    };
    assert.deepEqual(line(early), { parentSession: null, forkEntry: null, messageCount: 3, totalTokens: 12 });
    assert.deepEqual(line(later), { parentSession: early, forkEntry: shared[1], messageCount: 2, totalTokens: 6 });
    assert.deepEqual(problems(), []);
  });

  it('leaves what a fork has inherited to be found in it', () => {
    const root = store.session('root');
    const last = [1, 2].map((i) => store.say(root, `marmalade ${i}`)).at(-1)!;
    store.index();
    const fork = store.core.forkSession(last, { uuid: testUuid(), channel: 'cli', createdAt: 1_763_800_000_001 }).uuid;
    const found = () => store.texts('marmalade', { session: fork }).sort();
    assert.deepEqual(found(), ['marmalade 1', 'marmalade 2']);
    purge(root);
    assert.deepEqual(found(), ['marmalade 1', 'marmalade 2']);
    store.index();
    assert.deepEqual(found(), ['marmalade 1', 'marmalade 2']);
  });

  it('removes the files that nobody else needs, also after a crash in between', async () => {
    const [a, b] = [store.session('a'), store.session('b')];
    const attachment = (hash: string): EntryContent => ({
      type: 'message',
      role: 'user',
      text: '',
      attachments: [{ kind: 'image', name: 'n', hash, mime: 'image/png' }],
    });
    const put = (byte: number) => store.core.putBlob(new Uint8Array(1000).fill(byte), 'image/png');
    const [own, common, drafted, unsent] = [put(1), put(2), put(3), put(4)];
    store.say(a, '', attachment(own));
    for (const session of [a, b]) store.say(session, '', attachment(common));
    store.say(a, '', attachment(drafted));
    store.core.saveDraft(b, { text: '', attachments: [{ kind: 'file', name: 'n', hash: drafted, mime: 'text/plain' }], at: 1 });
    store.say(a, 'x'.repeat(100_000));
    const long = String(store.database.connection.get('SELECT blob_hash FROM bodies WHERE blob_hash IS NOT NULL')?.['blob_hash']);
    const all = [own, common, drafted, unsent, long];
    const there = () => all.map((hash) => existsSync(blobFile(temp.path, hash)));
    trash(a);
    const { bytes } = store.core.purgePreview([a]);
    assert.ok(bytes > 101_000 && bytes < 111_000, String(bytes));
    // A folder in its place cannot be unlinked: as a file that is in use elsewhere.
    rmSync(blobFile(temp.path, own));
    mkdirSync(blobFile(temp.path, own));
    store.core.purge([a]);
    assert.deepEqual(there(), [true, true, true, true, false]);
    rmSync(blobFile(temp.path, own), { recursive: true });
    writeFileSync(blobFile(temp.path, own), '');
    store.database.close();
    store = await SearchStore.open(temp.path);
    assert.deepEqual(there(), [false, true, true, true, false]);
    assert.deepEqual(
      store.database.connection.all('SELECT hash FROM blobs').map(({ hash }) => hash),
      [common, drafted, unsent].sort(),
    );
    assert.equal(count("meta WHERE key = 'purge_files'"), 0);
    store.say(b, 'x'.repeat(100_000));
    assert.equal(existsSync(blobFile(temp.path, long)), true);
  });
});

interface Step {
  readonly do: 'say' | 'fork' | 'label' | 'fold' | 'moveLeaf' | 'pin';
  readonly session: number;
  readonly entry: number;
}

describe('store: purging any of any sessions', () => {
  const nat = fc.nat(1000);
  const one = (weight: number, name: Step['do']) => ({ weight, arbitrary: fc.record({ do: fc.constant(name), session: nat, entry: nat }) });
  const steps = fc.array(fc.oneof(one(12, 'say'), one(5, 'fork'), one(2, 'label'), one(1, 'fold'), one(3, 'moveLeaf'), one(1, 'pin')), {
    minLength: 5,
    maxLength: 40,
  });
  const rounds = fc.array(fc.uniqueArray(nat, { maxLength: 4 }), { minLength: 1, maxLength: 3 });

  it('leaves the transcript and the projection of every other session as they were', async function () {
    this.timeout(60_000);
    await fc.assert(fc.asyncProperty(steps, rounds, holds), { numRuns: 20 });
  });
});

async function holds(steps: readonly Step[], rounds: readonly (readonly number[])[]): Promise<void> {
  const temp = tempFolder();
  const { core, database } = await SearchStore.open(temp.path);
  try {
    const sessions = ['s0', 's1'].map((uuid) => core.createSession({ uuid, channel: 'cli', createdAt: 1 }).uuid);
    const entries: NewEntry[] = [];
    for (const step of steps) take(core, sessions, entries, step);
    let left = sessions;
    let highest = Math.max(0, ...core.entries(entries.map(({ uuid }) => uuid)).map(({ seq }) => seq));
    for (const round of rounds) {
      const doomed = [...new Set(round.map((n) => left[n % left.length]).filter((uuid) => uuid !== undefined))];
      left = left.filter((uuid) => !doomed.includes(uuid));
      const before = left.map((uuid) => view(core, uuid));
      for (const uuid of doomed) core.updateSession(uuid, { deletedAt: 1 });
      const preview = core.purgePreview(doomed);
      assert.deepEqual(core.purge(doomed), preview);
      assert.deepEqual(
        left.map((uuid) => view(core, uuid)),
        before,
      );
      const list = new ProblemList();
      verifyTree(database.connection, list);
      verifyDerived(database.connection, list);
      assert.deepEqual(list.problems, []);
      const reached = new Set(left.flatMap((uuid) => reach(core, uuid, entries)));
      const stored = core.entries(entries.map(({ uuid }) => uuid));
      assert.deepEqual(
        stored.map(({ uuid }) => uuid).filter((uuid) => !reached.has(uuid)),
        [],
        'nothing stays that nobody reaches',
      );
      for (const uuid of left) {
        const [added] = core.append(uuid, { entries: [userMessage(uuid, core.session(uuid)!.leaf, 'after')] });
        assert.ok(added!.seq > highest);
        highest = added!.seq;
        entries.push(added!);
      }
    }
  } finally {
    database.close();
    temp.remove();
  }
}

function take(core: StoreOperations, sessions: string[], entries: NewEntry[], step: Step): void {
  const session = sessions[step.session % sessions.length]!;
  const main = entries.filter(({ content }) => content.type !== 'label');
  const entry = main[step.entry % main.length]?.uuid ?? null;
  const add = (parent: string | null, content?: EntryContent) => {
    const added = userMessage(session, parent, `text ${entries.length}`, content ? { content } : {});
    core.append(session, {
      entries: [added],
      usage: [
        {
          entry: added.uuid,
          provider: 'p',
          model: 'm',
          kind: 'turn',
          input: 1,
          output: 1,
          cacheRead: 0,
          cacheWrite: 0,
          cost: 1,
          at: entries.length,
        },
      ],
    });
    entries.push(added);
  };
  const { leaf } = core.session(session)!;
  if (step.do === 'say') add(step.entry % 9 === 0 ? null : step.entry % 4 === 0 ? entry : leaf);
  else if (step.do === 'fork' && entry)
    sessions.push(core.forkSession(entry, { uuid: testUuid(), channel: 'cli', createdAt: step.entry }).uuid);
  else if (step.do === 'label' && entry) add(entry, { type: 'label', target: entry, label: 'l' });
  else if (step.do === 'fold' && leaf) add(leaf, compactionContent(`op ${entries.length}`, leaf, { supersedes: null }));
  else if (step.do === 'moveLeaf') core.moveLeaf(session, entry);
  else if (step.do === 'pin' && entry) core.savePin({ session, kind: 'entry', target: entry, contentHash: null, at: 1 });
}

/** What the user sees and the model is sent, whoever owns the entries. */
function view(core: StoreOperations, session: string): unknown {
  const plain = (entries: readonly NewEntry[]) => entries.map(({ session: _, ...entry }) => entry);
  const { entries, lastUsage } = core.liveBranch(session);
  const { leaf, title, id } = core.session(session)!;
  return {
    leaf,
    title,
    id,
    lastUsage,
    live: plain(entries),
    page: plain(core.page(session, { limit: 1000 }).entries),
    pins: core.entries(core.pins(session).map(({ target }) => target)).map(({ uuid }) => uuid),
  };
}

/** The session's entries, what is before them, and what hangs off those. */
function reach(core: StoreOperations, session: string, entries: readonly NewEntry[]): string[] {
  const { leaf, forkEntry } = core.session(session)!;
  const stored = core.entries(entries.map(({ uuid }) => uuid));
  const tops = [
    leaf,
    forkEntry,
    ...core.pins(session).map(({ target }) => target),
    ...stored.filter((entry) => entry.session === session).map(({ uuid }) => uuid),
  ];
  const reached = new Set<string>();
  for (const top of tops)
    for (let at = top; at !== null && !reached.has(at); at = entries.find(({ uuid }) => uuid === at)?.parent ?? null) reached.add(at);
  for (const { uuid, parent, content } of entries)
    if (content.type === 'label' && parent !== null && reached.has(parent)) reached.add(uuid);
  return [...reached];
}

function isInvalid(error: unknown): boolean {
  return StoreError.is(error) && error.reason === 'invalid';
}
