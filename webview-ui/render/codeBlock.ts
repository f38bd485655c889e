import { t, wholeNumber } from '../../src/protocol/l10n';
import { iconElement, type IconName } from './icons';
import hljs from 'highlight.js/lib/common';
import { languageOf } from './markdown';
import { sanitise } from './sanitise';

export const codeActions = {
  copy: { label: () => t('Copy'), icon: 'copy' },
  insert: { label: () => t('Insert at cursor'), icon: 'insert' },
  apply: { label: () => t('Apply to file…'), icon: 'apply' },
  run: { label: () => t('Run in Terminal'), icon: 'terminal' },
  open: { label: () => t('Open as file'), icon: 'file' },
} as const satisfies Record<string, { label: () => string; icon: IconName }>;
export type CodeAction = keyof typeof codeActions | 'more';

/** What stands behind a fence whose code a shell runs. */
const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'fish',
  'shell',
  'shellscript',
  'console',
  'shellsession',
  'shell-session',
  'terminal',
  'powershell',
  'pwsh',
  'ps1',
]);

/** A longer block shows its beginning only: this many lines (`markdown.css` has the same figure). */
const mostLines = 40;

/** What the document says of a block holds nothing of the answer but its text. */
const blocks = new WeakMap<Element, CodeBlock>();

export function blockOf(element: Element): CodeBlock | undefined {
  const found = element.closest('.code-block');
  return found ? blocks.get(found) : undefined;
}

/** A code block with its language and buttons. While its fence is open the text only grows and stays uncoloured. */
export class CodeBlock {
  readonly element = document.createElement('div');
  private readonly text = document.createTextNode('');
  private readonly code = document.createElement('code');

  readonly language: string;
  private lines = 1;
  private more: HTMLButtonElement | undefined;

  /** `info`: what stands behind the fence. */
  constructor(readonly info: string) {
    const language = languageOf(info);
    this.language = language;
    this.element.className = 'code-block';
    const bar = document.createElement('div');
    bar.className = 'code-bar';
    const name = document.createElement('span');
    name.className = 'code-language';
    name.textContent = language || t('text');
    const buttons = document.createElement('span');
    buttons.className = 'code-buttons';
    for (const [action, { label, icon }] of Object.entries(codeActions)) {
      if (action === (shells.has(language) ? 'apply' : 'run')) continue;
      buttons.append(button(action, label(), icon));
    }
    bar.append(name, buttons);
    const pre = document.createElement('pre');
    pre.tabIndex = 0;
    pre.setAttribute('role', 'group');
    pre.setAttribute('aria-label', language ? t('Code, {0}', language) : t('Code'));
    this.code.append(this.text);
    pre.append(this.code);
    this.element.append(bar, pre);
    this.element.dataset['language'] = language;
    blocks.set(this.element, this);
  }

  grow(text: string): void {
    const known = this.text.data;
    if (text.length >= known.length && text.startsWith(known)) this.text.appendData(text.slice(known.length));
    else this.text.data = text;
    this.lines = text.length >= known.length && text.startsWith(known) ? this.lines + breaks(text, known.length) : 1 + breaks(text, 0);
    if (this.lines > mostLines) this.shorten();
  }

  /** From the first line too many on, so that a block that is still being written does not jump when it ends. */
  private shorten(): void {
    if (!this.more) {
      this.more = document.createElement('button');
      this.more.type = 'button';
      this.more.classList.add('link-button', 'code-more');
      this.more.dataset['codeAction'] = 'more';
      this.element.classList.add('long');
      this.element.append(this.more);
    }
    this.nameMore();
  }

  /** Shows all lines, or the beginning again. */
  toggle(): void {
    this.element.classList.toggle('whole');
    this.nameMore();
    this.element.scrollIntoView({ block: 'nearest' });
  }

  private nameMore(): void {
    const isWhole = this.element.classList.contains('whole');
    this.more?.setAttribute('aria-expanded', String(isWhole));
    if (this.more) this.more.textContent = isWhole ? t('Show less') : t('Show all {0} lines', wholeNumber(this.lines));
  }

  finish(text: string): void {
    this.grow(text);
    highlightSoon(this.code, this.language);
  }
}

/** Turns what the parser wrote for code inside lists and quotes into code blocks. */
export function upgradeCode(root: ParentNode): void {
  for (const code of root.querySelectorAll('pre > code')) {
    const block = new CodeBlock(code.getAttribute('title') ?? '');
    block.finish(code.textContent.replace(/\n$/, ''));
    code.parentElement?.replaceWith(block.element);
  }
}

function breaks(text: string, from: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function button(action: string, label: string, icon: IconName): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'icon-button';
  element.dataset['codeAction'] = action;
  element.title = label;
  element.setAttribute('aria-label', label);
  element.append(iconElement(icon));
  return element;
}

/** Longer code stays plain: 400 lines of TypeScript take about 70 ms. */
const longest = 30_000;

const waiting: HTMLElement[] = [];
let scheduled = false;

/** Colours a finished code element when there is nothing better to do, one element at a time. Its text stays as it is. */
function highlightSoon(code: HTMLElement, language: string): void {
  if (code.textContent.length > longest || !hljs.getLanguage(language)) return;
  code.dataset['language'] = language;
  waiting.push(code);
  schedule();
}

function schedule(): void {
  if (scheduled || waiting.length === 0) return;
  scheduled = true;
  requestIdleCallback(
    (deadline) => {
      scheduled = false;
      do highlight(waiting.shift());
      while (waiting.length > 0 && deadline.timeRemaining() > 10);
      schedule();
    },
    { timeout: 500 },
  );
}

function highlight(code: HTMLElement | undefined): void {
  const language = code?.dataset['language'];
  if (code === undefined || language === undefined || !code.isConnected) return;
  const { value } = hljs.highlight(code.textContent, { language, ignoreIllegals: true });
  code.replaceChildren(sanitise(value));
  code.classList.add('hljs');
}
