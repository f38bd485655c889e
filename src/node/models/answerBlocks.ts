import { randomUUID } from 'node:crypto';
import type { ModelEvent } from '../../core/models/modelEvent';
import { ThinkTags } from './thinkTags';
import { parseToolInput } from './toolInput';

interface OpenCall {
  readonly index: number;
  id: string;
  name: string;
  json: string;
  input?: unknown;
}

export interface CallPiece {
  readonly id?: string;
  readonly name?: string;
  /** A piece of JSON text, or the whole input. */
  readonly input?: unknown;
}

/** The blocks of an answer whose wire format does not number them, in the order in which they begin. */
export class AnswerBlocks {
  private open: { readonly type: 'text' | 'thinking'; readonly index: number; text: string } | null = null;
  private readonly calls = new Map<string, OpenCall>();
  private readonly tags = new ThinkTags();
  private next = 0;
  /** Text, thinking or a call has come. */
  any = false;

  get hasCalls(): boolean {
    return this.calls.size > 0;
  }

  add(type: 'text' | 'thinking', text: unknown): ModelEvent[] {
    if (typeof text !== 'string' || text === '') return [];
    this.any = true;
    if (type === 'text') return this.tags.read(text).flatMap((piece) => this.grow(piece.type, piece.text));
    return [...this.endTags(), ...this.grow(type, text)];
  }

  /** Completes the thinking that is open; `signature` is the provider's proof of it, which may also come without any text. */
  seal(signature: string): ModelEvent[] {
    this.any = true;
    const events = this.endTags();
    if (this.open?.type !== 'thinking') events.push(...this.close());
    const { index, text } = this.open ?? { index: this.next++, text: '' };
    this.open = null;
    return [...events, { type: 'block', index, block: { type: 'thinking', text, signature } }];
  }

  /** `key` tells the calls of an answer apart. */
  call(key: string, { id, name, input }: CallPiece): ModelEvent[] {
    this.any = true;
    const events = [...this.endTags(), ...this.close()];
    let call = this.calls.get(key);
    if (!call) this.calls.set(key, (call = { index: this.next++, id: '', name: '', json: '' }));
    if (id) call.id ||= id;
    if (name) call.name ||= name;
    if (typeof input === 'string') call.json += input;
    else if (input !== undefined && input !== null) call.input = input;
    return events;
  }

  /** What is still open, as complete. Calls that have no id get one: the result has to name it. */
  finish(): ModelEvent[] {
    const events = [...this.endTags(), ...this.close()];
    for (const { index, id, name, json, input } of this.calls.values()) {
      if (name === '') continue;
      events.push({
        type: 'block',
        index,
        block: { type: 'tool_use', callId: id || `call_${randomUUID().replaceAll('-', '')}`, name, input: input ?? parseToolInput(json) },
      });
    }
    this.calls.clear();
    return events;
  }

  private grow(type: 'text' | 'thinking', text: string): ModelEvent[] {
    const events = this.open?.type === type ? [] : this.close();
    this.open ??= { type, index: this.next++, text: '' };
    this.open.text += text;
    return [...events, { type: `${type}_delta`, index: this.open.index, text }];
  }

  private endTags(): ModelEvent[] {
    return this.tags.end().flatMap((piece) => this.grow(piece.type, piece.text));
  }

  private close(): ModelEvent[] {
    const { open } = this;
    this.open = null;
    return open ? [{ type: 'block', index: open.index, block: { type: open.type, text: open.text } }] : [];
  }
}
