import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { noSyncYet, type SyncState } from '../../../src/core/sync/syncState';
import { FolderEngine } from '../../../src/node/sync/folderEngine';
import { historyKeys, newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { SyncThread, type SyncAnswer } from '../../../src/node/sync/syncInThread';
import { openTestStore, tempFolder, testUuid, userMessage, workerFile, type TempFolder } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';

const phrase = readPhrase(newPhrase());
const keys = historyKeys(phrase, 'main');
const soon = { interval: 5, timeout: 20_000 };

/** One thread on a store, with what it has said. */
class Window {
  readonly heard: SyncAnswer[] = [];
  readonly thread: SyncThread;

  constructor(folder: string, deviceName: string, entropy: Uint8Array = phrase) {
    const request = { folder, distDir: dirname(workerFile), entropy, password: null, deviceName };
    this.thread = new SyncThread(request, (answer) => this.heard.push(answer));
  }

  get state(): SyncState | undefined {
    return this.heard.flatMap((answer) => (answer.type === 'state' ? [answer.state] : [])).at(-1);
  }

  said<T extends SyncAnswer['type']>(type: T): Extract<SyncAnswer, { type: T }>[] {
    return this.heard.filter((answer): answer is Extract<SyncAnswer, { type: T }> => answer.type === type);
  }

  /** An exchange has ended: the texts are told of first, then the attachments. */
  async exchanged(): Promise<void> {
    const phases = () => this.said('state').map(({ state }) => state.phase);
    const idle = () => phases().filter((phase) => phase === 'idle').length;
    await waitFor('an exchange', () => phases().at(-1) === 'idle' && idle() % 2 === 0, soon);
  }

  /** Answers that are no state and no line of the log. */
  get rest(): SyncAnswer[] {
    return this.heard.filter(({ type }) => type !== 'state' && type !== 'log');
  }
}

describe('a thread that synchronizes a store', () => {
  let temp: TempFolder;
  let carried: string;
  const windows: Window[] = [];
  const stores: SessionStore[] = [];

  beforeEach(async () => {
    temp = tempFolder();
    carried = temp.path;
    await (await FolderEngine.open(carried, keys.history, true)).close();
  });
  afterEach(async () => {
    await Promise.all(windows.splice(0).map(({ thread }) => thread.stop()));
    for (const store of stores.splice(0)) await store.close();
    temp.remove();
  });

  const storeOf = async (name: string, device?: string): Promise<SessionStore> => {
    const store = await openTestStore(join(temp.path, name));
    stores.push(store);
    if (device !== undefined) await store.startSync(device, { history: keys.history, name: 'main', engine: carried });
    return store;
  };
  const begin = (name: string, deviceName: string, entropy?: Uint8Array): Window => {
    const window = new Window(join(temp.path, name), deviceName, entropy);
    windows.push(window);
    return window;
  };
  const texts = async (store: SessionStore, session: string) =>
    (await store.liveBranch(session)).entries.flatMap(({ content }) => (content.type === 'message' ? [content.text] : []));

  it('brings what was said to another store, says how both are called, and notes when that was', async () => {
    const [desk, lap] = [randomUUID(), randomUUID()];
    const root = join(carried, `threadkeeper-${keys.history}`);
    const [here, there] = [await storeOf('here', desk), await storeOf('there', lap)];
    const session = testUuid();
    await here.createSession({ uuid: session, channel: 'cli', createdAt: 1_763_800_000_000, title: 'Marmalade' });
    await here.append(session, { entries: [userMessage(session, null, 'More sugar.')] });
    const one = begin('here', 'Desk');
    await one.exchanged();
    const two = begin('there', 'Lap');
    await two.exchanged();
    deepStrictEqual(await texts(there, session), ['More sugar.']);
    await there.append(session, { entries: [userMessage(session, (await there.session(session))!.leaf, 'And less salt.')] });
    two.thread.wake('asked');
    await waitFor('what it has said', () => readdirSync(join(root, 'logs')).length === 2, soon);
    one.thread.wake('asked');
    await waitFor('the name of the other device', () => one.said('devices').length === 2, soon);
    await Promise.all([one.exchanged(), two.exchanged()]);
    await Promise.all([one.thread.stop(), two.thread.stop()]);
    deepStrictEqual(await texts(here, session), ['More sugar.', 'And less salt.']);
    const begun = { type: 'begun', engine: carried, name: 'main' };
    const [deskNamed, lapNamed] = [
      { id: desk, name: 'Desk' },
      { id: lap, name: 'Lap' },
    ];
    deepStrictEqual(
      [one.rest, two.rest],
      [
        [
          begun,
          { type: 'devices', own: desk, devices: [deskNamed] },
          { type: 'devices', own: desk, devices: [deskNamed, lapNamed] },
          { type: 'ended', failure: null },
        ],
        [begun, { type: 'devices', own: lap, devices: [lapNamed, deskNamed] }, { type: 'ended', failure: null }],
      ],
    );
    // It is paused where the stop came while it looked for news once more.
    const { phase, at } = one.state!;
    ok(phase === 'idle' || phase === 'paused', phase);
    const whole = { ...noSyncYet, phase, usable: true, at };
    deepStrictEqual([one.state, JSON.parse(readFileSync(join(temp.path, 'here', 'sync.json'), 'utf8'))], [whole, whole]);
    // Another time it is known from the start when that was.
    const again = begin('here', 'Desk');
    await waitFor('its first state', () => again.state, soon);
    deepStrictEqual(again.said('state')[0]!.state, { ...noSyncYet, at: whole.at });
  });

  it('leaves it to another window that does, and takes over when that has ended', async () => {
    await storeOf('here', randomUUID());
    const first = begin('here', 'Desk');
    await first.exchanged();
    const second = begin('here', 'Desk');
    await waitFor('the second window', () => second.state?.phase === 'elsewhere', soon);
    deepStrictEqual(second.state, { ...first.state, phase: 'elsewhere' });
    await first.thread.stop();
    second.thread.wake('news');
    await waitFor('the second window to lead', () => second.state?.phase === 'idle', soon);
    strictEqual(second.state!.at! >= first.state!.at!, true);
  });

  it('ends by itself where nothing is set up, or any more, and says so of a phrase of another history', async () => {
    const store = await storeOf('here');
    await storeOf('wrong', randomUUID());
    const [off, wrong] = [begin('here', 'Desk'), begin('wrong', 'Desk', readPhrase(newPhrase()))];
    const ended = (window: Window) => waitFor('its end', () => window.said('ended')[0], soon);
    await Promise.all([off, wrong].map(ended));
    deepStrictEqual(
      [off.heard, wrong.rest],
      [[{ type: 'ended', failure: null }], [{ type: 'ended', failure: 'The recovery phrase is that of another history' }]],
    );
    await store.startSync(randomUUID(), { history: keys.history, name: 'main', engine: carried });
    const left = begin('here', 'Desk');
    await left.exchanged();
    await store.stopSync();
    left.thread.wake('asked');
    deepStrictEqual(await ended(left), { type: 'ended', failure: null });
  });
});
