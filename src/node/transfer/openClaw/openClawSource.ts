import type { OpenClawAbout } from '../../../core/transfer/openClawAbout';
import type { TailEvent } from './fileTail';

/** What grows: the records of one session, each once. */
export interface RecordTail {
  /** How it is called in reports and in the session's metadata. */
  readonly file: string;
  /** Whether something may have come since the last `read`. Never rejects. */
  hasNews(): Promise<boolean>;
  read(signal?: AbortSignal): AsyncGenerator<TailEvent, void, void>;
}

/** Where an agent of OpenClaw keeps its sessions; of these, the one that a key names. Only ever read. */
export interface OpenClawSource {
  /** Looks anew. The session that the key points to; null: that cannot be known at the moment. Rejects when it cannot be read. */
  look(): Promise<string | null>;
  /** What was known at the last look of the session that the key points to, beside its records; null of any other. */
  about(sessionId: string): OpenClawAbout | null;
  /** Reads from its first record on. */
  tail(sessionId: string): RecordTail;
}
