import { randomUUID } from 'node:crypto';
import type { ModelEvent } from '../../core/models/modelEvent';
import { parseToolInput } from './requestParts';

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

export interface TaggedPiece {
  readonly type: 'text' | 'thinking';
  readonly text: string;
}

type Where = 'before' | 'thinking' | 'behind' | 'text';

const opening = '<think>';
const closing = '</think>';

/**
 * Servers that do not know a model's template hand its thinking on as text: `<think>…</think>` in front of the answer. Only there:
 * further on it is what the model writes about. White space around the tags is nobody's.
 *
 *   before ──<think>──▶ thinking ──</think>──▶ behind ──first visible character──▶ text
 *      └──anything else──────────────────────────────────────────────────────────────▲
 *
 * Tags may be torn apart by pieces: what could be the beginning of one is held back until it is or is not.
 */
export class ThinkTags {
  private where: Where = 'before';
  private held = '';
  private thought = false;

  read(text: string): TaggedPiece[] {
    if (this.where === 'text') return text === '' ? [] : [{ type: 'text', text }];
    this.held += text;
    const pieces: TaggedPiece[] = [];
    for (let before: Where | null = null; before !== this.where; ) {
      before = this.where;
      pieces.push(...this.step());
    }
    return pieces;
  }

  /** Something else than text has come, or nothing more will: the answer does not begin with a tag any more. */
  end(): TaggedPiece[] {
    const { held: text, where } = this;
    this.go('text', '');
    return text === '' ? [] : [{ type: where === 'thinking' ? 'thinking' : 'text', text }];
  }

  private step(): TaggedPiece[] {
    switch (this.where) {
      case 'before': {
        const start = this.held.trimStart();
        if (start.startsWith(opening)) return this.go('thinking', start.slice(opening.length));
        return opening.startsWith(start) ? [] : this.release('text');
      }
      case 'thinking': {
        if (!this.thought) this.held = this.held.trimStart();
        const end = this.held.indexOf(closing);
        const told = end === -1 ? this.held.length - beginningOf(closing, this.held) : end;
        const text = this.held.slice(0, told);
        this.thought ||= text !== '';
        this.held = this.held.slice(told);
        if (end !== -1) this.go('behind', this.held.slice(closing.length));
        return text === '' ? [] : [{ type: 'thinking', text }];
      }
      case 'behind':
        this.held = this.held.trimStart();
        return this.held === '' ? [] : this.release('text');
      case 'text':
        return [];
    }
  }

  private go(where: Where, held: string): TaggedPiece[] {
    this.where = where;
    this.held = held;
    return [];
  }

  private release(where: Where): TaggedPiece[] {
    const text = this.held;
    this.go(where, '');
    return [{ type: 'text', text }];
  }
}

/** How many characters at the end of the text could be the beginning of the tag. */
function beginningOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
