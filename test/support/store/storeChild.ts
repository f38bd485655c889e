import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../../src/core/errors';
import type { NewEntry } from '../../../src/core/session/entry';
import { acquireLease, Lease } from '../../../src/node/store/sharing/lease';
import { openStore } from '../../../src/node/store/client/openStore';
import { openHost, userMessage, workerFile } from './storeTemp';

/**
 * A second process for the tests of the store. One line of JSON per report, written at once: what was reported is true even
 * if the next instruction is the last.
 */
export type ChildReport =
  | { readonly type: 'ready' | 'closing' | 'closed' | 'held' }
  | { readonly type: 'stored'; readonly uuid: string }
  /** Of a window among several: at first, and whenever it changes. */
  | { readonly type: 'open'; readonly access: string }
  | { readonly type: 'done' }
  | { readonly type: 'raced'; readonly round: number; readonly nonce: string | null };

export type ChildOrder = { readonly race: number; readonly at: number } | { readonly release: true };

const report = (line: ChildReport) => writeSync(1, `${JSON.stringify(line)}\n`);

const [mode, target] = process.argv.slice(2);
if (mode === 'write') void write(target!, Number(process.argv[4]), process.argv[5] === 'paced' ? leaveFromStdin() : undefined);
if (mode === 'follow') void follow(target!);
if (mode === 'hold') void hold(target!);
if (mode === 'race') race(target!);
if (mode === 'share') void share(target!, Number(process.argv[4]));

/** Appends until it is killed, each entry once it has `leave`; after `closeAfter` entries it closes the store and opens it again. */
async function write(folder: string, closeAfter: number, leave?: () => Promise<void>): Promise<void> {
  for (let n = 0; ; ) {
    const host = await openHost(folder, { waitForOwnerMs: 5000 });
    const session = await host.call('createSession', [{ uuid: 'session', key: 'cli:kill', channel: 'cli', createdAt: 1 }]);
    let parent = session.leaf;
    report({ type: 'ready' });
    do {
      await leave?.();
      const uuid = `${process.pid}-${n}`;
      const entry: NewEntry = userMessage(session.uuid, parent, `${n} `.repeat(n % 400), { uuid });
      await host.call('writePartial', [
        { entry: uuid, session: session.uuid, parent, kind: 'message', provider: 'p', model: 'm', createdAt: 1, text: `${n}` },
      ]);
      await host.call('append', [session.uuid, { entries: [entry] }]);
      report({ type: 'stored', uuid });
      parent = uuid;
      n++;
    } while (n % closeAfter !== 0);
    report({ type: 'closing' });
    await host.close();
    report({ type: 'closed' });
  }
}

/** For one entry by each byte of the standard input. */
function leaveFromStdin(): () => Promise<void> {
  let given = 0;
  process.stdin.on('data', (bytes) => (given += bytes.length)).on('end', () => process.exit());
  return async () => {
    while (given === 0) await once(process.stdin, 'data');
    given--;
  };
}

/**
 * One window among several, with the store in its worker as it is in VS Code: turns in a session of its own and in one that all of
 * them use, by turns; then stays until killed.
 */
async function share(folder: string, turns: number): Promise<void> {
  // As a window does: the store by itself keeps no process alive.
  setInterval(() => undefined, 1_000);
  const store = await openStore({ folder, workerFile, waitForOwnerMs: 10_000, label: `window ${process.pid}` });
  report({ type: 'open', access: store.status.access });
  store.onDidChangeStatus(({ access }) => report({ type: 'open', access }));
  for (let turn = 0; turn < turns; turn++) {
    const session = turn % 2 === 0 ? 'shared' : `own-${process.pid}`;
    await whenWritable(() => store.createSession({ uuid: session, key: `cli:${session}`, channel: 'cli', createdAt: 1 }));
    const claim = `${process.pid}-${turn}`;
    while (!(await whenWritable(() => store.claim(session, claim))).granted) await sleep(2);
    await whenWritable(() => store.recoverPartials(session));
    let parent = (await store.session(session))!.leaf;
    for (const part of ['question', 'answer']) {
      const uuid = `${claim}-${part}`;
      const chunk = { entry: uuid, session, parent, kind: 'message', provider: 'p', model: 'm', createdAt: 1 } as const;
      for (const offset of [0, 3]) await whenWritable(() => store.writePartial({ ...chunk, text: 'abc', offset }));
      const batch = { entries: [userMessage(session, parent, part, { uuid })], after: parent };
      await whenWritable(() => store.append(session, batch));
      report({ type: 'stored', uuid });
      parent = uuid;
    }
    await whenWritable(() => store.release(session, claim));
  }
  report({ type: 'done' });
}

/** As its user would: again, where the store can only be read because another window takes longer than usual with it. */
async function whenWritable<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!StoreError.is(error) || error.reason !== 'readonly') throw error;
      await sleep(50);
    }
  }
}

/** A window that soon reads a copy when there is no owner, and stays until killed. */
async function follow(folder: string): Promise<void> {
  setInterval(() => undefined, 1_000);
  const host = await openHost(folder, { waitForOwnerMs: 10_000, reopenMs: 50, pursuitPollMs: 20 }, ({ access }) =>
    report({ type: 'open', access }),
  );
  report({ type: 'open', access: host.status.access });
}

/** Takes the lease and keeps it until killed. */
async function hold(file: string): Promise<void> {
  const lease = await acquireLease(file, { label: 'child', waitMs: 0 });
  if (!(lease instanceof Lease)) throw new Error('The lease is held');
  report({ type: 'held' });
  setInterval(() => lease.verify(), 1000);
}

/** Takes part in races for the lease; keeps what it won until told. */
function race(file: string): void {
  let won: Lease | undefined;
  process.on('message', (order: ChildOrder) => {
    if ('release' in order) {
      won?.release();
      won = undefined;
      process.send!({ type: 'released' });
      return;
    }
    // All at the same moment, not one after the other as the messages arrive.
    while (Date.now() < order.at);
    void acquireLease(file, { label: 'racer', waitMs: 0 }).then((outcome) => {
      won = outcome instanceof Lease ? outcome : undefined;
      process.send!({ type: 'raced', round: order.race, nonce: won?.nonce ?? null } satisfies ChildReport);
    });
  });
  process.send!({ type: 'ready' } satisfies ChildReport);
}
