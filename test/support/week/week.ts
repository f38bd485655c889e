import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { errorText } from '../../../src/core/errors';
import type { SessionStore } from '../../../src/core/ports';
import { entryText } from '../../../src/core/session/entry';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { FolderEngine } from '../../../src/node/sync/folderEngine';
import { AgentWatch } from '../../../src/node/transfer/watch/agentWatch';
import { places } from '../../../src/node/transfer/watch/places';
import { WatchMemory } from '../../../src/node/transfer/watch/watchMemory';
import { wantedIn } from '../../../src/node/transfer/watch/watchTask';
import { patience } from '../run/patience';
import { runCliToEnd } from '../run/runCliToEnd';
import { seededRandom } from '../chat/endurance';
import { openTestStore, tempFolder, testUuid, wasmFile } from '../store/storeTemp';
import { AgentFiles, watchedPrograms } from './agentFiles';
import { WeekClock } from './weekClock';
import { WeekModel, WeekSummarizer } from './weekModel';
import { WeekSync } from './weekSync';
import { WeekWindow, type WeekPlace } from './weekWindow';

export interface WeekOptions {
  readonly seed: number;
  readonly hours: number;
  readonly actionsPerHour: number;
  /** Chats that are open in the first window, the side bar's included. */
  readonly tabs: number;
  /** Sessions that there are before it begins. */
  readonly sessions: number;
}

/** What the process holds at an hour, after all that can be let go has been. */
export interface WeekSample {
  readonly hour: number;
  readonly heapMb: number;
  readonly handles: number;
  readonly files: number;
  readonly timers: number;
}

export interface WeekReport {
  readonly sent: number;
  readonly answered: number;
  readonly imported: number;
  readonly synced: number;
  readonly restarts: number;
  readonly jumps: number;
  readonly providerFaults: number;
  readonly engineFaults: number;
  readonly compactions: number;
  readonly entries: number;
  /** Why messages were not taken, each reason once; they stayed in the composer. */
  readonly refusals: readonly string[];
  readonly samples: readonly WeekSample[];
}

const hour = 3_600_000;

/**
 * Days of one profile, by a clock that is told the time: two windows on one history, three other programs that are followed, another
 * device that the history is synchronised with, a provider and an engine that fail by chance, a clock that is set, a machine that
 * sleeps. Throws when anything that was taken is not there at the end, in the history and on the other device.
 */
export async function liveAWeek(options: WeekOptions): Promise<WeekReport> {
  const week = await Week.begin(options);
  try {
    return await week.live();
  } finally {
    await week.end();
  }
}

class Week {
  private readonly random: () => number;
  private readonly clock = new WeekClock();
  private readonly model: WeekModel;
  private readonly sent: string[] = [];
  private readonly refusals = new Set<string>();
  private readonly windows: WeekWindow[] = [];
  private readonly files: AgentFiles;
  private readonly realNow = Date.now;
  private watch: AgentWatch | null = null;
  private restarts = 0;
  private jumps = 0;
  private compactions = 0;

  private constructor(
    private readonly options: WeekOptions,
    private readonly temp: ReturnType<typeof tempFolder>,
    private readonly sync: WeekSync,
    random: () => number,
  ) {
    this.random = random;
    this.model = new WeekModel(random);
    this.files = new AgentFiles(this.home, random);
  }

  static async begin(options: WeekOptions): Promise<Week> {
    const random = seededRandom(options.seed);
    const temp = tempFolder();
    for (const name of ['home', 'carried', 'store']) mkdirSync(join(temp.path, name));
    const engine = await FolderEngine.open(join(temp.path, 'carried'), 'main', true);
    const week = new Week(options, temp, await WeekSync.begin(engine, random, join(temp.path, 'elsewhere')), random);
    Date.now = () => week.clock.now();
    const deps = { clock: week.clock, model: week.model, summarizer: new WeekSummarizer(random) };
    for (const label of ['one', 'two']) week.windows.push(new WeekWindow(week.folder, label, deps));
    return week;
  }

  async live(): Promise<WeekReport> {
    const { hours, actionsPerHour, tabs, sessions } = this.options;
    const first = await this.windows[0]!.open(tabs);
    await this.windows[1]!.open(1);
    await this.sync.join(first);
    for (let i = 0; i < sessions; i++)
      await first.createSession({ uuid: testUuid(), channel: 'vscode', title: `Session ${i}`, createdAt: Date.now() });
    await this.follow(first);
    const samples: WeekSample[] = [];
    for (let i = 0; i < hours; i++) {
      for (let n = 0; n < actionsPerHour; n++) {
        this.clock.pass((hour / actionsPerHour) * 2 * this.random());
        await this.act();
      }
      if (i % Math.max(1, Math.floor(hours / 12)) === 0 || i === hours - 1) samples.push(await this.sample(i));
    }
    return { ...(await this.account()), samples };
  }

  async end(): Promise<void> {
    await this.watch?.stop();
    for (const window of this.windows) await window.close();
    await this.sync.close();
    Date.now = this.realNow;
    this.temp.remove();
  }

  private get folder(): string {
    return join(this.temp.path, 'store');
  }

  private get home(): string {
    return join(this.temp.path, 'home');
  }

  private pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }

  private async act(): Promise<void> {
    const window = this.windows[this.random() < 0.75 ? 0 : 1]!;
    const place = this.pick(window.places);
    for (let i = this.random() * 3; i > 1; i--) this.files.write();
    const draw = this.random();
    if (draw < 0.03) return this.restart(window);
    if (draw < 0.06) return this.setClock();
    if (draw < 0.1) return void (await this.idle(), await place.controller.active.newSession());
    if (draw < 0.24) return this.change(window, place);
    if (draw < 0.29) return this.fold(place);
    if (draw < 0.36) return void (await this.sync.exchange(this.store));
    if (draw < 0.38) return this.sync.sayElsewhere();
    await this.send(place);
    if (this.random() < 0.06) await place.controller.active.chat?.stop();
    if (this.random() < 0.7) await this.idle();
  }

  private get store(): SessionStore {
    return this.windows[0]!.store;
  }

  private async send(place: WeekPlace): Promise<void> {
    const text = `question-${this.sent.length}- ${'about the harbour and its tide '.repeat(1 + Math.floor(this.random() * 30))}`;
    // What was handed back to the composer is sent with what is written next.
    const { text: drafted } = place.controller.active.draft;
    try {
      await place.controller.active.send(new UuidV7().next(), drafted === '' ? text : `${drafted}\n${text}`);
      this.sent.push(text);
    } catch (error) {
      this.refusals.add(errorText(error));
    }
  }

  /** Another session on show; one that is on show elsewhere is brought to the front there. */
  private async change(window: WeekWindow, place: WeekPlace): Promise<void> {
    const sessions = await window.store.listSessions({ limit: 60 });
    if (sessions.length > 0) await place.controller.active.openSession(this.pick(sessions).uuid);
  }

  private async fold(place: WeekPlace): Promise<void> {
    await this.idle();
    const conversation = await place.controller.active.conversation();
    if (!conversation) return;
    if (this.random() < 0.3) return void (await conversation.undoCompaction());
    const { entry } = await conversation.compact();
    if (entry) this.compactions++;
  }

  private setClock(): void {
    this.jumps++;
    // A night asleep, or a clock that was set, forward or back.
    this.clock.jump(this.random() < 0.5 ? 8 * hour : (this.random() - 0.5) * 6 * hour);
  }

  private async restart(window: WeekWindow): Promise<void> {
    this.restarts++;
    const isFirst = window === this.windows[0];
    if (isFirst) await this.watch?.stop();
    await window.close();
    const store = await window.open(isFirst ? this.options.tabs : 1);
    if (isFirst) await this.follow(store);
  }

  private async follow(store: SessionStore): Promise<void> {
    const memory = new WatchMemory(join(this.temp.path, 'memory.json'), 'null');
    await memory.load();
    const machine = { home: this.home, platform: 'linux' as const, env: {}, folders: [] };
    this.watch = new AgentWatch({
      places: watchedPrograms.flatMap((program) => places[program](machine).map((place) => ({ program, place }))),
      store,
      ids: new UuidV7(),
      now: Date.now,
      wasmFile,
      memory,
      isWanted: wantedIn(null),
      added: () => undefined,
      told: () => undefined,
      pace: { quietMs: 2, settleMs: 20, hotMs: 60_000, scanMs: 3_600_000, retryMs: 10 },
    });
    await this.watch.start();
  }

  /** Until nothing runs in any window; what waits for its time gets it. */
  private async idle(): Promise<void> {
    const isBusy = () => this.windows.some((window) => window.isBusy);
    const end = performance.now() + 30_000 * patience();
    for (let i = 0; isBusy(); i++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (i % 200 === 199) this.clock.pass(1_000);
      if (performance.now() > end) throw new Error(`a turn does not end: ${this.windows.map((window) => window.phases).join('; ')}`);
    }
  }

  private async sample(at: number): Promise<WeekSample> {
    await this.idle();
    // A file that is being followed is open while it is read.
    await this.watch!.settled();
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return {
      hour: at,
      heapMb: Math.round(process.memoryUsage().heapUsed / 100_000) / 10,
      handles: process.getActiveResourcesInfo().filter((name) => name !== 'Timeout' && name !== 'Immediate').length,
      files: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
      timers: this.clock.timers,
    };
  }

  private async account(): Promise<Omit<WeekReport, 'samples'>> {
    await this.idle();
    await this.watch!.scan();
    await this.watch!.settled();
    await this.watch!.stop();
    this.watch = null;
    await this.sync.settle(this.store);
    for (const window of this.windows) await window.close();

    const store = await openTestStore(this.folder);
    const counts = await markers(store);
    const waiting = await stillWaiting(store);
    await store.close();
    const elsewhere = await markers(this.sync.elsewhere);
    const wanted = [...this.sent, ...this.model.answered, ...this.files.said, ...this.sync.said].map(markerOf);
    // A message that waited for a turn which was stopped is back in the composer, or waits on.
    const lost = (there: ReadonlyMap<string, number>) => wanted.filter((marker) => !there.has(marker) && !waiting.includes(marker));
    assert.deepEqual(lost(counts), [], 'lost here');
    assert.deepEqual(lost(elsewhere), [], 'lost on the other device');
    const often = this.sent.map(markerOf).map((marker) => [marker, counts.get(marker) ?? 0, waiting.split(marker).length - 1] as const);
    assert.deepEqual(
      often.filter(([, said, waits]) => said + waits !== 1),
      [],
      'said more than once: in entries, and still waiting',
    );
    const { code, out, err } = await runCliToEnd(['verify', '--store', this.folder]);
    assert.equal(code, 0, out + err);
    return {
      sent: this.sent.length,
      answered: this.model.answered.length,
      imported: this.files.said.length,
      synced: this.sync.exchanges,
      restarts: this.restarts,
      jumps: this.jumps,
      providerFaults: this.model.failed,
      engineFaults: this.sync.faults,
      compactions: this.compactions,
      entries: [...counts.values()].reduce((sum, count) => sum + count, 0),
      refusals: [...this.refusals],
    };
  }
}

const markerOf = (text: string) => /^[a-z]+-\d+-/.exec(text)?.[0] ?? text;

async function stillWaiting(store: SessionStore): Promise<string> {
  const texts: string[] = [];
  for (const { uuid } of await store.listSessions({ limit: 100_000 }))
    texts.push((await store.draft(uuid))?.text ?? '', ...(await store.queue(uuid)).map(({ text }) => text));
  return texts.join('\n');
}

/** How often each marker begins the text of an entry. */
async function markers(store: SessionStore): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { uuid } of await store.listSessions({ limit: 100_000 })) {
    for (const entry of await store.entriesBySeq(await store.entrySeqs(uuid))) {
      if (entry.content.type !== 'message') continue;
      for (const [marker] of entryText(entry.content).matchAll(/^[a-z]+-\d+-/gm)) counts.set(marker, (counts.get(marker) ?? 0) + 1);
    }
  }
  return counts;
}
