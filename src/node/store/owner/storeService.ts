import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { AppendBatch, Activity, ClaimOutcome, StoreChange } from '../../../core/session/storage';
import { markTypes } from '../../../core/session/entry';
import { changeOf, type StoreOperations } from './storeOperations';
import type { CallArguments, CallResult, CoreCall, CoreStore, StoreCall } from '../client/storeCalls';
import type { StoreStatus } from '../../../core/ports';

/** A window that uses the store: the owner's own, or one that is connected to it. */
export interface StoreWindow {
  readonly label: string;
  notify(change: StoreChange): void;
}

/** What a window has reserved, told to whoever owns the store next. */
export interface Holdings {
  readonly claims: readonly { readonly session: string; readonly claim: string }[];
  /** Ids of its queued messages. */
  readonly queued: readonly string[];
}

/**
 * One open database for several windows: carries out what they ask, in the order it arrives, tells each what the others have
 * changed, and knows who works in which session. All of that besides the database is in memory: windows bring it along when they
 * come from an owner that has ended.
 */
export class StoreService {
  private readonly windows = new Set<StoreWindow>();
  private readonly claims = new Map<string, { readonly window: StoreWindow; readonly claim: string }>();
  private readonly queuedBy = new Map<string, StoreWindow>();
  /** So much of what was asked waits for `returned`. */
  private waiting = 0;

  /**
   * Until `returned`, windows of an owner that has ended may still be on their way here: what they hold is neither given away nor
   * taken for abandoned. Null when there was none.
   */
  constructor(
    private readonly core: StoreOperations,
    private returned: Promise<void> | null,
  ) {
    void returned?.then(() => (this.returned = null));
  }

  join(window: StoreWindow, holdings: Holdings): void {
    this.windows.add(window);
    for (const { session, claim } of holdings.claims) {
      if (this.claims.has(session)) continue;
      this.claims.set(session, { window, claim });
      this.tell(window, { kind: 'claim', session, holder: window.label });
    }
    for (const id of holdings.queued) if (!this.queuedBy.has(id)) this.queuedBy.set(id, window);
  }

  leave(window: StoreWindow): void {
    if (!this.windows.delete(window)) return;
    for (const [session, held] of this.claims) if (held.window === window) this.free(session, window);
    const left = [...this.queuedBy].filter(([, owner]) => owner === window);
    for (const [id] of left) this.queuedBy.delete(id);
    if (left.length > 0) this.tell(window, { kind: 'queue', session: null });
  }

  /**
   * Throws, or rejects with, a `StoreError`. What is asked first is carried out first, save that what depends on who holds what waits
   * for `returned`.
   */
  call(window: StoreWindow, method: Exclude<StoreCall, 'takeOver'>, args: readonly unknown[]): unknown {
    switch (method) {
      case 'claim':
        return this.afterReturn(() => this.claim(window, ...(args as CallArguments<'claim'>)));
      case 'release':
        return this.release(window, ...(args as CallArguments<'release'>));
      case 'activity':
        return this.activity(window, ...(args as CallArguments<'activity'>));
      case 'requestStop': {
        const [session] = args as CallArguments<'requestStop'>;
        return this.claims.get(session)?.window.notify({ kind: 'stop', session });
      }
      case 'recoverPartials':
        return this.afterReturn(() => (this.isHeldByAnother(window, args[0]) ? [] : this.perform(window, method, args)));
      case 'queue':
        return this.afterReturn(() => this.queue(window, ...(args as CallArguments<'queue'>)));
      case 'saveQueue':
        return this.afterReturn(() => this.saveQueue(window, ...(args as CallArguments<'saveQueue'>)));
      case 'append': {
        const [session, batch] = args as CallArguments<'append'>;
        // What is billed, or comes from a file, goes by no claim.
        if (batch.after === undefined) return this.perform(window, method, args);
        // Nobody else can hold what it has brought along: a window that closes has little time for its last words. They do not overtake a
        // queue that was saved before, which would bring back the message that they take from it.
        if (this.waiting === 0 && this.claims.get(session)?.window === window) return this.append(window, session, batch);
        return this.afterReturn(() => this.append(window, session, batch));
      }
      case 'purge': {
        const [sessions] = args as CallArguments<'purge'>;
        return this.afterReturn(() => {
          const held = sessions.find((session) => this.isHeldByAnother(window, session));
          if (held !== undefined) throw new StoreError('conflict', english('Another window is working in session {0}', held));
          return this.perform(window, method, args);
        });
      }
      case 'syncReceive':
        return this.afterReturn(() => this.perform(window, method, [args[0], args[1], [...this.claims.keys()]]));
      default:
        return this.perform(window, method, args);
    }
  }

  private perform<K extends CoreCall>(window: StoreWindow, method: K, args: readonly unknown[]): CallResult<K> {
    const core: CoreStore = this.core;
    const given = args as CallArguments<K>;
    const result = core[method](...given);
    const change = changeOf(method, given, result);
    if (change) this.tell(window, change);
    return result;
  }

  private claim(window: StoreWindow, session: string, claim: string): ClaimOutcome {
    const held = this.claims.get(session);
    if (held && (held.window !== window || held.claim !== claim)) return { granted: false, holder: held.window.label };
    const found = this.core.session(session);
    if (!found) throw new StoreError('invalid', english('There is no session {0}', session));
    // A window that has left while its request waited would keep the session for good.
    if (!held && this.windows.has(window)) {
      this.claims.set(session, { window, claim });
      this.tell(window, { kind: 'claim', session, holder: window.label });
    }
    return { granted: true, leaf: found.leaf };
  }

  private release(window: StoreWindow, session: string, claim: string): void {
    const held = this.claims.get(session);
    if (held?.window === window && held.claim === claim) this.free(session, window);
  }

  private free(session: string, window: StoreWindow): void {
    this.claims.delete(session);
    this.tell(window, { kind: 'claim', session, holder: null });
  }

  private activity(window: StoreWindow, session: string): Activity {
    const held = this.claims.get(session);
    if (!held || held.window === window) return { holder: null, streaming: [] };
    return { holder: held.window.label, streaming: this.core.streaming(session) };
  }

  private append(window: StoreWindow, session: string, batch: AppendBatch): CallResult<'append'> {
    const isIntrusion = this.isHeldByAnother(window, session) && !batch.entries.every(({ content }) => markTypes.has(content.type));
    if (isIntrusion) throw new StoreError('conflict', english('Another window is working in session {0}', session));
    const appended = this.perform(window, 'append', [session, batch]);
    if (batch.queued !== undefined) this.queuedBy.delete(batch.queued);
    return appended;
  }

  private isHeldByAnother(window: StoreWindow, session: unknown): boolean {
    const held = this.claims.get(String(session));
    return held !== undefined && held.window !== window;
  }

  private queue(window: StoreWindow, session: string): ReturnType<StoreOperations['queue']> {
    const free = this.core.queue(session).filter(({ id }) => (this.queuedBy.get(id) ?? window) === window);
    for (const { id } of free) this.queuedBy.set(id, window);
    return free;
  }

  private saveQueue(window: StoreWindow, session: string, queue: CallArguments<'saveQueue'>[1]): void {
    const isOthers = (id: string) => {
      const owner = this.queuedBy.get(id);
      return owner !== undefined && owner !== window;
    };
    const before = this.core.queue(session);
    this.core.saveQueue(session, [...before.filter(({ id }) => isOthers(id)), ...queue]);
    for (const { id } of before) if (!isOthers(id)) this.queuedBy.delete(id);
    for (const { id } of queue) this.queuedBy.set(id, window);
  }

  private afterReturn<T>(work: () => T): T | Promise<T> {
    if (!this.returned) return work();
    this.waiting++;
    return this.returned.then(() => {
      this.waiting--;
      return work();
    });
  }

  private tell(author: StoreWindow, change: StoreChange): void {
    for (const window of this.windows) if (window !== author) window.notify(change);
  }
}

type LogEvent = (level: 'info' | 'warn', event: string, data: Readonly<Record<string, unknown>>) => void;

export interface HostEvents {
  onStatus(status: StoreStatus, nonce: string | null): void;
  onChange(change: StoreChange): void;
  readonly onLog: LogEvent;
}

/** One way to have the store open: as its owner, over the owner's process, or as a copy. */
export interface OpenedStore {
  readonly status: StoreStatus;
  /** It is the nonce of the lease; null for those who do not own it. */
  readonly nonce: string | null;
  /** Throws or rejects with a `StoreError`, or with `OwnerGoneError`. */
  call(method: StoreCall, args: readonly unknown[]): unknown;
  refresh(): void;
  close(): void;
  /** Lets go without writing: the store belongs to another process now. */
  abandon(): void;
}

/** What this window has reserved, gathered from the calls that were carried out for it. */
export class HoldingsRecord {
  private readonly claims = new Map<string, string>();
  private readonly queued = new Map<string, readonly string[]>();

  get current(): Holdings {
    return { claims: [...this.claims].map(([session, claim]) => ({ session, claim })), queued: [...this.queued.values()].flat() };
  }

  note(method: StoreCall, args: readonly unknown[], result: unknown): void {
    const session = String(args[0]);
    if (method === 'claim' && (result as ClaimOutcome).granted) this.claims.set(session, String(args[1]));
    if (method === 'release' && this.claims.get(session) === args[1]) this.claims.delete(session);
    if (method === 'queue') this.queued.set(session, ids(result as CallArguments<'saveQueue'>[1]));
    if (method === 'saveQueue') this.queued.set(session, ids((args as CallArguments<'saveQueue'>)[1]));
  }
}

function ids(queue: CallArguments<'saveQueue'>[1]): readonly string[] {
  return queue.map(({ id }) => id);
}
