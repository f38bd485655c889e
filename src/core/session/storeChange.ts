import type { PartialChunk } from './partialChunk';

/** What another window has changed; the one that did it is not told. */
export type StoreChange =
  /** Appended. Too many to name are told as `branch`. */
  | { readonly kind: 'entries'; readonly session: string; readonly entries: readonly string[] }
  | { readonly kind: 'partial'; readonly session: string; readonly chunk: PartialChunk }
  /** `session`: its title, model, marks or place in lists. Null: of more than one session. */
  | { readonly kind: 'session' | 'branch' | 'draft'; readonly session: string | null }
  /** A window has ended whose messages in the queue wait for another (`SessionStore.queue`). */
  | { readonly kind: 'queue'; readonly session: null }
  /** Another window has begun (`holder`: how it is called) or ended an operation in the session. */
  | { readonly kind: 'claim'; readonly session: string; readonly holder: string | null }
  /** Another window asks for the operation in this session, which this window runs, to be stopped. */
  | { readonly kind: 'stop'; readonly session: string }
  /** The owner was another one for a moment: anything may have changed unseen. */
  | { readonly kind: 'all' };

export type ClaimOutcome =
  /** `leaf`: where the session stands, for a caller that has it in memory. */
  { readonly granted: true; readonly leaf: string | null } | { readonly granted: false; readonly holder: string };

/** What another window is doing in a session. */
export interface Activity {
  /** How the other window is called; null: none is doing anything. */
  readonly holder: string | null;
  /** Its blocks that are streaming, with all of their text so far, oldest first. */
  readonly streaming: readonly PartialChunk[];
}
