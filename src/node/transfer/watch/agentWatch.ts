import { errorText } from '../../../core/errors';
import type { ProgramId, ProgramStatus } from '../../../core/transfer/programs';
import { ForeignError } from './foreignError';
import { followSource, type Followed } from './followSource';
import { FolderWatch } from './folderWatch';
import { Intake, SessionBusy, type IntakeOptions } from './intake';
import type { Place } from './places';
import { scanPlace, sizeOf, stampOf, type FoundSource, type Stamp } from './scanPlace';
import type { WatchMemory } from './watchMemory';

export interface AgentWatchOptions extends IntakeOptions {
  readonly places: readonly { readonly program: ProgramId; readonly place: Place }[];
  readonly wasmFile: string;
  readonly memory: WatchMemory;
  /** How the programs stand has changed. */
  readonly told: (programs: readonly ProgramStatus[]) => void;
  /** Milliseconds. */
  readonly pace?: Partial<Pace>;
}

export interface Pace {
  /** Between a change and the look at it, so that several make one. */
  readonly quietMs: number;
  /** After which no more of an answer is waited for. */
  readonly settleMs: number;
  /** Between two looks at the sources that have changed last, behind the notifications. */
  readonly hotMs: number;
  /** Between two looks at all, at least; one that takes long is followed by a longer rest. */
  readonly scanMs: number;
  /** Before a source that could not be read is tried again; it doubles up to a minute. */
  readonly retryMs: number;
  /** A source rests for so many times as long as reading it has taken, however often it changes. */
  readonly rest: number;
}

const usual: Pace = { quietMs: 50, settleMs: 250, hotMs: 5_000, scanMs: 60_000, retryMs: 500, rest: 4 };
/** A look at all takes no more than this part of the time. */
const scanShare = 1_000;
/** Sources whose reader is kept, with all that it knows of their records: the last that have changed. */
const mostKept = 8;
const mostHot = 16;
const mostProblems = 5;
const tellEveryMs = 250;

interface Source {
  readonly program: ProgramId;
  readonly place: Place;
  readonly file: string;
  size: number;
  /** As it was read last. */
  stamp: string;
  /** As they were when it could not be read. */
  rights: string;
  identity: string;
  /** All of it is about other folders. */
  elsewhere: boolean;
  followed: Followed | null;
  /** It is being read, and again when that is done. */
  state: 'idle' | 'reading' | 'again';
  restsUntil: number;
  failures: number;
  problem: string | null;
  timer: NodeJS.Timeout | undefined;
  /** Runs out when nothing has followed what is held back. */
  settling: NodeJS.Timeout | undefined;
}

/**
 * Follows the sessions of other programs: what is there is imported, and what is written comes in as it is written. Their files are only
 * read. Notifications of the file system say where to look; a slow look behind them finds what these miss. What is new is read before
 * what is old.
 */
export class AgentWatch {
  private readonly intakes = new Map<ProgramId, Intake>();
  private readonly pace: Pace;
  private readonly sources = new Map<string, Source>();
  private readonly watches = new Map<Place, FolderWatch>();
  private readonly abort = new AbortController();
  /** Found, and not yet read: the newest last. */
  private backlog: Source[] = [];
  private readonly urgent: Source[] = [];
  private readonly lanes = new Set<Promise<void>>();
  private hot: Source[] = [];
  private readonly sessions = new Map<ProgramId, Set<string>>();
  private readonly scanProblems = new Map<Place, ProgramStatus['problems']>();
  private hotTimer: NodeJS.Timeout | undefined;
  private scanTimer: NodeJS.Timeout | undefined;
  private telling: NodeJS.Timeout | undefined;
  private scanning: Promise<void> | null = null;
  /** It says whether anything is being read or waits for it. */
  private idleWaiters: (() => void)[] = [];

  constructor(private readonly options: AgentWatchOptions) {
    this.pace = { ...usual, ...options.pace };
    for (const { program } of options.places)
      this.intakes.set(program, new Intake({ ...options, added: (session) => this.added(program, session) }));
  }

  /** Resolves when all is found; what is found is read from then on. Never rejects. */
  async start(): Promise<void> {
    await this.scan();
    if (this.abort.signal.aborted) return;
    this.lookAtHotLater();
    this.scanLater(0);
  }

  /** Resolves when everything that is known to have changed has been read. */
  async settled(): Promise<void> {
    while (!this.isIdle) await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
  }

  /** Resolves when nothing is being written any more. */
  async stop(): Promise<void> {
    this.abort.abort();
    clearTimeout(this.hotTimer);
    clearTimeout(this.scanTimer);
    clearTimeout(this.telling);
    for (const { timer, settling } of this.sources.values()) {
      clearTimeout(timer);
      clearTimeout(settling);
    }
    for (const watch of this.watches.values()) watch.dispose();
    await this.scanning;
    await Promise.all(this.lanes);
    await this.options.memory.save();
  }

  /** Looks at everything, now. Never rejects. */
  scan(): Promise<void> {
    this.scanning ??= this.scanAll().finally(() => (this.scanning = null));
    return this.scanning;
  }

  private get isIdle(): boolean {
    return (
      this.scanning === null &&
      this.urgent.length === 0 &&
      this.backlog.length === 0 &&
      [...this.sources.values()].every(({ state, timer, settling }) => state === 'idle' && timer === undefined && settling === undefined)
    );
  }

  private lookAtHotLater(): void {
    this.hotTimer = setTimeout(
      () => void this.lookAtHot().finally(() => !this.abort.signal.aborted && this.lookAtHotLater()),
      this.pace.hotMs,
    );
    this.hotTimer.unref();
  }

  private scanLater(tookMs: number): void {
    this.scanTimer = setTimeout(
      () => {
        const began = performance.now();
        void this.scan().finally(() => !this.abort.signal.aborted && this.scanLater(performance.now() - began));
      },
      Math.max(this.pace.scanMs, tookMs * scanShare),
    );
    this.scanTimer.unref();
  }

  private async scanAll(): Promise<void> {
    for (const { program, place } of this.options.places) {
      if (this.abort.signal.aborted) return;
      await this.scanOne(program, place).catch((error: unknown) => this.scanProblems.set(place, problemOf(place, error)));
    }
    if (this.abort.signal.aborted) return;
    this.tell();
    this.run();
  }

  private async scanOne(program: ProgramId, place: Place): Promise<void> {
    const scanned = await scanPlace(place);
    if (this.abort.signal.aborted) return;
    this.scanProblems.set(place, scanned.problems);
    if (scanned.folders.length > 0) this.watchOf(program, place).follow(scanned.folders);
    else this.watchOf(program, place).waitForRoot();
    this.found(program, place, scanned.sources);
    const there = new Set(scanned.sources.map(({ file }) => file));
    // What has gone leaves its history here; what comes under its name is another one.
    for (const source of [...this.sources.values()])
      if (source.place === place && !there.has(source.file) && source.state === 'idle') this.forget(source);
  }

  private watchOf(program: ProgramId, place: Place): FolderWatch {
    let watch = this.watches.get(place);
    if (!watch) {
      watch = new FolderWatch(place, {
        changed: (file) => this.changed(program, place, file),
        appeared: (folder) => {
          // The slow look comes to it again.
          this.appeared(program, place, folder).catch((error: unknown) => this.scanProblems.set(place, problemOf(place, error)));
        },
      });
      this.watches.set(place, watch);
    }
    return watch;
  }

  private async appeared(program: ProgramId, place: Place, folder: string): Promise<void> {
    const watch = this.watchOf(program, place);
    for (let hasNew = true; hasNew; ) {
      const scanned = await scanPlace(place, folder);
      if (this.abort.signal.aborted) return;
      if (folder === '' && scanned.folders.length === 0) return watch.waitForRoot();
      // What came into a folder before it was watched is found by another look.
      hasNew = watch.follow(scanned.folders);
      for (const { file } of scanned.sources) this.changed(program, place, file);
    }
  }

  /** The newest is read first: it is the one that somebody works with. */
  private found(program: ProgramId, place: Place, found: readonly FoundSource[]): void {
    const fresh: { readonly source: Source; readonly mtimeMs: number }[] = [];
    for (const { file, size, mtimeMs, stamp } of found) {
      const source = this.sourceOf(program, place, file);
      source.size = size;
      if (isAsItWas(source, stamp) || this.isElsewhere(source, stamp)) continue;
      if (source.state === 'idle' && source.timer === undefined) fresh.push({ source, mtimeMs });
    }
    const waiting = new Set(this.backlog);
    fresh.sort((a, b) => a.mtimeMs - b.mtimeMs);
    this.backlog = [...this.backlog, ...fresh.map(({ source }) => source).filter((source) => !waiting.has(source))];
    this.run();
  }

  private sourceOf(program: ProgramId, place: Place, file: string): Source {
    let source = this.sources.get(file);
    if (!source) {
      const known = this.options.memory.get(file);
      source = {
        program,
        place,
        file,
        size: 0,
        stamp: known?.stamp ?? '',
        rights: '',
        identity: known?.identity ?? '',
        elsewhere: known?.elsewhere ?? false,
        followed: null,
        state: 'idle',
        restsUntil: 0,
        failures: 0,
        problem: null,
        timer: undefined,
        settling: undefined,
      };
      this.sources.set(file, source);
    }
    return source;
  }

  private isElsewhere(source: Source, stamp: { readonly identity: string }): boolean {
    return source.elsewhere && source.identity === stamp.identity && source.place.way.type !== 'database';
  }

  private forget(source: Source): void {
    clearTimeout(source.timer);
    clearTimeout(source.settling);
    // Another one may stand under its name by now.
    if (this.sources.get(source.file) !== source) return;
    this.sources.delete(source.file);
    this.options.memory.delete(source.file);
  }

  private changed(program: ProgramId, place: Place, file: string, wait = this.pace.quietMs): void {
    if (this.abort.signal.aborted) return;
    const source = this.sourceOf(program, place, file);
    if (source.state !== 'idle') {
      source.state = 'again';
      return;
    }
    if (source.timer !== undefined) return;
    source.timer = setTimeout(
      () => {
        source.timer = undefined;
        this.urgent.push(source);
        this.run();
      },
      Math.max(wait, source.restsUntil - performance.now()),
    );
  }

  private async lookAtHot(): Promise<void> {
    for (const source of this.hot) {
      const stamp = (await sizeOf(source.file, source.place.way.type === 'database'))?.stamp;
      if (this.abort.signal.aborted) return;
      if (stamp && !isAsItWas(source, stamp) && !this.isElsewhere(source, stamp)) this.changed(source.program, source.place, source.file);
    }
  }

  /** One lane for what has just changed, one for the rest: a file of a gigabyte holds up nobody's last words. */
  private run(): void {
    while (this.lanes.size < 2 && !this.abort.signal.aborted) {
      const isFree = this.lanes.size === 0;
      const source = this.urgent.shift() ?? (isFree ? this.backlog.pop() : undefined);
      if (!source) break;
      if (source.state !== 'idle') {
        source.state = 'again';
        continue;
      }
      source.state = 'reading';
      this.begin(source, this.read(source));
    }
    if (this.isIdle) for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private async read(source: Source): Promise<void> {
    const { memory, wasmFile } = this.options;
    const stamp = await stampOf(source.place, source.file);
    if (!stamp) return this.forget(source);
    if (isAsItWas(source, stamp) || this.isElsewhere(source, stamp)) return;
    if (source.identity !== stamp.identity && source.place.way.type === 'database') source.followed = null;
    const remembered = memory.get(source.file);
    const mark = remembered?.identity === stamp.identity ? (remembered.mark ?? null) : null;
    source.followed ??= followSource(source.place, source.file, this.intakes.get(source.program)!, wasmFile, mark);
    const began = performance.now();
    try {
      const outcome = await source.followed.read(this.abort.signal);
      Object.assign(source, {
        stamp: stamp.text,
        identity: stamp.identity,
        failures: 0,
        problem: null,
        elsewhere: outcome === 'elsewhere',
      });
      source.size = (await sizeOf(source.file, source.place.way.type === 'database'))?.size ?? source.size;
      this.keep(source, outcome);
      if (source.followed?.holds) this.settleLater(source);
      else this.remember(source);
      source.restsUntil = performance.now() + (performance.now() - began) * this.pace.rest;
    } catch (error) {
      if (this.abort.signal.aborted) return;
      source.rights = stamp.rights;
      // A reader that goes on knows this file, and no other one that may come under its name.
      if (source.followed?.resumes) source.identity = stamp.identity;
      this.failed(source, error, stamp.text);
    }
    this.tell();
  }

  private keep(source: Source, outcome: 'here' | 'elsewhere'): void {
    this.hot = this.hot.filter((one) => one !== source);
    if (outcome === 'elsewhere') {
      source.followed = source.place.way.type === 'database' ? source.followed : null;
      return;
    }
    this.hot.unshift(source);
    this.letGo();
  }

  /**
   * Lets the readers of sources go that nobody writes to: each holds a word about every record. One that holds a record back is needed
   * until that has been taken in.
   */
  private letGo(): void {
    const isNeeded = ({ state, settling }: Source) => state !== 'idle' || settling !== undefined;
    this.hot = this.hot.filter((source, index) => {
      if (index < mostKept || isNeeded(source)) return true;
      if (index >= mostHot || source.place.way.type !== 'database') source.followed = null;
      return index < mostHot;
    });
  }

  /** Nothing of it is read again before it changes, by whichever window. */
  private remember({ file, stamp, identity, elsewhere, followed }: Source): void {
    this.options.memory.set(file, { stamp, identity, elsewhere, mark: followed?.mark ?? null });
  }

  private settleLater(source: Source): void {
    clearTimeout(source.settling);
    source.settling = setTimeout(() => {
      source.settling = undefined;
      // What came meanwhile is read, and waited for anew.
      if (source.state !== 'idle') return this.settleLater(source);
      source.state = 'reading';
      this.begin(source, this.settle(source));
    }, this.pace.settleMs);
  }

  private async settle(source: Source): Promise<void> {
    await source.followed?.settle();
    this.remember(source);
  }

  private begin(source: Source, work: Promise<void>): void {
    const lane: Promise<void> = work
      .catch((error: unknown) => this.failed(source, error, source.stamp))
      .finally(() => {
        this.lanes.delete(lane);
        const again = source.state === 'again';
        source.state = 'idle';
        this.letGo();
        if (again) this.changed(source.program, source.place, source.file);
        this.run();
      });
    this.lanes.add(lane);
  }

  private failed(source: Source, error: unknown, stamp: string): void {
    const isBusy = error instanceof SessionBusy;
    // What was read and not stored is read again.
    if (!isBusy && !source.followed?.resumes) source.followed = null;
    source.failures = isBusy ? 1 : source.failures + 1;
    source.problem = isBusy ? null : errorText(error);
    // What cannot be read as it stands is not read again until it changes.
    if (ForeignError.isLasting(error, source.failures)) {
      source.stamp = stamp;
      return;
    }
    source.stamp = '';
    if (source.state === 'reading') source.state = 'again';
    source.restsUntil = performance.now() + Math.min(60_000, this.pace.retryMs * 2 ** Math.min(10, source.failures - 1));
  }

  private added(program: ProgramId, session: string): void {
    const seen = this.sessions.get(program) ?? new Set();
    seen.add(session);
    this.sessions.set(program, seen);
    this.options.added(session);
    this.tell();
  }

  private tell(): void {
    if (this.abort.signal.aborted) return;
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      this.options.told(this.status());
    }, tellEveryMs);
  }

  /** One for each program that is watched. */
  status(): ProgramStatus[] {
    const ids = [...new Set(this.options.places.map(({ program }) => program))];
    const waiting = new Set([...this.backlog, ...this.urgent]);
    return ids.map((id) => {
      const own = [...this.sources.values()].filter(({ program }) => program === id);
      const unread = own.flatMap(({ file, problem }) => (problem === null ? [] : [{ source: file, reason: problem }]));
      const scan = this.options.places.flatMap(({ program, place }) => (program === id ? (this.scanProblems.get(place) ?? []) : []));
      return {
        id,
        sources: own.length,
        bytes: own.reduce((sum, { size }) => sum + size, 0),
        waiting: own.filter((source) => waiting.has(source) || source.state !== 'idle').length,
        sessions: this.sessions.get(id)?.size ?? 0,
        problems: [...unread, ...scan].slice(0, mostProblems),
      };
    });
  }
}

/** What could not be read can be read when somebody has changed who may, without a word of it being another. */
function isAsItWas({ stamp, rights, problem }: Source, now: Stamp): boolean {
  return stamp === now.text && (problem === null || rights === now.rights);
}

function problemOf({ root }: Place, error: unknown): ProgramStatus['problems'] {
  return [{ source: root, reason: errorText(error) }];
}
