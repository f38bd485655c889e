import type { StoreError } from '../../../core/errors';
import { AnswerParts } from './answerParts';
import { fromWire } from './storeProtocol';
import type { Answer, Request } from './storeProtocol';

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
