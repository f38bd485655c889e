import { t } from '../../src/protocol/l10n';
import { sanitiseFormula } from './sanitise';

declare global {
  interface Window {
    /** MathML of a formula; throws for one that is none, and gives null for one that is not allowed. There once `math.js` is loaded. */
    renderFormula?: (tex: string, isBlock: boolean) => string | null;
  }
}

/** What stands for a formula until it is rendered, and for good when it cannot be. */
const formulaMark = 'data-math';
/** Where a formula keeps the text it was written as. */
const sourceMark = 'data-source';

/** The script of this page, which is known only while it is run for the first time. */
const ownScript = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;
let loading = false;

/** While an answer grows, its last block is rendered again and again. */
const rendered = new Map<string, DocumentFragment | null>();
const mostRendered = 300;

/** Renders the formulas in nodes that are not in the document yet, or, where the library has to be fetched first, later on. */
export function renderFormulas(root: ParentNode): void {
  const formulas = [...root.querySelectorAll<HTMLElement>(`[${formulaMark}]`)];
  for (const formula of formulas) {
    if (!formula.hasAttribute(sourceMark)) prepare(formula);
    if (window.renderFormula) draw(formula, window.renderFormula);
  }
  if (formulas.length > 0 && !window.renderFormula) load();
}

/** Characters of a formula in a line that may be wider than the narrowest view. */
const wide = 40;

function prepare(formula: HTMLElement): void {
  const source = formula.textContent;
  formula.setAttribute(sourceMark, source);
  if (formula.getAttribute(formulaMark) !== 'block' && source.length < wide) return;
  formula.classList.add('math-wide');
  formula.tabIndex = 0;
  formula.setAttribute('role', 'group');
  formula.setAttribute('aria-label', t('Formula'));
}

function draw(formula: HTMLElement, render: NonNullable<typeof window.renderFormula>): void {
  const isBlock = formula.getAttribute(formulaMark) === 'block';
  const source = formula.getAttribute(sourceMark) ?? '';
  const key = `${isBlock ? 'block' : 'inline'} ${source}`;
  let nodes = rendered.get(key);
  if (nodes === undefined) {
    nodes = nodesOf(withoutDelimiters(source), isBlock, render);
    if (rendered.size >= mostRendered) rendered.clear();
    rendered.set(key, nodes);
  }
  formula.classList.toggle('math-unknown', nodes === null);
  if (nodes) formula.replaceChildren(nodes.cloneNode(true));
}

function nodesOf(tex: string, isBlock: boolean, render: NonNullable<typeof window.renderFormula>): DocumentFragment | null {
  try {
    const markup = render(tex, isBlock);
    return markup === null ? null : sanitiseFormula(markup);
  } catch {
    // Its source says what was meant.
    return null;
  }
}

function withoutDelimiters(source: string): string {
  const text = source.trim();
  const length = text.startsWith('$') && !text.startsWith('$$') ? 1 : 2;
  return text.slice(length, -length);
}

/** A page that is opened again, or a script that could not be read, leaves the formulas as they were written. */
function load(): void {
  if (loading || !ownScript) return;
  loading = true;
  const script = document.createElement('script');
  script.nonce = ownScript.nonce;
  script.src = new URL('math.js', ownScript.src).href;
  script.addEventListener('load', () => renderFormulas(document));
  document.head.append(script);
}

/** Formulas are copied as they were written: their characters alone mean something else. */
export function copyFormulas(event: ClipboardEvent): void {
  const selection = getSelection();
  if (!selection || selection.rangeCount === 0 || !event.clipboardData) return;
  const range = selection.getRangeAt(0);
  const around = range.commonAncestorContainer;
  const within = (around instanceof Element ? around : around.parentElement)?.closest(`[${formulaMark}]`);
  const copied = document.createElement('div');
  copied.append(within ? within.cloneNode(true) : range.cloneContents());
  const formulas = copied.querySelectorAll(`[${sourceMark}]`);
  if (formulas.length === 0) return;
  for (const formula of formulas) {
    formula.replaceChildren(formula.getAttribute(sourceMark) ?? '');
    formula.classList.add('math-unknown');
  }
  // Line breaks of blocks are there only for what is laid out.
  copied.className = 'sr-only';
  document.body.append(copied);
  event.clipboardData.setData('text/plain', copied.innerText);
  copied.remove();
  event.preventDefault();
}
