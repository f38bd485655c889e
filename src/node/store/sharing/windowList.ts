import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { livenessOf, ProcessIdentity } from './processIdentity';

const Listed = z.object({ id: z.string(), process: ProcessIdentity });
/** A window as its owners know it: the id stays the same under every one of them. */
export type ListedWindow = z.infer<typeof Listed>;

const turnMs = 100;
/** Windows come back in some milliseconds on a quiet machine; VS Code gives one that closes five seconds for all that it still does. */
const turnsForKnown = 30;
const turnsForUnknown = 10;
/** To find out whether a process lives takes some milliseconds on macOS. */
const turnsBetweenLooks = 5;

export interface WindowListOptions {
  readonly file: string;
  readonly me: ListedWindow;
  /** Other windows may have used the store under another owner until now, though no list says so. */
  readonly afterAnother: boolean;
  /** Whether the store still is the owner's: the list is another one's otherwise. */
  readonly isOurs: () => boolean;
}

/**
 * The windows that use a store, in a file beside the lease, for whoever owns it next. What they hold is in their memory alone: until they
 * are back it must neither be given away nor taken for abandoned. In a file and not in a message to each: a new window reads it as well,
 * and it still names those that have not come back when the next owner ends as well. It is not synced: after a power cut all are gone.
 */
export class WindowList {
  private readonly here = new Map<unknown, ListedWindow>();
  private awaited: ReadonlyMap<string, ListedWindow>;
  private readonly foundAt: number;
  private isClosed = false;
  private readonly gathered = new AbortController();
  /** All are back or have ended, or there was time enough. Null when nobody is expected. */
  readonly returned: Promise<void> | null;

  constructor(private readonly options: WindowListOptions) {
    const { file, me, afterAnother } = options;
    const known = read(file);
    this.foundAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    this.awaited = new Map(known?.filter(({ id }) => id !== me.id).map((window) => [window.id, window]));
    this.here.set(this, me);
    this.dropDead();
    if (known ? this.awaited.size === 0 : !afterAnother) this.returned = null;
    else this.returned = this.wait(known ? turnsForKnown : turnsForUnknown);
    this.save();
  }

  /** `key` stands for its connection: a window may come back before it is noticed that the old one is broken. */
  joined(key: unknown, window: ListedWindow): void {
    this.here.set(key, window);
    this.forget((id) => id === window.id);
    this.save();
  }

  left(key: unknown): void {
    if (this.here.delete(key)) this.save();
  }

  /** The store is let go of. `comesBack`: the owner itself goes on as one of the windows of the next one. */
  close(comesBack: boolean): void {
    if (!comesBack) this.here.delete(this);
    this.save();
    this.isClosed = true;
    this.gathered.abort();
  }

  /** Counted in turns and not by the clock: a thread that is blocked, as by opening a store, keeps its windows waiting as well. */
  private async wait(turns: number): Promise<void> {
    const { signal } = this.gathered;
    for (let turn = 1; turn <= turns && !signal.aborted; turn++) {
      await sleep(turnMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (turn % turnsBetweenLooks === 0) this.dropDead();
    }
    if (signal.aborted) return;
    this.forget(() => true);
    this.save();
  }

  private dropDead(): void {
    this.forget((_, { process }) => livenessOf(process, this.foundAt) === 'dead');
  }

  private forget(isDone: (id: string, window: ListedWindow) => boolean): void {
    const before = this.awaited.size;
    this.awaited = new Map([...this.awaited].filter(([id, window]) => !isDone(id, window)));
    if (before > 0 && this.awaited.size === 0) this.gathered.abort();
  }

  private save(): void {
    const { file, isOurs } = this.options;
    if (this.isClosed || !isOurs()) return;
    const windows = new Map([...this.awaited, ...[...this.here.values()].map((window) => [window.id, window] as const)]);
    try {
      if (windows.size === 0) rmSync(file, { force: true });
      else writeFileSync(file, JSON.stringify([...windows.values()]), { mode: 0o600 });
    } catch {
      // A list that is cut short is none: the next owner then waits as for windows that it does not know.
    }
  }
}

function read(file: string): readonly ListedWindow[] | null {
  try {
    return z.array(Listed).parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
