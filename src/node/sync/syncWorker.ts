import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../../core/errors';
import { english } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import { SyncState } from '../../core/sync/syncState';
import { systemClock } from '../runtime/systemClock';
import { openStore } from '../store/client/openStore';
import { writeFileAtomic } from '../store/database/atomicFile';
import { acquireLease, HeartbeatWatch, Lease } from '../store/sharing/lease';
import { HistoryDirectory } from './historyDirectory';
import { historyKeys } from './historyKeys';
import { openEngine } from './openEngine';
import { SyncLoop } from './syncLoop';
import type { SyncAnswer, SyncQuestion, SyncRequest } from './syncInThread';

/**
 * The thread that synchronizes one store. It has a connection of its own to the store, so that nothing of it passes the thread of the
 * window, and learns of what is said there as another window does.
 */
const port = parentPort;
if (!port) throw new Error('syncWorker.js runs as a worker thread');
const say = (answer: SyncAnswer) => port.postMessage(answer);
const log =
  (level: keyof Logger): Logger['info'] =>
  (event, data = {}) =>
    say({ type: 'log', level, event, data });
const logger: Logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
const stop = new AbortController();

giveWay();
run(workerData as SyncRequest)
  .then(
    () => say({ type: 'ended', failure: null }),
    (error: unknown) => say({ type: 'ended', failure: errorText(error) }),
  )
  .finally(() => port.close());

/**
 * On Linux a priority is that of a thread, and of those that it begins; elsewhere it would be that of the window. Beside two threads that
 * compute, timers of the window's thread came 22 ms late instead of 30 (99th percentile) on a machine with 50 others waiting.
 */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A container may forbid it, and it works without.
  }
}

async function run({ folder, distDir, entropy, password, deviceName }: SyncRequest): Promise<void> {
  const store = await openStore({ folder, workerFile: join(distDir, 'storeWorker.js'), label: english('Synchronization'), logger });
  let lease: Lease | null = null;
  const watch = new HeartbeatWatch();
  try {
    const setup = await store.syncSetup();
    if (!setup) return;
    const keys = historyKeys(entropy, setup.name);
    if (keys.history !== setup.history) throw new Error(english('The recovery phrase is that of another history'));
    const access = { create: false, bundles: distDir, ...(password === null ? {} : { password }) };
    const notes = join(folder, 'sync.json');
    const names = new DeviceNames(
      () => HistoryDirectory.open(setup.engine, entropy, { ...access, create: true }),
      setup.history,
      deviceName,
    );
    let loggedNotes = '';
    const loop = new SyncLoop({
      store,
      keys,
      open: (signal) => openEngine(setup.engine, { ...access, history: setup.history, signal }),
      leads: async () => {
        // Another window, or the command line, may have left meanwhile.
        if ((await store.syncSetup()) === null) stop.abort();
        if (stop.signal.aborted) return false;
        if (lease) return true;
        const asked = { label: english('Synchronization'), waitMs: 0, watch };
        const taken = await acquireLease(join(folder, 'sync.lease'), asked).catch((error: unknown) => {
          logger.warn('sync_lease_failed', { detail: errorText(error) });
          return null;
        });
        lease = taken instanceof Lease ? taken : null;
        return lease !== null;
      },
      noted: () => readNotes(notes),
      tell: (state) => {
        say({ type: 'state', state });
        const unwritten = state.notes.map(({ path, detail }) => `${path}: ${detail}`).join('; ');
        if (unwritten !== '' && unwritten !== loggedNotes) logger.warn('sync_notes_not_written', { detail: unwritten });
        loggedNotes = unwritten;
        if (lease && state.phase !== 'syncing') writeNotes(notes, state);
      },
      after: async () => {
        const { device, logs } = await store.syncHeld();
        const told = await names
          .of(
            device,
            logs.map((one) => one.device),
          )
          .catch((error: unknown) => {
            logger.warn('sync_devices_unknown', { detail: errorText(error) });
            return null;
          });
        if (told) say({ type: 'devices', own: device, devices: told });
      },
      clock: systemClock,
    });
    port!.on('message', (question: SyncQuestion) => {
      if (question.type === 'wake') loop.wake(question.reason);
      else if (question.type === 'cancel') loop.cancel();
      else stop.abort();
    });
    say({ type: 'begun', engine: setup.engine, name: setup.name });
    await loop.run(stop.signal);
  } finally {
    (lease as Lease | null)?.release();
    await store.close();
  }
}

/** Says how this device is called, and learns how the others are. */
class DeviceNames {
  private known = new Map<string, string>();
  private told = '';

  constructor(
    private readonly open: () => Promise<HistoryDirectory>,
    private readonly history: string,
    private readonly name: string,
  ) {}

  /** Null: nothing has changed since the last time. */
  async of(own: string, devices: readonly string[]): Promise<SyncAnswerDevices | null> {
    const all = [...new Set([own, ...devices])];
    if (this.told === own && all.every((device) => this.known.has(device))) return null;
    const directory = await this.open();
    try {
      const listed = (await directory.list()).devices.filter(({ history }) => history === this.history);
      if (!listed.some(({ device, name }) => device === own && name === this.name))
        await directory.noteDevice({ history: this.history, device: own, name: this.name, at: Date.now() });
      this.told = own;
      for (const { device, name } of listed) this.known.set(device, name);
      this.known.set(own, this.name);
      // One that has not said its name yet is not asked for at every exchange.
      for (const device of all) if (!this.known.has(device)) this.known.set(device, '');
    } finally {
      await directory.close();
    }
    return all.map((id) => ({ id, name: this.known.get(id) ?? '' }));
  }
}

type SyncAnswerDevices = Extract<SyncAnswer, { type: 'devices' }>['devices'];

function readNotes(file: string): SyncState | undefined {
  try {
    return SyncState.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

function writeNotes(file: string, state: SyncState): void {
  try {
    writeFileAtomic(file, Buffer.from(JSON.stringify(state)));
  } catch (error) {
    logger.debug('sync_not_noted', { detail: errorText(error) });
  }
}
