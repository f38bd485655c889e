import { createHmac } from 'node:crypto';
import { CancelledError, StoreError } from '../../core/errors';
import { english } from '../../core/l10n';
import type { AttachmentPlace, AttachmentState } from '../../core/sync/attachmentPlace';
import { versionOf, type AttachmentKept } from '../../core/sync/change';
import type { Problem } from '../../core/sync/pullLogs';
import type { Sealer } from '../../core/sync/sealedRecord';
import type { SyncEngine } from '../../core/sync/syncEngine';
import type { SyncStore } from '../../core/sync/syncStore';
import type { HistoryKeys } from './historyKeys';

/** Pieces that are asked for at once. */
const piecesAtOnce = 4;

/** Attachments that are looked for at once. */
const placesAtOnce = 200;

export interface AttachmentDeps {
  readonly store: SyncStore;
  /** The history's engine; attachments stand beside its logs. */
  readonly engine: SyncEngine;
  readonly keys: HistoryKeys;
  readonly sealer: Sealer;
  readonly newId: () => string;
  /** The engine has lost rows: what was sent is looked for. */
  readonly mayLack: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Something else is to be done before the next one. */
  readonly isDue?: (() => boolean) | undefined;
}

/** What is done first comes first. */
const statesToSettle = ['asked', 'unsent', 'gone', 'wanted'] as const;

/**
 * Sends and fetches the bytes of attachments, when all texts are there: one after the other, what somebody looks at first, then the newest.
 * It may end anywhere; the next time goes on. Rejects with `EngineError` or `StoreError`; where the store does not give out what is to be
 * sent, when all others are through. What cannot be kept is not fetched on: all of it would come in vain.
 */
export async function exchangeAttachments(deps: AttachmentDeps): Promise<readonly Problem[]> {
  const { signal, isDue } = deps;
  const exchange = new Exchange(deps);
  // Their device sends texts first: they may have come since.
  await exchange.compare('tried', 'wanted', (there) => there > 0);
  if (deps.mayLack) await exchange.compare('kept', 'unsent', (there, { pieces }) => there < pieces);
  const failures: StoreError[] = [];
  for await (const place of exchange.places(() => failures.length > 0)) {
    if (signal?.aborted) throw new CancelledError();
    await exchange.settle(place).catch((error: unknown) => {
      if (place.state !== 'unsent' || !StoreError.is(error) || error.reason === 'disk_full') throw error;
      failures.push(error);
    });
    if (isDue?.()) break;
  }
  if (failures[0]) throw failures[0];
  return exchange.problems;
}

class Exchange {
  readonly problems: Problem[] = [];
  private readonly logs: SyncEngine;
  private readonly came = new Set<string>();

  constructor(private readonly deps: AttachmentDeps) {
    this.logs = deps.engine.attachments();
  }

  /** Attachments of one state become another where the engine has what it is to have. */
  async compare(from: AttachmentState, to: AttachmentState, becomes: (there: number, place: AttachmentPlace) => boolean): Promise<void> {
    const { store } = this.deps;
    const all = await store.syncAttachments(from);
    for (let at = 0; at < all.length; at += placesAtOnce) {
      const some = all.slice(at, at + placesAtOnce);
      const counts = await this.logs.counts(some.map((place) => ({ device: this.logOf(place), from: 0, to: place.pieces })));
      const changed = some.filter((place, index) => becomes(counts[index] ?? 0, place));
      if (changed.length > 0) await store.syncSettleAttachments(changed, to);
    }
  }

  /**
   * What is to be done, always what comes first. Once that has failed it would come first for ever: then what there is to be done, each
   * once, and what is added meanwhile the next time. Rejects with `StoreError`.
   */
  async *places(hasFailed: () => boolean): AsyncGenerator<AttachmentPlace, void> {
    const { store } = this.deps;
    let failed: AttachmentPlace | null = null;
    while (!failed) {
      const place = await store.syncAttachment();
      if (!place) return;
      yield place;
      if (hasFailed()) failed = place;
    }
    for (const state of statesToSettle)
      for (const place of await store.syncAttachments(state)) {
        const isIt = place.session === failed.session && place.hash === failed.hash;
        if (!isIt && (await this.isStillDue(place))) yield place;
      }
  }

  /** Its bytes may have come for another session since it was listed, or its session be purged. */
  private async isStillDue({ state, session, hash }: AttachmentPlace): Promise<boolean> {
    if (state === 'gone') return true;
    return !this.came.has(hash) && (await this.deps.store.syncKeys({ sessions: [session] })).length > 0;
  }

  async settle(place: AttachmentPlace): Promise<void> {
    const { store } = this.deps;
    if (place.state === 'gone') {
      await this.logs.dropLog(this.logOf(place));
      return store.syncSettleAttachments([place], null);
    }
    if (place.state === 'unsent') return store.syncSettleAttachments([place], (await this.send(place)) ? 'kept' : null);
    if ((await this.fetch(place)) !== 'whole') await store.syncSettleAttachments([place], 'tried');
  }

  /** False: its bytes are not here. What the engine has of it already is not sent again. */
  private async send({ session, hash, mime }: AttachmentPlace): Promise<boolean> {
    const { store, sealer, newId, signal } = this.deps;
    const device = this.logOf({ session, hash });
    const first = await store.syncAttachmentPiece(hash, 0);
    if (!first) return false;
    const [there] = await this.logs.counts([{ device, from: 0, to: first.of }]);
    if (there === first.of) return true;
    for (let index = 0; index < first.of; index++) {
      if (signal?.aborted) throw new CancelledError();
      const piece = index === 0 ? first : await store.syncAttachmentPiece(hash, index);
      if (!piece) return false;
      const base64 = Buffer.from(piece.bytes.buffer, piece.bytes.byteOffset, piece.bytes.byteLength).toString('base64');
      const kept: AttachmentKept = { kind: 'attachment', session, hash, mime, base64, of: piece.of };
      const place = { device, index, id: newId(), version: versionOf(kept) };
      if (index === 0) sealer.addKeys(await store.syncKeys({ sessions: [session] }));
      const { sealed, newKey } = sealer.seal(place, kept);
      // The session was purged meanwhile, and its key with it.
      if (newKey) return false;
      await this.logs.push([{ ...place, mark: sealer.mark(0, { ...place, sealed }), sealed }], []);
    }
    return true;
  }

  private async fetch(place: AttachmentPlace): Promise<'whole' | 'missing'> {
    const { store, sealer, signal } = this.deps;
    const device = this.logOf(place);
    sealer.addKeys(await store.syncKeys({ sessions: [place.session] }));
    for (let at = 0; ; ) {
      if (signal?.aborted) throw new CancelledError();
      const rows = await this.logs.pull({ device, from: at, to: at + piecesAtOnce });
      if (rows.length === 0) return 'missing';
      for (const row of rows) {
        const opened = sealer.open(row);
        if (opened.kind === 'no_key' || opened.kind === 'newer') return 'missing';
        const piece = opened.kind === 'change' && opened.change.kind === 'attachment' ? opened.change : null;
        const isIts = piece?.hash === place.hash && piece.session === place.session && row.device === device && row.index === at;
        const came = isIts
          ? await store.syncAttachmentCame(place, at, piece.of ?? 1, new Uint8Array(Buffer.from(piece.base64, 'base64')))
          : 'damaged';
        if (came === 'whole') {
          this.came.add(place.hash);
          return 'whole';
        }
        if (came === 'damaged') {
          this.problems.push({ kind: 'damaged', device, index: at, detail: english('an attachment is not as it was sent') });
          return 'missing';
        }
        at++;
      }
    }
  }

  /** It says nothing about the session or the content. */
  private logOf({ session, hash }: Pick<AttachmentPlace, 'session' | 'hash'>): string {
    const named = JSON.stringify(['attachment', session, hash]);
    return createHmac('sha256', this.deps.keys.heading).update(named).digest('hex').slice(0, 32);
  }
}
