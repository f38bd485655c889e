import type { MessagePort } from 'node:worker_threads';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { PendingCalls } from './pendingCalls';
import type { Answer, CallArguments, CallResult, StoreCall } from './storeProtocol';

/**
 * A second way into the store of this window, for another of its threads (`StoreClient.openPort`): what goes through it does not pass the
 * window's own thread. To other windows its calls are this window's. Calls reject as those of `SessionStore` do, with `closed` once the
 * store has been closed.
 */
export class StorePort {
  private readonly calls: PendingCalls;
  private isClosed = false;

  constructor(private readonly port: MessagePort) {
    this.calls = new PendingCalls((request) => port.postMessage(request));
    port.on('message', (answer: Answer) => this.calls.receive(answer));
    port.on('close', () => {
      this.isClosed = true;
      this.calls.fail(closed());
    });
  }

  forward<K extends StoreCall>(method: K): (...args: CallArguments<K>) => Promise<CallResult<K>> {
    return async (...args) => {
      if (this.isClosed) throw closed();
      return (await this.calls.ask((id) => ({ type: 'call', id, method, args }))) as CallResult<K>;
    };
  }

  close(): void {
    this.port.close();
  }
}

function closed(): StoreError {
  return new StoreError('closed', english('The store was closed meanwhile'));
}
