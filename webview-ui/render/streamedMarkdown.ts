import { Marked, type Links, type Token } from 'marked';
import { formulaTokens, isOpenFormula, openFormulaAt, withoutFormulas } from './formulaTokens';

/** A top-level block of a Markdown text, or several that cannot be told apart yet. */
export interface Block {
  readonly raw: string;
  readonly tokens: readonly Token[];
}

const grammar = new Marked({ gfm: true, extensions: [...formulaTokens], hooks: { emStrongMask: withoutFormulas } });

/**
 * Splits a growing text into blocks. `take` hands over blocks that no further text can change and keeps the rest; only the
 * rest is read again, so a long answer costs what its last block costs.
 */
export class BlockSplitter {
  private offset = 0;
  private links: Links = {};

  /** How much of the text has been handed over. */
  get settled(): number {
    return this.offset;
  }

  take(text: string): { settled: Block[]; open: Block | null } {
    const lexer = new grammar.Lexer(grammar.defaults);
    Object.assign(lexer.tokens.links, this.links);
    const rest = text.slice(this.offset);
    const tokens = lexer.lex(rest);
    this.links = lexer.tokens.links;

    const settled: Block[] = [];
    let position = 0;
    const last = firstOpen(tokens);
    let index = 0;
    for (; index < last; index++) {
      const token = tokens[index]!;
      // Where the parser has rewritten what it read, the rest of the text stays one open block.
      if (!rest.startsWith(token.raw, position)) break;
      position += token.raw.length;
      if (token.type !== 'space') settled.push({ raw: token.raw, tokens: [token] });
    }
    this.offset += position;
    const open = tokens.slice(index).filter((token) => token.type !== 'space');
    return { settled, open: open.length > 0 ? { raw: text.slice(this.offset), tokens: open } : null };
  }
}

/**
 * The last block that is not space: a list goes on after an empty line, and a paragraph may become a heading. What stands
 * after a list may be its next item while its line is not complete ("1" before "1. next"). A formula on lines of its own belongs to the
 * paragraph above when something follows in its last line, or when it is never closed.
 */
function firstOpen(tokens: readonly Token[]): number {
  const last = tokens.findLastIndex((token) => token.type !== 'space');
  const before = tokens.findLastIndex((token, index) => token.type !== 'space' && index < last);
  const { type, raw } = tokens[last] ?? { type: 'space', raw: '' };
  const mayBeText = (type === 'formula' && !raw.includes('\n', raw.trimEnd().length)) || (type === 'paragraph' && isOpenFormula(raw));
  if (mayBeText && before === last - 1 && tokens[before]?.type === 'paragraph') return before;
  return tokens[before]?.type === 'list' && !tokens[last]!.raw.includes('\n') ? before : last;
}

/** The same in one go, for a fragment that was changed before rendering. */
export function lexBlock(raw: string): Token[] {
  return grammar.lexer(raw).filter((token) => token.type !== 'space');
}

/** Line ends as the parser sees them, so that offsets in the text are offsets in its tokens. */
export function normalised(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** Whether a fenced code block has its closing fence. In a text that grows its line has to be complete: "```" may become "```bash". */
export function fenceIsClosed(raw: string, grows = false): boolean {
  const open = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  if (open === undefined) return true;
  const lines = raw.trimEnd().split('\n');
  if (grows && !raw.includes('\n', raw.trimEnd().length)) return false;
  const close = lines.length > 1 ? /^ {0,3}(`{3,}|~{3,})\s*$/.exec(lines[lines.length - 1]!)?.[1] : undefined;
  return close !== undefined && close[0] === open[0] && close.length >= open.length;
}

/**
 * Completes what a half-written paragraph leaves open, so that it does not flicker between asterisks and bold as it grows:
 * code spans, emphasis, strike-through and links. Only the last line break onwards can be open; the text itself is untouched
 * once it is complete.
 */
export function closeInline(raw: string): string {
  const text = raw.trimEnd();
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1);
  if (formulaLines.test(paragraph)) return raw;
  const ticks = openCodeSpan(paragraph);
  if (ticks !== null) return text.endsWith('`') ? text.slice(0, -ticks.length) : text + ticks;
  const at = openFormulaAt(paragraph);
  if (at >= 0) {
    const from = text.length - paragraph.length + at;
    const before = text.slice(0, from);
    return before + text.slice(from).replace(/[*_~<\\[\]]/g, '\\$&') + openMarks(before.slice(before.lastIndexOf('\n\n') + 1));
  }
  const withoutLink = text.replace(/!?\[([^[\]]*)(?:\](?:\([^()\s]*)?)?$/, (whole, label: string) => (whole.endsWith(']') ? whole : label));
  return withoutLink + openMarks(withoutLink.slice(withoutLink.lastIndexOf('\n\n') + 1));
}

/** Written on lines of its own: the grammar itself keeps one that is not closed from being anything else. */
const formulaLines = /(?:^|\n) {0,3}(?:\$\$|\\\[)[^\n]*(?:\n|$)/;

function openCodeSpan(text: string): string | null {
  let open: string | null = null;
  for (const [run] of text.matchAll(/`+/g)) {
    if (open === null) open = run;
    else if (open === run) open = null;
  }
  return open;
}

function withoutCode(text: string): string {
  let [kept, from, open] = ['', 0, ''];
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (open === '') [kept, from, open] = [kept + text.slice(from, index), index, run];
    else if (open === run) [from, open] = [index + run.length, ''];
  }
  return kept + text.slice(from);
}

function openMarks(text: string): string {
  const plain = withoutFormulas(withoutCode(text)).replace(/\\./g, '');
  const stack: string[] = [];
  for (const match of plain.matchAll(/\*\*|~~|\*|__/g)) {
    const mark = match[0];
    if (stack.at(-1) === mark) stack.pop();
    // A mark opens when text follows it; at the very end it is still being written.
    else if (/\S/.test(plain[match.index + mark.length] ?? ' ')) stack.push(mark);
  }
  return stack.reverse().join('');
}
