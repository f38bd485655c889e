import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { AppendBatch } from '../../../core/session/appendBatch';
import type { Activity, ClaimOutcome, StoreChange } from '../../../core/session/storeChange';
import { markTypes } from '../../../core/session/entryKinds';
import type { StoreOperations } from './storeOperations';
import { changeOf } from '../client/storeProtocol';
import type { CallArguments, CoreCall, StoreCall } from '../client/storeProtocol';

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

  /** Throws, or rejects with, a `StoreError`. What is asked first is carried out first, save that claims may have to wait. */
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
        return this.queue(window, ...(args as CallArguments<'queue'>));
      case 'saveQueue':
        return this.saveQueue(window, ...(args as CallArguments<'saveQueue'>));
      case 'append':
        this.refuseIntrusion(window, ...(args as CallArguments<'append'>));
        return this.perform(window, method, args);
      case 'purge': {
        const [sessions] = args as CallArguments<'purge'>;
        const held = sessions.find((session) => this.isHeldByAnother(window, session));
        if (held !== undefined) throw new StoreError('conflict', english('Another window is working in session {0}', held));
        return this.perform(window, method, args);
      }
      default:
        return this.perform(window, method, args);
    }
  }

  private perform(window: StoreWindow, method: CoreCall, args: readonly unknown[]): unknown {
    const result = (this.core[method] as (...args: unknown[]) => unknown).call(this.core, ...args);
    const change = changeOf(method, args, result);
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

  private refuseIntrusion(window: StoreWindow, session: string, batch: AppendBatch): void {
    if (batch.after === undefined || !this.isHeldByAnother(window, session)) return;
    if (batch.entries.every(({ content }) => markTypes.has(content.type))) return;
    throw new StoreError('conflict', english('Another window is working in session {0}', session));
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
    this.core.saveQueue(session, queue, isOthers);
    for (const { id } of before) if (!isOthers(id)) this.queuedBy.delete(id);
    for (const { id } of queue) this.queuedBy.set(id, window);
  }

  private afterReturn<T>(work: () => T): T | Promise<T> {
    return this.returned ? this.returned.then(work) : work();
  }

  private tell(author: StoreWindow, change: StoreChange): void {
    for (const window of this.windows) if (window !== author) window.notify(change);
  }
}
