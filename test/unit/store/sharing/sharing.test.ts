import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { StoreError } from '../../../../src/core/errors';
import type { StoreStatus } from '../../../../src/core/ports';
import type { StoreChange } from '../../../../src/core/session/storage';
import type { LeaseRecord } from '../../../../src/node/store/sharing/lease';
import { reserveLease } from '../../../../src/node/store/sharing/leaseReservation';
import { PeerConnection } from '../../../../src/node/store/sharing/peerConnection';
import { toFrame, newChallenge, proofOf } from '../../../../src/node/store/sharing/peerFrames';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import type { Holdings } from '../../../../src/node/store/owner/storeService';
import type { ListedWindow } from '../../../../src/node/store/sharing/windowList';
import type { StoreSupervisor } from '../../../../src/node/store/owner/storeSupervisor';
import { backUpFolder, restoreFile } from '../../../../src/node/store/client/storeTask';
import type { ChildReport } from '../../../support/store/storeChild';
import { openHost, tempFolder, testUuid, userMessage, workerFile } from '../../../support/store/storeTemp';
import type { TempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

const childFile = join(__dirname, '..', '..', '..', 'support', 'store', 'storeChild.js');
const taskWorkerFile = join(dirname(workerFile), 'storeTaskWorker.js');

interface Window {
  readonly host: StoreSupervisor;
  readonly changes: StoreChange[];
  readonly statuses: StoreStatus[];
}

describe('store: several windows on one folder', () => {
  let temp: TempFolder;
  const hosts: StoreSupervisor[] = [];
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
    temp.remove();
  });

  const open = async (label: string, readonly: false | 'join' = false): Promise<Window> => {
    const changes: StoreChange[] = [];
    const statuses: StoreStatus[] = [];
    const host = await openHost(
      temp.path,
      { label, readonly, waitForOwnerMs: 2_000 },
      (status) => statuses.push(status),
      (change) => changes.push(change),
    );
    hosts.push(host);
    return { host, changes, statuses };
  };
  const newSession = async ({ host }: Window) =>
    (await host.call('createSession', [{ uuid: testUuid(), channel: 'cli', createdAt: 1 }])).uuid;
  const say = async ({ host }: Window, session: string, text: string, after?: string | null) => {
    const { leaf } = (await host.call('session', [session]))!;
    const entry = userMessage(session, after === undefined ? leaf : after, text);
    await host.call('append', [session, { entries: [entry], after: entry.parent }]);
    return entry.uuid;
  };
  const said = async ({ host }: Window, session: string) =>
    (await host.call('liveBranch', [session])).entries.map((entry) => ('text' in entry.content ? entry.content.text : ''));
  const lease = () => JSON.parse(readFileSync(storeFiles(temp.path).lease, 'utf8')) as LeaseRecord;
  const chunkIn = (session: string, text: string, offset: number, entry = testUuid()) =>
    ({ entry, session, parent: null, kind: 'message', provider: 'p', model: 'm', createdAt: 1, text, offset }) as const;

  it('read and write one history, and each is told what the other has changed', async () => {
    const [first, second] = [await open('first'), await open('second')];
    assert.deepEqual([first.host.status.access, second.host.status], ['owner', { ...first.host.status, access: 'shared' }]);
    const session = await newSession(second);
    const one = await say(second, session, 'one');
    const two = await say(first, session, 'two\ud83d');
    assert.deepEqual(
      [await said(first, session), await said(second, session)],
      [
        ['one', 'two\ud83d'],
        ['one', 'two\ud83d'],
      ],
    );
    const chunk = chunkIn(session, 'Hel', 0);
    await second.host.call('writePartial', [chunk]);
    await first.host.call('updateSession', [session, { title: 'Named' }]);
    await waitFor('the news', () => second.changes.length >= 2, { interval: 5 });
    assert.deepEqual(first.changes, [
      { kind: 'session', session },
      { kind: 'entries', session, entries: [one] },
      { kind: 'partial', session, chunk },
    ]);
    assert.deepEqual(second.changes, [
      { kind: 'entries', session, entries: [two] },
      { kind: 'session', session },
    ]);
    assert.equal((await second.host.call('listSessions', []))[0]?.title, 'Named');
    assert.equal(await second.host.call('draft', [session]), undefined);
  });

  it('do not tell one that only reads what has changed', async () => {
    const first = await open('first');
    const session = await newSession(first);
    const [reader, second] = [await open('reader', 'join'), await open('second')];
    const one = await say(second, session, 'one');
    await waitFor('the news', () => first.changes.length > 0, { interval: 5 });
    // What was told before its question would be there before the answer.
    assert.deepEqual([await said(reader, session), reader.changes], [['one'], []]);
    assert.deepEqual(first.changes, [{ kind: 'entries', session, entries: [one] }]);
  });

  it('send long answers whole', async () => {
    const [first, second] = [await open('first'), await open('second')];
    const session = await newSession(first);
    const entries = [userMessage(session, null, 'x'.repeat(300_000))];
    while (entries.length < 450) entries.push(userMessage(session, entries.at(-1)!.uuid, `text ${entries.length}`));
    const stored = await second.host.call('append', [session, { entries, after: null }]);
    assert.deepEqual(
      stored.map(({ seq: _, ...entry }) => entry),
      entries,
    );
    assert.deepEqual((await second.host.call('liveBranch', [session])).entries, stored);
    assert.deepEqual(first.changes, [{ kind: 'branch', session }]);
  });

  it('hand over bytes', async () => {
    const [first, second] = [await open('first'), await open('second')];
    const bytes = new Uint8Array([0, 255, 1, 128]);
    const hash = await second.host.call('putBlob', [bytes, 'image/png']);
    assert.deepEqual([await first.host.call('blob', [hash]), await second.host.call('blob', [hash])], [bytes, bytes]);
    assert.equal(await second.host.call('blob', ['0'.repeat(64)]), undefined);
  });

  it('say what to do about what is too large to pass between them, and go on', async () => {
    const [first, second] = [await open('first'), await open('second')];
    const bytes = new Uint8Array(50 * 1024 * 1024);
    const hash = await first.host.call('putBlob', [bytes, 'image/png']);
    const tooLarge = {
      reason: 'invalid',
      message:
        'This is too large to pass from one window to another: 67 MB, where 64 MB are possible. Close the other windows on this folder, then try again.',
    };
    await assert.rejects(second.host.call('blob', [hash]), tooLarge);
    await assert.rejects(second.host.call('putBlob', [bytes, 'image/png']), tooLarge);
    assert.deepEqual(
      { hostCount: (await second.host.call('listSessions', [])).length, access: second.host.status.access, statuses: second.statuses },
      { hostCount: 0, access: 'shared', statuses: [] },
    );
  });

  it('work in a session one at a time, and say who does', async () => {
    const [first, second, third] = [await open('first'), await open('second'), await open('third')];
    const session = await newSession(first);
    const leaf = await say(first, session, 'one');
    assert.deepEqual(await second.host.call('claim', [session, 'a']), { granted: true, leaf });
    assert.deepEqual(await second.host.call('claim', [session, 'a']), { granted: true, leaf });
    assert.deepEqual(await second.host.call('claim', [session, 'b']), { granted: false, holder: 'second' });
    assert.deepEqual(await third.host.call('claim', [session, 'c']), { granted: false, holder: 'second' });
    const chunk = chunkIn(session, 'Hel', 0);
    await second.host.call('writePartial', [chunk]);
    await second.host.call('writePartial', [{ ...chunk, text: 'lo', offset: 3 }]);
    assert.deepEqual(await first.host.call('activity', [session]), { holder: 'second', streaming: [{ ...chunk, text: 'Hello' }] });
    assert.deepEqual(await second.host.call('activity', [session]), { holder: null, streaming: [] });
    assert.deepEqual(await first.host.call('recoverPartials', [session]), [], 'what another window streams is left to it');
    await assert.rejects(say(first, session, 'in between'), hasReason('conflict'));
    await first.host.call('requestStop', [session]);
    await waitFor('the request', () => second.changes.some(({ kind }) => kind === 'stop'), { interval: 5 });
    await second.host.call('append', [session, { entries: [userMessage(session, leaf, 'Hello', { uuid: chunk.entry })], after: leaf }]);
    await third.host.call('release', [session, 'a']);
    await second.host.call('release', [session, 'a']);
    assert.deepEqual((await third.host.call('claim', [session, 'c'])).granted, true);
    await third.host.close();
    await waitFor('the claim of a window that has ended to be free', async () => (await first.host.call('claim', [session, 'd'])).granted, {
      interval: 5,
    });
    assert.deepEqual(
      first.changes.filter(({ kind }) => kind === 'claim').map((change) => ('holder' in change ? change.holder : '')),
      ['second', null, 'third', null],
    );
  });

  it('refuse what would fork a session unawares, and let through what forks it on purpose', async () => {
    const [first, second] = [await open('first'), await open('second')];
    const session = await newSession(first);
    const one = await say(first, session, 'one');
    const two = await say(first, session, 'two');
    await assert.rejects(say(second, session, 'stale', one), hasReason('conflict'));
    await second.host.call('moveLeaf', [session, one]);
    await say(second, session, 'on purpose', one);
    assert.deepEqual(await said(first, session), ['one', 'on purpose']);
    assert.equal((await first.host.call('entries', [[two]])).length, 1);
  });

  it('keep their queues apart; what a window leaves behind goes to one other', async () => {
    const [first, second, third] = [await open('first'), await open('second'), await open('third')];
    const session = await newSession(first);
    await first.host.call('saveQueue', [
      session,
      [
        { id: 'f1', text: 'a' },
        { id: 'f2', text: 'b' },
      ],
    ]);
    await second.host.call('saveQueue', [session, [{ id: 's1', text: 'c' }]]);
    await first.host.call('saveQueue', [session, [{ id: 'f2', text: 'b' }]]);
    assert.deepEqual(await third.host.call('queue', [session]), []);
    assert.deepEqual(await first.host.call('queue', [session]), [{ id: 'f2', text: 'b' }]);
    await second.host.close();
    const left = () => third.host.call('queue', [session]);
    assert.deepEqual(
      await waitFor('the queue of a window that has ended', async () => (await left()).length > 0 && left(), { interval: 5 }),
      [{ id: 's1', text: 'c' }],
    );
    assert.deepEqual(await first.host.call('queue', [session]), [{ id: 'f2', text: 'b' }]);
    // With the owner gone, another must still know whose is what.
    await first.host.close();
    assert.deepEqual(await left(), [
      { id: 's1', text: 'c' },
      { id: 'f2', text: 'b' },
    ]);
  });

  it('go on without a gap when the owner closes, with what they hold', async () => {
    const [first, second, third] = [await open('first'), await open('second'), await open('third')];
    const session = await newSession(first);
    const other = await newSession(first);
    assert.equal((await second.host.call('claim', [session, 'a'])).granted, true);
    const chunk = chunkIn(session, 'Hel', 0);
    await second.host.call('writePartial', [chunk]);
    const writing = Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        n === 10 ? first.host.close() : third.host.call('saveDraft', [other, { text: `draft ${n}`, attachments: [], at: n }]),
      ),
    );
    const [claimed, recovered] = await Promise.all([
      third.host.call('claim', [session, 'b']),
      third.host.call('recoverPartials', [session]),
      writing,
    ]);
    assert.deepEqual([claimed, recovered], [{ granted: false, holder: 'second' }, []]);
    assert.equal((await second.host.call('draft', [other]))?.text, 'draft 29');
    assert.deepEqual([second.host.status.access, third.host.status.access].sort(), ['owner', 'shared']);
    // Sent again, as after a lost answer.
    await second.host.call('writePartial', [chunk]);
    await second.host.call('writePartial', [{ ...chunk, text: 'lo', offset: 3 }]);
    await second.host.call('writePartial', [{ ...chunk, text: 'lo', offset: 3 }]);
    assert.deepEqual((await third.host.call('activity', [session])).streaming, [{ ...chunk, text: 'Hello' }]);
    await assert.rejects(second.host.call('writePartial', [{ ...chunk, text: '?', offset: 9 }]), hasReason('conflict'));
    assert.ok(second.changes.some(({ kind }) => kind === 'all'));
  });

  it('are on a list for the next owner, who waits for them', async () => {
    const first = await open('first');
    const session = await newSession(first);
    const silent = { onChange: () => undefined, onStatus: () => undefined, onGone: () => undefined };
    const connect = (id: string, hears: boolean, claims: Holdings['claims'] = []) =>
      PeerConnection.open(lease().address!, { label: id, id, hears, holdings: () => ({ claims, queued: [] }) }, silent);
    const listed = () => {
      const windows = JSON.parse(readFileSync(storeFiles(temp.path).windows, 'utf8')) as ListedWindow[];
      return windows.map(({ id, process: { pid } }) => (pid === process.pid && id.length === 36 ? 'window' : id));
    };
    const [late, gone, reader] = [await connect('late', true), await connect('gone', true), await connect('reader', false)];
    const second = await open('second');
    assert.deepEqual(listed(), ['window', 'late', 'gone', 'window']);
    gone.close();
    await waitFor('it to be noticed', () => listed().length === 3, { interval: 5 });
    await first.host.close();
    const claimed = second.host.call('claim', [session, 'b']);
    await waitFor('the next owner', () => second.host.status.access === 'owner', { interval: 5 });
    assert.deepEqual(listed(), ['late', 'window']);
    const again = await connect('late', true, [{ session, claim: 'a' }]);
    assert.deepEqual(await claimed, { granted: false, holder: 'late' });
    for (const connection of [late, reader, again]) connection.close();
    await waitFor('them to be noticed', () => listed().length === 1, { interval: 5 });
    await second.host.close();
    assert.equal(existsSync(storeFiles(temp.path).windows), false);
  });

  it('cut off peers that do not belong, and those that make no sense', async () => {
    const first = await open('first');
    const { address } = lease();
    if (process.platform !== 'win32') {
      assert.deepEqual([statSync(storeFiles(temp.path).lease).mode & 0o777, statSync(dirname(address!.path)).mode & 0o777], [0o600, 0o700]);
    }
    const hello = (secret: string) => async (socket: ReturnType<typeof connect>) => {
      const frame = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
      const { challenge } = JSON.parse(frame.toString('utf8', 4)) as { challenge: string };
      const mine = newChallenge();
      socket.write(toFrame({ proof: proofOf(secret, 'peer', { owner: challenge, peer: mine }), challenge: mine }));
    };
    const known = hello(address!.secret);
    const join = toFrame({ type: 'join', label: 'x', holdings: { claims: [], queued: [] } });
    const length = (bytes: number) => {
      const header = Buffer.alloc(4);
      header.writeUInt32BE(bytes);
      return header;
    };
    const strangers: readonly ((socket: ReturnType<typeof connect>) => void | Promise<void>)[] = [
      hello('0'.repeat(64)),
      (socket) => void socket.write(Buffer.from('GET / HTTP/1.1\r\n\r\n')),
      (socket) => void socket.write(toFrame({ type: 'call', id: 1, method: 'listSessions', args: [] })),
      (socket) => void socket.write(length(2_000)),
      async (socket) => (await known(socket), void socket.write(length(0xffffffff))),
      async (socket) => (await known(socket), void socket.write(toFrame({ type: 'call', id: 1, method: 'listSessions', args: [] }))),
      async (socket) => (await known(socket), void socket.write(Buffer.concat([join, length(5), Buffer.from('{"a":')]))),
      async (socket) => (
        await known(socket), void socket.write(Buffer.concat([join, toFrame({ type: 'call', id: 1, method: 'constructor', args: [] })]))
      ),
      async (socket) => (
        await known(socket), void socket.write(Buffer.concat([join, toFrame({ type: 'call', id: 1, method: 'close', args: [] })]))
      ),
    ];
    for (const [n, act] of strangers.entries()) {
      const socket = connect(address!.path);
      const cutOff = new Promise<string>((resolve) => socket.on('error', () => undefined).on('close', () => resolve(`${n} is cut off`)));
      socket.resume();
      await act(socket);
      assert.equal(await cutOff, `${n} is cut off`);
    }
    // One that says nothing more keeps nobody from working.
    const silent = connect(address!.path);
    const second = await open('second');
    await newSession(second);
    assert.equal((await first.host.call('listSessions', [])).length, 1);
    silent.destroy();
  });

  it('do not let a peer that reads nothing keep the others waiting', async () => {
    const first = await open('first');
    const { address } = lease();
    const session = await newSession(first);
    await say(first, session, 'x'.repeat(4_000_000));
    const socket = connect(address!.path);
    const frame = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
    socket.pause();
    const { challenge } = JSON.parse(frame.toString('utf8', 4)) as { challenge: string };
    const mine = newChallenge();
    const calls = Array.from({ length: 60 }, (_, id) => toFrame({ type: 'call', id, method: 'liveBranch', args: [session] }));
    const proof = proofOf(address!.secret, 'peer', { owner: challenge, peer: mine });
    socket.on('error', () => undefined);
    socket.write(
      Buffer.concat([
        toFrame({ proof, challenge: mine }),
        toFrame({ type: 'join', label: 'x', holdings: { claims: [], queued: [] } }),
        ...calls,
      ]),
    );
    const second = await open('second');
    await say(second, session, 'two');
    assert.equal((await said(first, session)).length, 2);
    socket.destroy();
  });

  it('read a copy where the owner is of another version', async () => {
    const first = await open('first');
    const session = await newSession(first);
    const { lease: file } = storeFiles(temp.path);
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace(/"version":"[^"]*"/, '"version":"another"'));
    const reader = await openHost(temp.path, { waitForOwnerMs: 0 });
    hosts.push(reader);
    assert.deepEqual([reader.status.access, reader.status.note?.reason], ['readonly', 'other_owner']);
    assert.match(reader.status.note!.detail, /another version/);
    await assert.rejects(reader.call('claim', [session, 'a']), hasReason('readonly'));
    assert.deepEqual(await reader.call('activity', [session]), { holder: null, streaming: [] });
    writeFileSync(file, before);
  });

  it('read a copy of an owner that does not answer, and write by themselves as soon as it does, or has ended', async function () {
    this.timeout(30_000);
    const other = spawn(process.execPath, [childFile, 'share', temp.path, '1'], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      let output = '';
      other.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await waitFor('its turn', () => output.includes('"done"'), { interval: 5 });
      other.kill('SIGSTOP');
      await waitFor(
        'it to stand still',
        () => process.platform !== 'linux' || readFileSync(`/proc/${other.pid}/stat`, 'utf8').includes(') T '),
        { interval: 5 },
      );
      const statuses: StoreStatus[] = [];
      const changes: StoreChange[] = [];
      const host = await openHost(
        temp.path,
        { waitForOwnerMs: 0, pursuitPollMs: 10 },
        (status) => statuses.push(status),
        (change) => changes.push(change),
      );
      hosts.push(host);
      assert.deepEqual([host.status.access, host.status.note?.reason], ['readonly', 'other_owner']);
      await assert.rejects(host.call('createSession', [{ uuid: testUuid(), channel: 'cli', createdAt: 1 }]), hasReason('readonly'));
      other.kill('SIGCONT');
      await waitFor('the owner', () => host.status.access === 'shared', { interval: 5 });
      assert.deepEqual(
        [statuses.map(({ access }) => access), changes.filter(({ kind }) => kind === 'all')],
        [['shared'], [{ kind: 'all' }]],
      );
      await newSession({ host, changes, statuses });
      // Nobody asks anything: it owns the store all the same.
      other.kill('SIGKILL');
      await waitFor('ownership', () => host.status.access === 'owner', { interval: 5 });
      assert.equal((await host.call('listSessions', [])).length, 2);
    } finally {
      other.kill('SIGKILL');
    }
  });

  it('own what is read as a copy, when an owner that serves nobody has ended', async () => {
    const first = await open('first');
    const session = await newSession(first);
    await first.host.close();
    const other = spawn(process.execPath, [childFile, 'hold', storeFiles(temp.path).lease], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(other.stdout, 'data');
      const host = await openHost(temp.path, { waitForOwnerMs: 0, pursuitPollMs: 10 });
      hosts.push(host);
      assert.equal(host.status.access, 'readonly');
      other.kill('SIGKILL');
      await waitFor('ownership', () => host.status.access === 'owner', { interval: 5 });
      await say({ host, changes: [], statuses: [] }, session, 'mine now');
    } finally {
      other.kill('SIGKILL');
    }
  });

  for (const work of ['repaired', 'replaced by a backup'] as const) {
    it(`wait while the owner has its history ${work}, and use it with the owner afterwards`, async () => {
      const first = await open('first');
      const session = await newSession(first);
      await say(first, session, 'before');
      const backup = join(temp.path, 'backups', 'one.db');
      if (work !== 'repaired') await backUpFolder(temp.path, backup, { workerFile: taskWorkerFile, overwrite: false });
      // In a process of its own: a window of this one would not wait for it.
      const other = spawn(process.execPath, [childFile, 'share', temp.path, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const reports = createInterface({ input: other.stdout })[Symbol.asyncIterator]();
      const next = async (): Promise<ChildReport> => {
        const report = JSON.parse((await reports.next()).value as string) as ChildReport;
        // Where the work takes longer than it waits, it reads only for a while.
        return report.type === 'open' && report.access === 'readonly' ? next() : report;
      };
      const reservation = reserveLease(temp.path);
      try {
        assert.deepEqual([await next(), await next()], [{ type: 'open', access: 'shared' }, { type: 'done' }]);
        await first.host.close();
        // Without the reservation the other one takes over at once.
        const isWaiting = () => readdirSync(temp.path).some((name) => /^owner\.lease\.[0-9a-f-]{36}$/.test(name));
        await waitFor('the other window to wait for the lease', isWaiting, { interval: 5 });
        if (work !== 'repaired') await restoreFile(temp.path, backup, { workerFile: taskWorkerFile, label: 'restore' });
        const again = await openHost(temp.path, { repair: work === 'repaired', waitForOwnerMs: 0 });
        hosts.push(again);
        assert.deepEqual([again.status.access, again.status.note?.reason], ['owner', work === 'repaired' ? 'recovered' : undefined]);
        assert.deepEqual(await said({ ...first, host: again }, session), ['before']);
        reservation.release();
        assert.deepEqual(await next(), { type: 'open', access: 'shared' });
        await again.close();
        assert.deepEqual(await next(), { type: 'open', access: 'owner' });
      } finally {
        reservation.release();
        other.kill('SIGKILL');
      }
    });
  }
});

function hasReason(reason: StoreError['reason']): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason;
}
