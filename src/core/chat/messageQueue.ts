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

/** Messages that wait for their turn. A change holds at once; its promise resolves when it is on disk and told, and only `add` rejects. */
export class MessageQueue {
  messages: readonly QueuedMessage[] = [];
  /** The one whose turn has begun; it leaves the queue once it is an entry. */
  begun: string | null = null;

  constructor(private readonly deps: MessageQueueDeps) {}

  has(id: string): boolean {
    return this.messages.some((message) => message.id === id);
  }

  /** It does not wait, or no longer: a user cannot change it any more. */
  isFixed(id: string): boolean {
    return !this.has(id) || this.begun === id;
  }

  /** Rejects with `StoreError` when the message could not be written: then it does not wait, unless its turn has begun meanwhile. */
  async add(id: string, message: Written): Promise<void> {
    try {
      await this.write([...this.messages, queued(id, message)]);
    } catch (error) {
      if (this.isFixed(id)) return;
      this.messages = this.messages.filter((one) => one.id !== id);
      throw error;
    } finally {
      this.told();
    }
  }

  /** The message comes in front of all others. */
  putBack(id: string, message: Written): Promise<void> {
    return this.change([queued(id, message), ...this.messages]);
  }

  /** Puts a message in front of another, or (null) behind all. False when it is fixed; a place that is gone is the last one. */
  async move(id: string, before: string | null): Promise<boolean> {
    const message = this.messages.find((one) => one.id === id);
    if (!message || this.isFixed(id)) return false;
    const others = this.messages.filter((one) => one !== message);
    const at = others.findIndex((one) => one.id === before);
    const place = before === id ? this.messages.indexOf(message) : at < 0 ? others.length : at;
    await this.change([...others.slice(0, place), message, ...others.slice(place)]);
    return true;
  }

  /** Gives a message another text where it stands. False when it is fixed. */
  async edit(id: string, text: string): Promise<boolean> {
    if (this.isFixed(id)) return false;
    await this.change(this.messages.map((one) => (one.id === id ? { ...one, text } : one)));
    return true;
  }

  /** Undefined for one that does not wait. */
  async remove(id: string): Promise<QueuedMessage | undefined> {
    const message = this.messages.find((one) => one.id === id);
    if (message) await this.change(this.messages.filter((one) => one !== message));
    return message;
  }

  /** These are the messages whose turn has not begun. */
  get waiting(): readonly QueuedMessage[] {
    return this.messages.filter(({ id }) => id !== this.begun);
  }

  /** The one whose turn has begun stays until it is an entry: nobody gets it back. */
  async empty(): Promise<void> {
    const { waiting } = this;
    if (waiting.length > 0) await this.change(this.messages.filter((message) => !waiting.includes(message)));
  }

  /** What is in the queue on disk and does not wait here. Rejects with `StoreError`. */
  async left(): Promise<readonly QueuedMessage[]> {
    return (await this.deps.store.queue(this.deps.session())).filter(({ id }) => !this.has(id));
  }

  private async change(messages: readonly QueuedMessage[]): Promise<void> {
    await this.write(messages).catch((error: unknown) => this.deps.log.warn('queue_not_saved', { detail: errorText(error) }));
    this.told();
  }

  private write(messages: readonly QueuedMessage[]): Promise<void> {
    this.messages = messages;
    return this.deps.store.saveQueue(this.deps.session(), messages);
  }

  /** The queue is written first, then shown: a message that is seen waiting survives a kill. */
  private told(): void {
    this.deps.emit({ type: 'queue_changed', queue: this.messages });
  }
}

function queued(id: string, { text, attachments }: Written): QueuedMessage {
  return { id, text, ...(attachments.length > 0 ? { attachments } : {}) };
}
