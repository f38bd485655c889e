import type { StoreStatus } from '../../../core/ports';
import type { StoreChange } from '../../../core/session/storeChange';
import type { StoreCall } from '../client/storeProtocol';

export type LogEvent = (level: 'info' | 'warn', event: string, data: Readonly<Record<string, unknown>>) => void;

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
