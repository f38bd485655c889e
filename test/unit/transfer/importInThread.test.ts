import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { openStore } from '../../../src/node/store/client/openStore';
import type { ImportProgress } from '../../../src/node/transfer/import/importFiles';
import { importInThread } from '../../../src/node/transfer/import/importInThread';
import { importFixtures } from '../../support/store/importRig';
import { openTestStore, tempFolder, workerFile, type TempFolder } from '../../support/store/storeTemp';

const options = { workerFile: join(workerFile, '..', 'storeTaskWorker.js') };
const messages = 8_000;

describe('an import in a thread of its own', function () {
  this.timeout(60_000);
  let temp: TempFolder;
  let store: SessionStore;
  let big: string;

  beforeEach(async () => {
    temp = tempFolder();
    big = join(temp.path, 'big.jsonl');
    store = await openStore({ folder: join(temp.path, 'store'), workerFile, label: 'test' });
    const row = (i: number) => ({
      type: 'message',
      id: `r${i}`,
      parentId: i === 0 ? null : `r${i - 1}`,
      timestamp: '2026-09-01T10:00:01Z',
      message: { role: 'user', content: `m${i}` },
    });
    const rows = [
      { type: 'session', version: 3, id: 'big', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' },
      ...Array.from({ length: messages }, (_, i) => row(i)),
    ];
    writeFileSync(big, rows.map((one) => `${JSON.stringify(one)}\n`).join(''));
  });
  afterEach(async () => {
    await store.close();
    temp.remove();
  });

  it('stores what an import in this thread does, and says how far it is', async () => {
    const told: ImportProgress[] = [];
    const sources = [big, join(importFixtures, 'pi-v3.jsonl')];
    const { sessions, failed, cancelled } = await importInThread(store, sources, {
      ...options,
      onProgress: (progress) => told.push(progress),
    });
    assert.deepEqual(
      { failed, cancelled, sessions: sessions.map(({ title, entriesAdded }) => [title, entriesAdded]) },
      {
        failed: [],
        cancelled: false,
        sessions: [
          ['m0', messages],
          ['Tide ports', 27],
        ],
      },
    );
    assert.ok(told.length > 0 && told.every(({ files, fraction }) => files === 2 && fraction > 0 && fraction <= 1), JSON.stringify(told));
    assert.deepEqual(
      told.map(({ records }) => records),
      told.map(({ records }) => records).toSorted((a, b) => a - b),
    );
    const again = await importInThread(store, sources, options);
    assert.deepEqual(
      again.sessions.map(({ outcome }) => outcome),
      ['known', 'known'],
    );
  });

  it('keeps what it has when it is stopped, says so, and adds the rest the next time', async () => {
    const stop = new AbortController();
    const report = await importInThread(store, [big], { ...options, signal: stop.signal, onProgress: () => stop.abort() });
    const [session] = report.sessions;
    assert.ok(report.cancelled && session && session.entriesAdded > 0 && session.entriesAdded < messages, JSON.stringify(report));
    assert.equal((await store.session(session.uuid))?.messageCount, session.entriesAdded);
    const next = await importInThread(store, [big], options);
    assert.deepEqual(
      {
        cancelled: next.cancelled,
        entriesAdded: next.sessions[0]?.entriesAdded,
        branchesCount: (await store.branches(session.uuid)).length,
      },
      { cancelled: false, entriesAdded: messages - session.entriesAdded, branchesCount: 1 },
    );
    const stopped = await importInThread(store, [big], { ...options, signal: AbortSignal.abort() });
    assert.deepEqual(stopped, { sessions: [], failed: [], passedOver: [], cancelled: true });
  });

  it('goes through the window that owns the store, and is told to others', async () => {
    const other = await openTestStore(join(temp.path, 'store'), 'other');
    const changed = new Set<string>();
    other.onDidChange(({ kind }) => changed.add(kind));
    const { sessions } = await importInThread(store, [big], options);
    assert.equal((await other.session(sessions[0]!.uuid))?.messageCount, messages);
    assert.ok(changed.has('branch'), [...changed].join());
    await other.close();
  });

  it('ends when the store is closed, with what it had stored on disk', async () => {
    const importing = importInThread(store, [big], { ...options, onProgress: () => void store.close() });
    await assert.rejects(importing, { reason: 'closed' });
    store = await openStore({ folder: join(temp.path, 'store'), workerFile, label: 'test' });
    const { sessions } = await importInThread(store, [big], options);
    assert.deepEqual(
      [sessions[0]!.entriesAdded + sessions[0]!.entriesKnown, (await store.branches(sessions[0]!.uuid)).length],
      [messages, 1],
    );
  });

  it('is refused by a store that has no thread', async () => {
    const plain = await openTestStore(join(temp.path, 'plain'));
    await assert.rejects(importInThread(plain, [big], options), /thread/);
    await plain.close();
  });
});
