import type { AttachmentPlace, AttachmentState, CameAs } from './attachmentPlace';
import type { SealedRecord, SessionKey } from './sealedRecord';
import type { LogRange } from './syncEngine';
import type { Held, PendingChanges, PendingReceipt, ReceivedRow, WantedKeys } from './syncReplica';

/** How a store is synchronised: which history it belongs to, and where that is exchanged. Keys and passwords are not in it. */
export interface SyncSetup {
  readonly history: string;
  /** Tells histories of one recovery phrase apart. */
  readonly name: string;
  /** Folder or database. */
  readonly engine: string;
}

/** A note as its revisions come to, and as its file was left. Digests are sha256 in hex, '' where there is no text. */
export interface SyncedNote {
  readonly path: string;
  readonly digest: string;
  /** What the file had when it was last looked at or written. */
  readonly fileDigest: string;
  /** What it was being given when that was interrupted; null otherwise. */
  readonly nextDigest: string | null;
}

/** Another device stands on a branch of a session that this one is not on. */
export interface StandsElsewhere {
  readonly device: string;
  readonly leaf: string;
  /** So many are on that branch since it parted from this one's. */
  readonly messages: number;
  readonly at: number;
}

/** What a store offers for synchronising; `SyncReplica` says what each of them does. Where it is off they reject with `invalid`. */
export interface SyncStore {
  /** Null: it is off. */
  syncSetup(): Promise<SyncSetup | null>;
  /** From now on every change stands in the outbox too, and what the store holds already. Where it is on, only the setup changes. */
  startSync(device: string, setup: SyncSetup): Promise<void>;
  /** Everything that was synchronised stays; what is known of logs and keys goes. */
  stopSync(): Promise<void>;
  syncHeld(): Promise<Held>;
  syncKeys(wanted: WantedKeys): Promise<readonly SessionKey[]>;
  syncRows(range: LogRange): Promise<readonly SealedRecord[]>;
  syncPending(most: number): Promise<PendingChanges>;
  /** Rejects with `conflict` when somebody else has written to the own log since. */
  syncWrite(rows: readonly SealedRecord[], keys: readonly SessionKey[], receipt: PendingReceipt | null): Promise<void>;
  /** `held`, filled in by the store, are the sessions that somebody works in. Rejects with `conflict` when one of them is to be purged. */
  syncReceive(rows: readonly ReceivedRow[], keys: readonly SessionKey[], held?: readonly string[]): Promise<void>;
  /** What is to be done next about an attachment's bytes: what somebody looks at first, then the newest. Null: nothing. */
  syncAttachment(): Promise<AttachmentPlace | null>;
  syncAttachments(state: AttachmentState): Promise<readonly AttachmentPlace[]>;
  /** Null: nothing is to be done about them any more. */
  syncSettleAttachments(places: readonly AttachmentPlace[], state: AttachmentState | null): Promise<void>;
  /** Somebody looks at it: it is the next to be fetched. False: it does not come from another device. */
  syncAskAttachment(hash: string): Promise<boolean>;
  /** Null: its bytes are not here. */
  syncAttachmentPiece(hash: string, index: number): Promise<{ readonly bytes: Uint8Array; readonly of: number } | null>;
  /** Pieces come in order, from the first. */
  syncAttachmentCame(place: AttachmentPlace, index: number, of: number, bytes: Uint8Array): Promise<CameAs>;
  syncSettleKeys(pushed: readonly string[], dropped: readonly string[]): Promise<void>;
  syncRenew(device: string, from: number, rows: readonly SealedRecord[], keys: readonly SessionKey[]): Promise<void>;
  /** Where other devices went on in the session while this one stayed on its branch, the last one first. Empty where it is off. */
  syncElsewhere(session: string): Promise<readonly StandsElsewhere[]>;
  syncNotes(): Promise<readonly SyncedNote[]>;
  /** The text that the revisions of the note come to; null when it is deleted. */
  syncNoteText(path: string): Promise<string | null>;
  /** The file of the note has another text now (null: it is gone): a revision that follows those it was made from. */
  syncNoteWritten(path: string, text: string | null): Promise<void>;
  /** The file is about to be given what its revisions come to (`digest`), or has it now; or it is gone without having been deleted. */
  syncNoteFile(path: string, digest: string, state: 'next' | 'written' | 'gone'): Promise<void>;
}
