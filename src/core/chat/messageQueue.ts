import { errorText } from '../errors';
import type { Logger, SessionStore } from '../ports';
import type { Written, QueuedMessage } from '../session/userMessage';
import type { ConversationEvent } from './events';

export interface MessageQueueDeps {
  readonly store: Pick<SessionStore, 'queue' | 'saveQueue'>;
  readonly session: () => string;
  readonly log: Logger;
  readonly emit: (event: ConversationEvent) => void;
}

/** Messages that wait for their turn. A change holds at once; its promise resolves when it is on disk and told, and never rejects. */
export class MessageQueue {
  messages: readonly QueuedMessage[] = [];

  constructor(private readonly deps: MessageQueueDeps) {}

  has(id: string): boolean {
    return this.messages.some((message) => message.id === id);
  }

  add(id: string, message: Written): Promise<void> {
    return this.change([...this.messages, queued(id, message)]);
  }

  /** The message comes in front of all others. */
  putBack(id: string, message: Written): Promise<void> {
    return this.change([queued(id, message), ...this.messages]);
  }

  /** Undefined for one that does not wait. */
  async remove(id: string): Promise<QueuedMessage | undefined> {
    const message = this.messages.find((one) => one.id === id);
    if (message) await this.change(this.messages.filter((one) => one !== message));
    return message;
  }

  async empty(): Promise<void> {
    if (this.messages.length > 0) await this.change([]);
  }

  /** What is in the queue on disk and does not wait here. Rejects with `StoreError`. */
  async left(): Promise<readonly QueuedMessage[]> {
    return (await this.deps.store.queue(this.deps.session())).filter(({ id }) => !this.has(id));
  }

  /** The queue is written first, then shown: a message that is seen waiting survives a kill. */
  private async change(messages: readonly QueuedMessage[]): Promise<void> {
    const { store, session, log, emit } = this.deps;
    this.messages = messages;
    await store.saveQueue(session(), messages).catch((error: unknown) => log.warn('queue_not_saved', { detail: errorText(error) }));
    emit({ type: 'queue_changed', queue: messages });
  }
}

function queued(id: string, { text, attachments }: Written): QueuedMessage {
  return { id, text, ...(attachments.length > 0 ? { attachments } : {}) };
}
