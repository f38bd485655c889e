import assert from 'node:assert/strict';
import { fork, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CancelledError, StoreError } from '../../../../src/core/errors';
import { acquireLease, HeartbeatWatch, Lease, releaseLease } from '../../../../src/node/store/sharing/lease';
import type { LeaseRecord } from '../../../../src/node/store/sharing/lease';
import { thisProcess } from '../../../../src/node/store/sharing/processIdentity';
import type { ChildOrder } from '../../../support/store/storeChild';
import { tempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

const childFile = join(__dirname, '..', '..', '..', 'support', 'store', 'storeChild.js');
const timing = { beatMs: 15, missedBeats: 3, missedWhenThere: 10_000, pollMs: 5 };

describe('store: the lease', () => {
  const temp = tempFolder();
  const file = join(temp.path, 'owner.lease');
  const children: ChildProcess[] = [];

  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const name of readdirSync(temp.path)) rmSync(join(temp.path, name));
  });
  after(() => temp.remove());

  const acquire = (waitMs = 0, signal?: AbortSignal) =>
    acquireLease(file, { label: 'test', waitMs, timing, ...(signal ? { signal } : {}) });
  const take = async () => {
    const lease = await acquire();
    assert.ok(lease instanceof Lease);
    return lease;
  };
  const leave = (record: Partial<LeaseRecord['process']>, nonce = 'left-behind', name = file) => {
    const process = { ...thisProcess(), ...record };
    writeFileSync(name, JSON.stringify({ nonce, label: 'gone', since: 1, process } satisfies LeaseRecord));
  };

  it('is held by one at a time and free again after release', async () => {
    const lease = await take();
    const second = await acquire();
    assert.ok(!(second instanceof Lease));
    assert.equal('heldBy' in second && second.heldBy?.nonce, lease.nonce);
    lease.release();
    lease.release();
    assert.deepEqual(readdirSync(temp.path), []);
    (await take()).release();
  });

  it('is held by one at a time where there are no hard links', async () => {
    for (const code of ['EPERM', 'ENOTSUP', 'EISDIR']) {
      const link = () => {
        throw Object.assign(new Error(code), { code });
      };
      const lease = await acquireLease(file, { label: 'test', waitMs: 0, timing, link });
      assert.ok(lease instanceof Lease);
      assert.ok(!((await acquireLease(file, { label: 'test', waitMs: 0, timing, link })) instanceof Lease));
      lease.release();
    }
    assert.deepEqual(readdirSync(temp.path), []);
  });

  it('is waited for while Windows does not let its file be read, as when the holder is just removing it', async () => {
    for (const code of ['EPERM', 'EBUSY']) {
      const holder = await take();
      let reads = 0;
      const read = () => {
        if (++reads === 3) holder.release();
        throw Object.assign(new Error(code), { code });
      };
      const lease = await acquireLease(file, { label: 'test', waitMs: 60_000, timing, read });
      assert.ok(lease instanceof Lease);
      assert.ok(reads >= 3);
      lease.release();
    }
    const holder = await take();
    const denied = () => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    };
    await assert.rejects(acquireLease(file, { label: 'test', waitMs: 5_000, timing, read: denied }), { code: 'EACCES' });
    holder.release();
  });

  it('is given back where its file cannot be opened', async () => {
    const open = () => {
      throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
    };
    await assert.rejects(acquireLease(file, { label: 'test', waitMs: 0, timing, open }), { code: 'EMFILE' });
    assert.deepEqual(readdirSync(temp.path), []);
    (await take()).release();
  });

  it('is released where its file goes away just then', () => {
    leave({});
    releaseLease(file, 'left-behind', (name) => {
      rmSync(name);
      return readFileSync(name, 'utf8');
    });
    assert.deepEqual(readdirSync(temp.path), []);
  });

  it('tells its holder when another process has taken over, and leaves the other alone', async () => {
    const lease = await take();
    lease.verify();
    leave({}, 'another');
    assert.throws(
      () => lease.verify(),
      (error) => StoreError.is(error) && error.reason === 'lease_lost',
    );
    lease.release();
    assert.match(readFileSync(file, 'utf8'), /another/);
    releaseLease(file, 'another');
    assert.equal(existsSync(file), false);
    assert.throws(
      () => lease.verify(),
      (error) => StoreError.is(error) && error.reason === 'lease_lost',
    );
  });

  it('passes on from a process that has ended, even one that was inheriting', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    leave({ pid }, 'first');
    leave({ pid }, 'second', `${file}.heir-first`);
    leave({ pid }, 'third', `${file}.heir-second`);
    const lease = await take();
    assert.deepEqual(readdirSync(temp.path), ['owner.lease']);
    lease.release();
  });

  it('passes on from an earlier process with a pid that is in use again', async function () {
    if (process.platform !== 'linux' && process.platform !== 'darwin') return this.skip();
    leave({ pid: process.ppid, startTime: 'long ago' });
    (await take()).release();
  });

  it('waits for the heartbeat of a holder that it cannot look up', async () => {
    leave({ pidNamespace: 'pid:[1]' });
    assert.ok(!((await acquire(0)) instanceof Lease), 'not without watching it');
    const started = performance.now();
    const lease = await acquire(1);
    assert.ok(lease instanceof Lease, 'silent for long enough, although the wait was over');
    assert.ok(performance.now() - started >= timing.beatMs * timing.missedBeats);
    lease.release();

    // One sign of life decides; without it this would take minutes.
    leave({ pidNamespace: 'pid:[1]' });
    let beat = 1;
    const heart = setInterval(() => utimesSync(file, beat, beat++), 5);
    const patient = { ...timing, missedBeats: 10_000 };
    const outcome = await acquireLease(file, { label: 'test', waitMs: 1, timing: patient }).finally(() => clearInterval(heart));
    assert.ok(!(outcome instanceof Lease), 'its heart beats');
  });

  it('watches longer where a process with the pid is there, and may be another one', async () => {
    // As on Windows, which does not say since when it runs.
    leave({ pid: process.ppid, startTime: null });
    assert.ok(!((await acquire(timing.beatMs * timing.missedBeats * 2)) instanceof Lease), 'it may be busy with a repair');
    const hasty = await acquireLease(file, { label: 'test', waitMs: 10_000, timing: { ...timing, missedWhenThere: 5 } });
    assert.ok(hasty instanceof Lease, 'in the end it is taken for another one');
    hasty.release();
  });

  it('passes on in the end to who looks only now and then, with one watch', async () => {
    for (const holder of [{ pidNamespace: 'pid:[1]' }, { pid: process.ppid, startTime: null }]) {
      leave(holder);
      const watch = new HeartbeatWatch({ ...timing, missedWhenThere: 5 });
      let lease: unknown;
      await waitFor('the lease', async () => {
        lease = await acquireLease(file, { label: 'test', waitMs: 0, timing, watch });
        return lease instanceof Lease;
      });
      (lease as Lease).release();
    }
  });

  it('keeps its own heart beating', async () => {
    const lease = await take();
    for (let beat = 0; beat < 2; beat++) {
      const before = statSync(file).mtimeMs;
      await waitFor('the next beat', () => statSync(file).mtimeMs > before, { interval: 5 });
    }
    lease.release();
  });

  it('beats in the midst of work that lets no timer run', async () => {
    const lease = await take();
    utimesSync(file, 1, 1);
    const until = performance.now() + timing.beatMs;
    while (performance.now() < until);
    lease.beatIfDue();
    assert.ok(statSync(file).mtimeMs > 1_000);
    lease.release();
    lease.beatIfDue();
    assert.equal(existsSync(file), false);
  });

  it('takes a file that is not a lease for one whose writer died', async () => {
    writeFileSync(file, '{"nonce": "ha');
    assert.ok(!((await acquire(0)) instanceof Lease));
    const lease = await acquire(1);
    assert.ok(lease instanceof Lease);
    lease.release();
  });

  it('takes one whose nonce is no name of a file for one whose writer died, and touches nothing outside', async () => {
    for (const nonce of ['../../outside', '/etc/hostname', 'a/b', '..', '', 'x'.repeat(65), 'a\0b']) {
      leave({ pid: 2 ** 30 }, nonce);
      const lease = await acquire(1);
      assert.ok(lease instanceof Lease, nonce);
      lease.release();
      assert.deepEqual(readdirSync(temp.path), [], nonce);
    }
  });

  it('stops waiting when asked to', async () => {
    const lease = await take();
    const stop = new AbortController();
    const waiting = acquire(60_000, stop.signal);
    stop.abort();
    await assert.rejects(waiting, CancelledError);
    assert.deepEqual(readdirSync(temp.path), ['owner.lease']);
    lease.release();
  });

  it('waits for a holder that is about to end', async function () {
    this.timeout(15_000);
    const child = spawn(process.execPath, [childFile, 'hold', file], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    await once(createInterface({ input: child.stdout }), 'line');
    assert.ok(!((await acquire(0)) instanceof Lease));
    const waiting = acquire(10_000);
    child.kill('SIGKILL');
    const lease = await waiting;
    assert.ok(lease instanceof Lease);
    lease.release();
  });

  it('has exactly one winner when five processes race for it', async function () {
    this.timeout(30_000);
    const racers = Array.from({ length: 5 }, () => fork(childFile, ['race', file]));
    children.push(...racers);
    await Promise.all(racers.map((racer) => once(racer, 'message')));
    const order = (message: ChildOrder) =>
      Promise.all(
        racers.map(async (racer) => {
          racer.send(message);
          const [reply] = (await once(racer, 'message')) as [{ nonce?: string | null }];
          return reply.nonce ?? null;
        }),
      );
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    for (let round = 0; round < 40; round++) {
      // By turns: a dead holder, a dead holder with a dead heir, nobody.
      if (round % 3 < 2) leave({ pid }, `stale-${round}`);
      if (round % 3 === 1) leave({ pid }, `heir-${round}`, `${file}.heir-stale-${round}`);
      const winners = (await order({ race: round, at: Date.now() + 4 })).filter((nonce) => nonce !== null);
      assert.equal(winners.length, 1, `round ${round}`);
      assert.equal((JSON.parse(readFileSync(file, 'utf8')) as LeaseRecord).nonce, winners[0]);
      await order({ release: true });
      assert.deepEqual(readdirSync(temp.path), [], `round ${round} left nothing behind`);
    }
  });
});
