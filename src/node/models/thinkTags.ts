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
