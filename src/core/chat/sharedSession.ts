import type { Disposable } from '../base/disposable';
import { CancelledError, errorText } from '../errors';
import type { IdSource, Logger, SessionStore } from '../ports';
import type { PartialChunk, StoreChange } from '../session/storage';
import { markTypes } from '../session/entry';
import type { Session } from '../session/session';
import { transcriptPageSize } from '../branches/branching';
import type { BranchState } from './branchState';
import type { ConversationEvent } from './events';
import { untilAborted } from '../base/untilAborted';

export interface SharedSessionDeps {
  readonly store: SessionStore;
  readonly ids: IdSource;
  readonly log: Logger;
  readonly branch: BranchState;
  readonly emit: (event: ConversationEvent) => void;
  /** The branch in memory has grown, or (`replaced`) is another one now. */
  readonly branchChanged: (replaced: boolean) => void;
  /** Somebody else has chosen another model for it, or how that thinks, or a policy. */
  readonly modelChanged: () => void;
  /** Another window asks for our operation to be stopped. */
  readonly stop: () => void;
}

/*
 * One session in several windows: one of them works in it at a time, the others follow.
 *
 *   following ──take: granted──▶ working ──release──▶ following
 *       └──take: held by another──▶ waiting (and following) ──it has ended──▶ take again
 *
 * While following, what another window appends and streams is told as if it happened here.
 */
export class SharedSession implements Disposable {
  private readonly subscription: Disposable;
  /** What is being followed is told in order; an operation of ours begins after it. */
  private last: Promise<void> = Promise.resolve();
  private working = false;
  private holder: string | null = null;
  /** Blocks that another window streams, and how much of each has been told. */
  private readonly live = new Map<string, number>();
  private wake: () => void = () => undefined;

  constructor(private readonly deps: SharedSessionDeps) {
    this.subscription = deps.store.onDidChange((change) => this.changed(change));
  }

  /** Learns what another window is doing here at this moment. Never rejects. */
  follow(): Promise<void> {
    return this.inOrder(async () => {
      const { holder, streaming } = await this.deps.store.activity(this.session);
      this.setHolder(holder);
      if (holder !== null) for (const chunk of streaming) this.streamed(chunk);
    });
  }

  /**
   * Reserves the session for an operation, and brings the branch up to date. While another window works in it, `held` decides:
   * undefined waits, anything else is the result. Rejects with `StoreError`, or `CancelledError` when aborted while waiting.
   */
  async take<T>(
    held: (holder: string) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<{ readonly release: () => Promise<void> } | { readonly refused: T }> {
    const { store, ids } = this.deps;
    const claim = ids.next();
    for (let asked = false; ; ) {
      const freed = new Promise<void>((resolve) => (this.wake = resolve));
      const outcome = await store.claim(this.session, claim);
      if (outcome.granted) {
        this.working = true;
        await this.last;
        try {
          await this.update(outcome.leaf);
        } catch (error) {
          await this.release(claim);
          throw error;
        }
        return { release: () => this.release(claim) };
      }
      this.setHolder(outcome.holder);
      const refused = asked ? undefined : await held(outcome.holder);
      asked = true;
      if (refused !== undefined) return { refused };
      await untilAborted(freed, signal, () => {
        throw new CancelledError();
      });
    }
  }

  private async update(leaf: string | null): Promise<void> {
    if (this.holder !== null) await this.ended();
    else if (leaf !== this.deps.branch.leaf) await this.catchUp([]);
  }

  get isElsewhere(): boolean {
    return this.holder !== null;
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private get session(): string {
    return this.deps.branch.session.uuid;
  }

  private async release(claim: string): Promise<void> {
    this.working = false;
    await this.deps.store
      .release(this.session, claim)
      .catch((error: unknown) => this.deps.log.warn('session_not_released', { detail: errorText(error) }));
  }

  private changed(change: StoreChange): void {
    if (change.kind !== 'all' && change.session !== null && change.session !== this.session) return;
    switch (change.kind) {
      case 'stop':
        return this.deps.stop();
      case 'claim':
        void this.inOrder(() => (change.holder === null ? this.ended() : Promise.resolve(this.setHolder(change.holder))));
        if (change.holder === null) this.wake();
        return;
      case 'all':
        void this.inOrder(() => this.ended());
        // What has come from another device is told so.
        void this.inOrder(() => this.sessionChanged(), true);
        void this.follow();
        return this.wake();
      case 'entries':
        return void this.inOrder(() => this.catchUp(change.entries));
      case 'branch':
        return void this.inOrder(() => this.catchUp([]));
      case 'partial':
        return void this.inOrder(() => this.partial(change.chunk));
      case 'session':
        return void this.inOrder(() => this.sessionChanged(), true);
      case 'draft':
      case 'queue':
        return;
    }
  }

  /** What happens while we work is ours, or waits until we have ended. */
  private inOrder(work: () => Promise<void>, always = false): Promise<void> {
    this.last = this.last.then(async () => {
      if (this.working && !always) return;
      await work().catch((error: unknown) => this.deps.log.warn('session_not_followed', { detail: errorText(error) }));
    });
    return this.last;
  }

  private setHolder(holder: string | null): void {
    if (holder === null) {
      for (const entryId of this.live.keys()) this.deps.emit({ type: 'live_dropped', entryId });
      this.live.clear();
    }
    if (holder === this.holder) return;
    this.holder = holder;
    this.deps.emit({ type: 'elsewhere_changed', holder });
  }

  /** The other window has finished, or has gone and left something unfinished. */
  private async ended(): Promise<void> {
    await this.deps.store.recoverPartials(this.session);
    await this.catchUp([]);
    this.setHolder(null);
  }

  /** `named`: entries known to be new. Those that nothing can follow are not on the branch, and are told as well. */
  private async catchUp(named: readonly string[]): Promise<void> {
    const { branch, store, emit } = this.deps;
    const { leaf } = branch;
    await branch.reload();
    const at = branch.entries.findIndex(({ uuid }) => uuid === leaf);
    // More than is read at once has been added: it is shown like another branch, by its newest page.
    const isReplaced = (leaf !== null && at < 0) || !branch.isRead(at + 1);
    this.deps.branchChanged(isReplaced);
    if (isReplaced) {
      // What streams is told again from its beginning.
      this.live.clear();
      return emit({ type: 'branch_replaced', page: await store.page(this.session, { limit: transcriptPageSize }) });
    }
    const added = branch.entries.slice(at + 1);
    const others = named.filter((uuid) => !branch.entries.some((entry) => entry.uuid === uuid));
    const aside = others.length === 0 ? [] : (await store.entries(others)).filter(({ content }) => markTypes.has(content.type));
    for (const entry of [...added, ...aside]) {
      this.live.delete(entry.uuid);
      emit({ type: 'entry_appended', entry });
    }
  }

  private async partial(chunk: PartialChunk): Promise<void> {
    if ((chunk.offset ?? 0) <= (this.live.get(chunk.entry) ?? 0)) return this.streamed(chunk);
    // Its beginning was written before we listened.
    const { streaming } = await this.deps.store.activity(this.session);
    for (const whole of streaming) this.streamed(whole);
  }

  private streamed({ entry, kind, model, text, offset = 0 }: PartialChunk): void {
    const told = this.live.get(entry) ?? 0;
    const added = text.slice(Math.max(0, told - offset));
    if (added === '' || this.deps.branch.entries.some(({ uuid }) => uuid === entry)) return;
    this.live.set(entry, told + added.length);
    this.deps.emit({ type: 'text_delta', entryId: entry, block: kind, model, text: added });
  }

  private async sessionChanged(): Promise<void> {
    const { branch, store, emit } = this.deps;
    const session = await store.session(this.session);
    emit({ type: 'pins_changed', pins: await store.pins(this.session) });
    const before = branch.session;
    if (!session) return;
    const isOtherModel = modelText(session) !== modelText(before);
    if (!isOtherModel && detailsText(session) === detailsText(before)) return;
    branch.session = session;
    emit({ type: 'session_changed', session });
    if (isOtherModel) this.deps.modelChanged();
  }
}

/** What people may say of a session (`SessionDetails`). */
function detailsText({ title, key, costLimit, metadata }: Session): string {
  return JSON.stringify([title, key, costLimit, metadata]);
}

/** What they have chosen for what answers in it. */
function modelText({ model, policy, thinkingLevel }: Session): string {
  return JSON.stringify([model, policy, thinkingLevel]);
}
