import { entryRef } from '../compaction/summary/prompts';
import { wholeCharacters } from './projection/excerpt';
import { indented, oneLine } from '../frames/frames';
import { english } from '../l10n';
import type { Clock, PinnedFiles, SessionStore } from '../ports';
import type { Pin } from '../session/storage';
import { entryText } from '../session/entry';
import type { ConversationEvent } from '../chat/events';

export interface PinsDeps {
  readonly store: Pick<SessionStore, 'pins' | 'savePin' | 'removePin' | 'entries'>;
  readonly session: () => string;
  readonly clock: Clock;
  readonly estimate: (text: string) => number;
  /** Tokens that all pins together may take. */
  readonly budget: () => number;
  readonly files: PinnedFiles | null;
  readonly emit: (event: ConversationEvent) => void;
}

interface PinnedText {
  readonly text: string;
  /** Files have one: it tells whether one has changed. */
  readonly hash: string | null;
}

export type PinTarget = Pick<Pin, 'kind' | 'target'>;

export interface PinResult {
  /** Why it was not pinned, in words for the user; null when it is. */
  readonly message: string | null;
  /** What was pinned just now; null when it was before. */
  readonly added: string | null;
}

/**
 * What stands in front of the kept messages after every compaction, word for word. Texts are read when a compaction is made and not
 * between: changing the prompt for a pin would cost its cache. What is pinned while it is still in the conversation is seen anyway.
 */
export class Pins {
  constructor(private readonly deps: PinsDeps) {}

  list(): Promise<Pin[]> {
    return this.deps.store.pins(this.deps.session());
  }

  /** Refused with a message when there is nothing to pin or no room for it. Rejects with `StoreError`. */
  async pin({ kind, target }: PinTarget): Promise<PinResult> {
    const { store, session, clock, budget, estimate } = this.deps;
    const content = await this.read({ kind, target });
    if (content === undefined)
      return refused(
        kind === 'file'
          ? english('“{0}” cannot be read as text in this workspace, so it was not pinned.', target)
          : english('There is nothing to pin: this message has no text.'),
      );
    const pins = await this.list();
    if (pins.some((one) => one.kind === kind && one.target === target)) return { message: null, added: null };
    const others = await Promise.all(pins.map((one) => this.read(one)));
    const used = others.reduce((sum, other) => sum + (other === undefined ? 0 : estimate(other.text)), 0);
    const size = estimate(content.text);
    if (used + size > budget()) {
      return refused(
        english(
          'This takes about {0} tokens, and {1} of {2} for pins are free. Unpin something, or pin a shorter text.',
          size.toLocaleString('en'),
          Math.max(0, budget() - used).toLocaleString('en'),
          budget().toLocaleString('en'),
        ),
      );
    }
    await store.savePin({ session: session(), kind, target, contentHash: content.hash, at: clock.now() });
    await this.tell();
    return { message: null, added: content.text };
  }

  /** Rejects with `StoreError`. */
  async unpin({ kind, target }: PinTarget): Promise<void> {
    await this.deps.store.removePin(this.deps.session(), kind, target);
    await this.tell();
  }

  /**
   * The section of a compaction's text; files are read again. Empty without pins. Rejects with `StoreError`: a compaction without the pins
   * would break the promise that they are for.
   */
  async text(): Promise<string> {
    const { budget, estimate } = this.deps;
    const parts: string[] = [];
    let left = budget();
    for (const pin of await this.list()) {
      const content = await this.read(pin);
      const part = `### ${oneLine(await this.title(pin, content))}\n${content === undefined ? '(it cannot be read any more)' : `  ${indented(fitted(content.text, left, estimate))}`}`;
      left -= estimate(part);
      parts.push(part);
    }
    return parts.length === 0 ? '' : ['## Pinned by the user (verbatim)', ...parts].join('\n');
  }

  private async tell(): Promise<void> {
    this.deps.emit({ type: 'pins_changed', pins: await this.list() });
  }

  private async title({ kind, target, contentHash }: Pin, content: PinnedText | undefined): Promise<string> {
    if (kind === 'text') return 'Note';
    if (kind === 'file') return `File ${target}${content && content.hash !== contentHash ? ', changed since it was pinned' : ''}`;
    const [entry] = await this.deps.store.entries([target]);
    return entry ? `Message ${entryRef(entry)}` : 'Message';
  }

  private async read({ kind, target }: PinTarget): Promise<PinnedText | undefined> {
    if (kind === 'file') return this.deps.files?.read(target);
    const text =
      kind === 'text' ? target : entryText((await this.deps.store.entries([target]))[0]?.content ?? { type: 'session_info', title: '' });
    return text.trim() === '' ? undefined : { text: text.trim(), hash: null };
  }
}

function refused(message: string): PinResult {
  return { message, added: null };
}

/** A file may have grown since it was pinned. */
function fitted(text: string, tokens: number, estimate: (text: string) => number): string {
  if (estimate(text) <= tokens) return text;
  const room = Math.max(0, Math.floor((text.length * tokens) / Math.max(1, estimate(text))));
  return `${wholeCharacters(text, 0, room)}\n[… longer than there is room for …]`;
}
