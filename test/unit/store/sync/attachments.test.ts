import { deepStrictEqual, ok, rejects } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { StoreError, type StoreErrorReason } from '../../../../src/core/errors';
import { blobFile } from '../../../../src/node/store/rows/blobFiles';
import { testUuid } from '../../../support/store/storeTemp';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { SyncDevice, unreadable } from '../../../support/sync/syncRig';

/** Three records of it. */
const picture = randomBytes(2_500_000);

describe('attachments on several devices', function () {
  this.timeout(30_000);
  let engine: MemoryEngine;
  let one: SyncDevice;
  let two: SyncDevice;
  let session: string;
  beforeEach(async () => {
    engine = new MemoryEngine();
    one = await SyncDevice.open();
    two = await SyncDevice.open();
    await one.join();
    await two.join();
    session = await one.begin('Quince');
  });
  afterEach(async () => {
    await one.close();
    await two.close();
  });

  const bytesOf = async (device: SyncDevice, hash: string) => (await device.store.blob(hash))?.length ?? null;
  const rowsBeside = () => [...engine.attachments().logs.values()].reduce((sum, log) => sum + log.size, 0);

  it('come in pieces after the texts, beside the logs, and once for each session', async () => {
    const hash = await one.attach(session, picture);
    await one.attach(session, picture);
    await one.syncWhole(engine);
    deepStrictEqual([engine.bytes < 5_000, rowsBeside()], [true, 3]);
    const seen: unknown[] = [];
    const report = await two.syncWhole(engine, {
      onTexts: () => seen.push([...engine.attachments().calls].filter((call) => call === 'pull').length),
    });
    deepStrictEqual([seen, report.problems, Buffer.from((await two.store.blob(hash))!).equals(picture)], [[0], [], true]);
    engine.attachments().calls.length = 0;
    await one.syncWhole(engine);
    await two.syncWhole(engine);
    deepStrictEqual(engine.attachments().calls, []);
  });

  it('come newest first, and at once when somebody looks', async () => {
    const hashes: string[] = [];
    for (let n = 0; n < 4; n++) hashes.push(await one.attach(session, Buffer.from(`picture ${n}`), { createdAt: 1_763_800_000_000 + n }));
    await one.syncWhole(engine);
    const order: number[] = [];
    const note = async () => {
      for (const [n, hash] of hashes.entries()) if (!order.includes(n) && (await bytesOf(two, hash)) !== null) order.push(n);
    };
    const next = async () => {
      await two.syncWhole(engine, { isDue: () => true });
      await note();
    };
    await next();
    deepStrictEqual(await two.store.syncAskAttachment(hashes[0]!), true);
    for (let n = 0; n < 3; n++) await next();
    deepStrictEqual(order, [3, 0, 2, 1]);
    deepStrictEqual(await two.store.syncAskAttachment(hashes[0]!), false);
  });

  it('are looked for again where their device had not sent them yet', async () => {
    const hash = await one.attach(session, picture);
    await one.sync(engine);
    await two.syncWhole(engine);
    deepStrictEqual(await bytesOf(two, hash), null);
    await one.syncWhole(engine);
    await two.syncWhole(engine);
    deepStrictEqual(await bytesOf(two, hash), picture.length);
  });

  it('are sent when they can be read, where they could not be at first, and keep no other back meanwhile', async () => {
    const other = await one.attach(session, Buffer.from('other'), { createdAt: 1_763_800_000_000 });
    const hash = await one.attach(session, picture, { createdAt: 1_763_800_000_001 });
    await unreadable(blobFile(dirname(one.store.status.file), hash), () => rejects(one.syncWhole(engine), { reason: 'io' }));
    await two.syncWhole(engine);
    deepStrictEqual([await bytesOf(two, other), await bytesOf(two, hash)], [5, null]);
    await one.syncWhole(engine);
    await two.syncWhole(engine);
    deepStrictEqual(await bytesOf(two, hash), picture.length);
  });

  const attachAll = async (count: number) => {
    const hashes: string[] = [];
    for (let n = 0; n < count; n++)
      hashes.push(await one.attach(session, Buffer.from(`picture ${n}`), { createdAt: 1_763_800_000_000 + n }));
    return hashes;
  };
  /** What the store says before it gives out a piece; returns how it gives them out as before. */
  const beforePieces = (says: (hash: string) => Promise<unknown>) => {
    const { store } = one;
    const piece = store.syncAttachmentPiece.bind(store);
    store.syncAttachmentPiece = (hash, index) => says(hash).then(() => piece(hash, index));
    return () => (store.syncAttachmentPiece = piece);
  };
  const refusal = (reason: StoreErrorReason, hash = '') => Promise.reject(new StoreError(reason, `Refused: ${hash}`));

  it('that may not be read keep no other back, and what there is to be done is listed once for all of them', async () => {
    const hashes = await attachAll(6);
    const refused = [hashes[1], hashes[3], hashes[5]];
    const restore = beforePieces((hash) => (refused.includes(hash) ? refusal('permission', hash) : Promise.resolve()));
    const listed: string[] = [];
    const list = one.store.syncAttachments.bind(one.store);
    one.store.syncAttachments = (state) => {
      listed.push(state);
      return list(state);
    };
    await rejects(one.syncWhole(engine), { reason: 'permission', message: `Refused: ${hashes[5]}` });
    deepStrictEqual([listed, rowsBeside()], [['tried', 'asked', 'unsent', 'gone', 'wanted'], 3]);
    restore();
    await one.syncWhole(engine);
    deepStrictEqual(rowsBeside(), 6);
  });

  it('are left at the first one where the disk is full, or where it cannot be kept', async () => {
    await attachAll(3);
    const tried: string[] = [];
    const restore = beforePieces(() => refusal('disk_full', String(tried.push('send'))));
    await rejects(one.syncWhole(engine), { reason: 'disk_full' });
    restore();
    await one.syncWhole(engine);
    two.store.syncAttachmentCame = () => refusal('permission', String(tried.push('fetch')));
    await rejects(two.syncWhole(engine), { reason: 'permission' });
    deepStrictEqual(tried, ['send', 'fetch']);
  });

  it('of a session that is deleted for good while others fail are passed over', async () => {
    const other = await one.begin('Medlar');
    await one.attach(other, Buffer.from('other'), { createdAt: 1_763_800_000_000 - 1 });
    await one.store.updateSession(other, { deletedAt: 1 });
    const [sent, refused] = await attachAll(2);
    const tried: string[] = [];
    beforePieces((hash) => {
      tried.push(hash);
      return hash === refused ? refusal('io') : one.store.purge([other]);
    });
    await rejects(one.syncWhole(engine), { reason: 'io' });
    deepStrictEqual([tried, rowsBeside(), await one.store.syncAttachments('gone')], [[refused, sent], 1, []]);
  });

  it('that were changed are named, and not kept', async () => {
    const hash = await one.attach(session, Buffer.from('picture'));
    await one.syncWhole(engine);
    for (const log of engine.attachments().logs.values())
      for (const [index, row] of log)
        log.set(index, { ...row, sealed: row.sealed.map((byte, at) => (at === row.sealed.length - 1 ? byte ^ 1 : byte)) });
    const { problems } = await two.syncWhole(engine);
    deepStrictEqual([problems.map(({ kind }) => kind), await bytesOf(two, hash)], [['damaged'], null]);
  });

  it('are given back to an engine that has lost them, by whoever has them', async () => {
    const hash = await one.attach(session, picture);
    await one.syncWhole(engine);
    await two.syncWhole(engine);
    const restored = new MemoryEngine();
    await two.syncWhole(restored);
    deepStrictEqual(
      [...restored.attachments().logs.values()].map((log) => log.size),
      [3],
    );
    const three = await SyncDevice.open();
    await three.join();
    await three.syncWhole(restored);
    deepStrictEqual(await bytesOf(three, hash), picture.length);
    await three.close();
  });

  it('go from the engine with their session, and stay for a fork', async () => {
    const hash = await one.attach(session, Buffer.from('shared'));
    const shared = (await one.store.session(session))!.leaf!;
    const gone = await one.attach(session, Buffer.from('only here'));
    await one.store.forkSession(shared, { uuid: testUuid(), channel: 'cli', createdAt: 1_763_800_000_500, title: 'Fork' });
    await one.syncWhole(engine);
    await two.syncWhole(engine);
    deepStrictEqual(rowsBeside(), 2);
    await one.store.updateSession(session, { deletedAt: 1 });
    await one.store.purge([session]);
    await one.syncWhole(engine);
    await two.syncWhole(engine);
    deepStrictEqual([rowsBeside(), await bytesOf(two, gone)], [1, null]);
    const three = await SyncDevice.open();
    await three.join();
    deepStrictEqual((await three.syncWhole(engine)).problems, []);
    ok((await bytesOf(three, hash)) !== null);
    await three.close();
  });
});
