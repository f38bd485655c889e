import type { ClaimOutcome } from '../../../core/session/storeChange';
import type { CallArguments, StoreCall } from '../client/storeProtocol';
import type { Holdings } from '../owner/storeService';

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
