import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { StoreError } from '../../../../src/core/errors';
import { reserveLease } from '../../../../src/node/store/sharing/leaseReservation';
import { openStore } from '../../../../src/node/store/client/openStore';
import { backUpFolder, restoreFile } from '../../../../src/node/store/client/storeTask';
import { StoreAccess } from '../../../../src/vscode/history/storeAccess';
import type { ChildReport } from '../../../support/store/storeChild';
import { openTestStore, tempFolder, workerFile, type TempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

const childFile = join(__dirname, '..', '..', '..', 'support', 'store', 'storeChild.js');
const tasks = { workerFile: join(dirname(workerFile), 'storeTaskWorker.js') };
const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };

describe('store: a window that needs it for itself, while another one owns it', function () {
  this.timeout(60_000);
  let temp: TempFolder;
  let owner: ChildProcess;
  let reports: ChildReport[];
  let access: StoreAccess;
  beforeEach(() => {
    temp = tempFolder();
    reports = [];
    access = new StoreAccess(
      ({ repair }) => openStore({ folder: temp.path, workerFile, label: 'guest', repair, waitForOwnerMs: 10_000 }),
      log,
      () => Promise.resolve(reserveLease(temp.path)),
    );
  });
  afterEach(async () => {
    await access.close();
    owner.kill('SIGKILL');
    temp.remove();
  });

  /** A process of its own, which owns the store and does so many turns. */
  async function startOwner(turns: number): Promise<void> {
    owner = spawn(process.execPath, [childFile, 'share', temp.path, String(turns)], { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: owner.stdout! }).on('line', (line) => reports.push(JSON.parse(line) as ChildReport));
    await waitFor('the owner', () => reports.some(({ type }) => type === 'stored' || type === 'done'), { interval: 5 });
  }
  const stored = () => reports.flatMap((report) => (report.type === 'stored' ? report.uuid : []));
  const isDone = () => reports.some(({ type }) => type === 'done');
  const ownerIs = () => reports.findLast((report) => report.type === 'open')?.access;

  it('repairs it from where it is, and the owner goes on over it without losing a word', async () => {
    await startOwner(60);
    assert.equal((await access.get()).status.access, 'shared');
    for (let round = 0; round < 2; round++) {
      const { status } = await access.reopen({ repair: () => true });
      assert.deepEqual([status.access, status.note?.reason], ['owner', 'recovered']);
      await waitFor('the other window to follow', () => ownerIs() === 'shared', { interval: 5 });
    }
    await waitFor('its turns', isDone, { timeout: 30_000, interval: 5 });
    const entries = await (await access.get()).entries(stored());
    assert.deepEqual(
      entries.map(({ uuid }) => uuid),
      stored(),
    );
    assert.equal(stored().length, 120);
    await access.close();
    await waitFor('the store to go back', () => ownerIs() === 'owner', { interval: 5 });
  });

  it('puts a backup in its place', async () => {
    await startOwner(4);
    await waitFor('its turns', isDone, { interval: 5 });
    const backup = join(temp.path, 'backups', 'one.db');
    await backUpFolder(temp.path, backup, { ...tasks, overwrite: false });
    const store = await access.get();
    await store.createSession({ uuid: 'later', channel: 'cli', createdAt: 1 });
    const again = await access.reopen({ between: async () => void (await restoreFile(temp.path, backup, { ...tasks, label: 'restore' })) });
    assert.equal(again.status.access, 'owner');
    assert.deepEqual((await again.listSessions()).map(({ uuid }) => uuid).includes('later'), false);
    assert.equal((await again.entries(stored())).length, 8);
    await waitFor('the other window to follow', () => ownerIs() === 'shared', { interval: 5 });
  });

  it('leaves a window that was read-only meanwhile to write again by itself, however long it takes', async () => {
    await startOwner(4);
    await waitFor('its turns', isDone, { interval: 5 });
    const backup = join(temp.path, 'backups', 'one.db');
    await backUpFolder(temp.path, backup, { ...tasks, overwrite: false });
    await access.get();
    const follower = spawn(process.execPath, [childFile, 'follow', temp.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const seen: string[] = [];
      createInterface({ input: follower.stdout }).on('line', (line) =>
        seen.push((JSON.parse(line) as Extract<ChildReport, { type: 'open' }>).access),
      );
      await waitFor('the third window', () => seen.at(-1) === 'shared', { interval: 5 });
      await access.reopen({
        between: async () => {
          await waitFor('it to read only', () => seen.at(-1) === 'readonly', { interval: 5 });
          await restoreFile(temp.path, backup, { ...tasks, label: 'restore' });
        },
      });
      await waitFor('it to write again', () => seen.at(-1) === 'shared', { interval: 5 });
      // It never took the store itself. Where the owner lets go slowly, it reads only once before: until this window has taken over.
      assert.deepEqual(new Set(seen), new Set(['shared', 'readonly']));
    } finally {
      follower.kill('SIGKILL');
    }
  });

  it('is refused what it has not reserved, and then nothing changes', async () => {
    await startOwner(0);
    const guest = await openTestStore(temp.path, 'guest');
    await assert.rejects(guest.takeOver(), (error) => StoreError.is(error) && error.reason === 'conflict');
    assert.deepEqual([guest.status.access, ownerIs()], ['shared', 'owner']);
    await guest.close();
  });
});
