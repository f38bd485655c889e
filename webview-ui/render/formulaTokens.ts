import type { TokenizerExtension, Tokens } from 'marked';

/** A longer one is text: nobody reads it, and rendering it takes long. */
const mostLength = 4_000;

export interface FormulaToken extends Tokens.Generic {
  readonly type: 'formula';
  readonly raw: string;
  /** With its delimiters. */
  readonly text: string;
  readonly isBlock: boolean;
}

/**
 * A formula that stands in a line: `$…$`, `$$…$$` or `\(…\)`, without an empty line or code in it. A dollar opens one where no word ends
 * and no space follows, and closes one where no space precedes and no word begins: prices, variables of a shell and paths stay text.
 */
const inline =
  /\$\$(?!\$)(?:\\[^]|\n(?![ \t]*\n)|[^\\$`\n])+\$\$|\$(?![\s$])(?:\\[^]|\n(?![ \t]*\n)|[^\\$`\n])+(?<!\s)\$(?![\p{L}\p{N}$])|\\\((?:\\[^)]|\n(?![ \t]*\n)|[^\\`\n])+\\\)/u;
const inlineHere = new RegExp(`^(?:${inline.source})`, 'u');
const inlineAnywhere = new RegExp(`(?<![\\p{L}\\p{N}$\\\\])(?:${inline.source})`, 'gu');

/** "$5 (a cup) or 10$": an amount and then words. */
const isAmount = /^\$\d[\d.,]*[kKmMbB]?[,;:]?\s+\(?(?:\p{L}\s+)?\p{L}{2,}/u;

/** One on lines of its own, with nothing behind it: `$$…$$` or `\[…\]`. What stands before the closing mark is looked at below. */
const blockHere = /^ {0,3}(?:\$\$((?:\\[^]|[^\\$]|\$(?!\$))+)\$\$|\\\[((?:\\[^\]]|[^\\])+)\\\])[ \t]*(?:\n+|$)/;
const openHere = /^ {0,3}(\$\$|\\\[)/;
const emptyLine = /\n[ \t]*\n/;

/** The formula in a line that a text begins with; null: none. */
function inlineFormula(text: string): string | null {
  const found = inlineHere.exec(text.slice(0, mostLength + 1))?.[0];
  const isNone = found === undefined || found.length > mostLength || isAmount.test(found) || !/[^\s$\\()]/.test(found);
  return isNone ? null : found;
}

function blockFormula(text: string): { readonly raw: string; readonly text: string } | null {
  const found = blockHere.exec(text.slice(0, mostLength + 1));
  if (!found || found[0].length > mostLength) return null;
  const within = found[1] ?? found[2] ?? '';
  return within.trim() === '' || emptyLine.test(within) ? null : { raw: found[0], text: found[0].trim() };
}

/** Whether a text begins with a formula on lines of its own that is still being written. */
export function isOpenFormula(text: string): boolean {
  const mark = openHere.exec(text)?.[1];
  if (mark === undefined || text.length > mostLength || emptyLine.test(text)) return false;
  return !text.slice(text.indexOf(mark) + 2).includes(mark === '$$' ? '$$' : '\\]');
}

/** Where, in a paragraph, lines of a formula begin; undefined: nowhere. */
function blockStart(text: string): number | undefined {
  for (const { index, 1: opening } of text.matchAll(/\n(?:[ \t]*\n|( {0,3}(?:\$\$|\\\[)))/g)) {
    if (opening === undefined) return undefined;
    const rest = text.slice(index + 1);
    if (blockFormula(rest) || isOpenFormula(rest)) return index + 1;
  }
  return undefined;
}

export const formulaTokens: readonly TokenizerExtension[] = [
  {
    name: 'formula',
    level: 'block',
    start: blockStart,
    tokenizer: (source) => {
      const found = blockFormula(source);
      if (found) return { type: 'formula', ...found, isBlock: true } satisfies FormulaToken;
      if (!isOpenFormula(source)) return undefined;
      // Its lines would be lists and headings until it is closed.
      return { type: 'paragraph', raw: source, text: source, tokens: [{ type: 'text', raw: source, text: source }] };
    },
  },
  {
    name: 'formula',
    level: 'inline',
    start: (text) => {
      const at = text.indexOf('$');
      return at < 0 ? undefined : at;
    },
    tokenizer: (source, tokens) => {
      const isOpening = source.startsWith('\\(') || (source.startsWith('$') && !/[\p{L}\p{N}$]$/u.test(tokens.at(-1)?.raw ?? ''));
      const raw = isOpening ? inlineFormula(source) : null;
      return raw === null ? undefined : ({ type: 'formula', raw, text: raw, isBlock: false } satisfies FormulaToken);
    },
  },
];

/** The same text, of the same length, in which no formula holds what means something in Markdown. */
export function withoutFormulas(text: string): string {
  return text.replace(inlineAnywhere, (found) => (inlineFormula(found) === null ? found : 'a'.repeat(found.length)));
}

/** Where a formula begins that is still being written; -1: nowhere. Words that follow each other are no formula. */
export function openFormulaAt(paragraph: string): number {
  const closed = withoutFormulas(paragraph);
  const at = closed.search(/(?<![\p{L}\p{N}$\\])\$\$?(?![\s$])[^$`]*$|(?<!\\)\\\((?:(?!\\\))[^`])*$/u);
  if (at < 0) return -1;
  const prose = /(?:^|\s)\p{L}{2,}[,.;:]?\s+\p{L}{2,}/u;
  return isAmount.test(paragraph.slice(at)) || prose.test(paragraph.slice(at).replace(/\\[a-z]+(?:\{[^{}]*\}?)?/gi, '')) ? -1 : at;
}
