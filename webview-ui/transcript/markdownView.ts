import type { Tokens } from 'marked';
import { AskEvent, HoldEvent } from '../lib/events';
import { BlockSplitter, fenceIsClosed, lexBlock, normalised, closeInline, type Block } from '../render/streamedMarkdown';
import { blockOf, CodeBlock, upgradeCode, type CodeAction } from '../render/codeBlock';
import { showCopied } from '../render/copied';
import { renderTokens } from '../render/markdown';
import { linkFilesSoon } from './fileLinks';

export interface MarkdownSource {
  readonly text: string;
  /** More text will come: paint at most once per frame and keep the last block open. */
  readonly streaming: boolean;
}

/**
 * Markdown as nodes. Blocks that no further text can change are written once and never touched again; only the last one is
 * rewritten. A finished text is rendered before the setter returns, so that whoever measures it sees its height.
 */
export class MarkdownView extends HTMLElement {
  private current: MarkdownSource = { text: '', streaming: false };
  private splitter = new BlockSplitter();
  private settledText = '';
  private tail: Tail | undefined;
  private frame = 0;

  constructor() {
    super();
    this.addEventListener('click', (event) => this.activate(event));
    this.addEventListener('auxclick', (event) => this.activate(event));
    this.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.target as Element).matches('a[data-href]')) this.activate(event);
    });
  }

  get source(): MarkdownSource {
    return this.current;
  }

  set source(source: MarkdownSource) {
    const text = normalised(source.text);
    if (text === this.current.text && source.streaming === this.current.streaming) return;
    this.current = { text, streaming: source.streaming };
    if (!source.streaming) this.paint();
    else if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  disconnectedCallback(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  connectedCallback(): void {
    if (this.current.streaming && this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { text, streaming } = this.current;
    if (!text.startsWith(this.settledText)) this.restart();
    const { settled, open } = this.splitter.take(text);
    for (const block of settled) this.settle(block);
    this.settledText = text.slice(0, this.splitter.settled);
    if (open && streaming) this.tailFor(open).write(open, true);
    else if (open) this.settle(open);
    else this.dropTail();
    if (!streaming) linkFilesSoon(this);
  }

  private settle(block: Block): void {
    this.tailFor(block).write(block, false);
    this.tail = undefined;
  }

  private tailFor(block: Block): Tail {
    if (this.tail && !this.tail.fits(block)) this.dropTail();
    if (!this.tail) {
      this.tail = isFence(block) ? new CodeTail(block) : new TextTail();
      this.append(this.tail.element);
    }
    return this.tail;
  }

  private dropTail(): void {
    this.tail?.element.remove();
    this.tail = undefined;
  }

  private restart(): void {
    this.replaceChildren();
    this.tail = undefined;
    this.settledText = '';
    this.splitter = new BlockSplitter();
  }

  private activate(event: Event): void {
    const target = event.target as Element;
    const href = target.closest('a[data-href]')?.getAttribute('data-href');
    const button = target.closest<HTMLElement>('[data-code-action]');
    if (href) {
      event.preventDefault();
      this.dispatchEvent(new AskEvent({ method: 'open_link', href }));
    } else if (button && event.type === 'click') {
      this.useCode(button, button.dataset['codeAction'] as CodeAction);
    }
  }

  private useCode(button: HTMLElement, action: CodeAction): void {
    const block = blockOf(button);
    if (!block) return;
    const { info, language } = block;
    const text = block.element.querySelector('code')?.textContent ?? '';
    if (action === 'open') {
      this.dispatchEvent(new AskEvent({ method: 'open_code', text, language }));
    } else if (action === 'insert') {
      this.dispatchEvent(new AskEvent({ method: 'insert_code', text }));
    } else if (action === 'apply') {
      this.dispatchEvent(new AskEvent({ method: 'apply_code', text, info }));
    } else if (action === 'run') {
      this.dispatchEvent(new AskEvent({ method: 'run_code', text, language }));
    } else if (action === 'more') {
      this.dispatchEvent(new HoldEvent());
      block.toggle();
    } else {
      this.dispatchEvent(new AskEvent({ method: 'copy', text }));
      showCopied(button);
    }
  }
}

/** The block that is still growing. */
interface Tail {
  readonly element: HTMLElement;
  fits(block: Block): boolean;
  write(block: Block, open: boolean): void;
}

class TextTail implements Tail {
  readonly element = document.createElement('div');
  private written: string | undefined;

  constructor() {
    this.element.className = 'md-block';
  }

  fits(block: Block): boolean {
    return !isFence(block);
  }

  write(block: Block, open: boolean): void {
    const raw = open ? closeInline(block.raw) : block.raw;
    if (raw.trimEnd() !== this.written) {
      this.written = raw.trimEnd();
      this.element.replaceChildren(renderTokens(raw === block.raw ? block.tokens : lexBlock(raw)));
    }
    // Also where all of it had been written while more could come.
    if (!open) upgradeCode(this.element);
  }
}

class CodeTail implements Tail {
  private readonly block: CodeBlock;
  private readonly info: string;
  private finished = false;

  constructor(block: Block) {
    this.info = codeToken(block).lang ?? '';
    this.block = new CodeBlock(this.info);
  }

  get element(): HTMLElement {
    return this.block.element;
  }

  /** The info string may still be growing: then it is another block. */
  fits(block: Block): boolean {
    return isFence(block) && (codeToken(block).lang ?? '') === this.info;
  }

  write(block: Block, open: boolean): void {
    if (this.finished) return;
    const { text } = codeToken(block);
    if (open && !fenceIsClosed(block.raw, true)) return this.block.grow(text);
    this.finished = true;
    this.block.finish(text);
  }
}

function isFence(block: Block): boolean {
  return block.tokens.length === 1 && block.tokens[0]?.type === 'code';
}

function codeToken(block: Block): Tokens.Code {
  return block.tokens[0] as Tokens.Code;
}
