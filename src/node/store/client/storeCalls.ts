import type { SessionStore } from '../../../core/ports';
import type { StoreChange } from '../../../core/session/storage';

type Asynchronous = (...args: never[]) => Promise<unknown>;

/** The port's operations on the database and the windows, as opposed to those on the store itself. */
export type StoreCall = Exclude<
  { [K in keyof SessionStore]: SessionStore[K] extends Asynchronous ? K : never }[keyof SessionStore],
  'refresh' | 'close'
>;
export type StoreCalls = Pick<SessionStore, StoreCall>;
export type CallArguments<K extends StoreCall> = Parameters<SessionStore[K]>;
export type CallResult<K extends StoreCall> = Awaited<ReturnType<SessionStore[K]>>;

/**
 * The port's operations over one way of asking for them. Their names come from the table of operations (owner/storeOperations.ts), which
 * this side cannot import, with all of its SQL: the worker says them when it has opened the store.
 */
export function callsOver(
  names: readonly StoreCall[],
  ask: <K extends StoreCall>(method: K, args: CallArguments<K>) => Promise<CallResult<K>>,
): StoreCalls {
  const one = <K extends StoreCall>(method: K) => [method, (...args: CallArguments<K>) => ask(method, args)] as const;
  return Object.fromEntries(names.map(one)) as unknown as StoreCalls;
}

/** Operations that are about the windows, not about the database. */
export const windowCalls = ['claim', 'release', 'activity', 'requestStop', 'takeOver'] as const satisfies readonly StoreCall[];
export type CoreCall = Exclude<StoreCall, (typeof windowCalls)[number]>;

/** What is done on the database: the same operations without the waiting. */
export type CoreStore = { readonly [K in CoreCall]: (...args: CallArguments<K>) => CallResult<K> };

/** One of the port's operations, carried out on what it needs of an open database, in the calling thread. A write is one transaction. */
type Run<K extends CoreCall, Needs> = (open: Needs, ...args: CallArguments<K>) => CallResult<K>;

export type Operation<K extends CoreCall, Needs> =
  | Run<K, Needs>
  /** Other windows are told what it has changed. */
  | { readonly run: Run<K, Needs>; readonly tells: (result: CallResult<K>, ...args: CallArguments<K>) => StoreChange | null };

/** Operations on one thing that is kept, beside its rows; the table of all is in owner/storeOperations.ts. */
export type Operations<Needs> = { readonly [K in CoreCall]: Operation<K, Needs> };
