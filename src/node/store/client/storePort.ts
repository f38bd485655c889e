import type { MessagePort } from 'node:worker_threads';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { callsOver, type CallArguments, type CallResult, type StoreCall, type StoreCalls } from './storeCalls';
import { fromWire, type Answer, type Request } from './storeProtocol';
import { AnswerParts } from './answerParts';

/** A way into the store for another thread, and what can be asked there. */
export interface JoinedPort {
  readonly port: MessagePort;
  readonly calls: readonly StoreCall[];
}

/**
 * A second way into the store of this window, for another of its threads (`StoreClient.openPort`): what goes through it does not pass the
 * window's own thread. To other windows its calls are this window's. Calls reject as those of `SessionStore` do, with `closed` once the
 * store has been closed.
 */
export function joinStore({ port, calls }: JoinedPort): StoreCalls {
  let isClosed = false;
  const pending = new PendingCalls((request) => port.postMessage(request));
  port.on('message', (answer: Answer) => pending.receive(answer));
  port.on('close', () => {
    isClosed = true;
    pending.fail(closed());
  });
  return callsOver(calls, async <K extends StoreCall>(method: K, args: CallArguments<K>) => {
    if (isClosed) throw closed();
    return (await pending.ask((id) => ({ type: 'call', id, method, args }))) as CallResult<K>;
  });
}

function closed(): StoreError {
  return new StoreError('closed', english('The store was closed meanwhile'));
}

interface Pending {
  readonly parts: AnswerParts;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** What was asked of a store's worker and is not answered yet. */
export class PendingCalls {
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;

  constructor(private readonly post: (request: Request) => void) {}

  get isEmpty(): boolean {
    return this.pending.size === 0;
  }

  ask(make: (id: number) => Request): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { parts: new AnswerParts(), resolve, reject });
      this.post(make(id));
    });
  }

  receive(answer: Answer): void {
    const { id } = answer;
    if (answer.type === 'part') {
      this.pending.get(id)?.parts.add(answer);
      // What else waits in this thread has its turn first.
      setImmediate(() => this.post({ type: 'nextPart', id }));
      return;
    }
    const pending = this.pending.get(id);
    this.pending.delete(id);
    if (answer.type === 'done') pending?.resolve(pending.parts.finish(answer));
    else pending?.reject(fromWire(answer.error));
  }

  fail(error: StoreError): void {
    for (const pending of this.pending.values()) pending.reject(error);
    this.pending.clear();
  }
}
