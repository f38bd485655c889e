import { trimmedEnd } from '../../base/text';
import { stopWords } from '../../recall/tokenizeTerms';

export type IdentifierKind =
  | 'url'
  | 'path'
  /** Symbols, flags, versions, hashes, and what stands in backticks. */
  | 'code'
  /** With its unit, if it has one. */
  | 'number'
  | 'quoted'
  /** Capitalised in the middle of a sentence, or an acronym. */
  | 'name';

export interface Identifier {
  readonly kind: IdentifierKind;
  /** Verbatim. */
  readonly text: string;
  readonly at: number;
}

/**
 * What must survive a summary literally, in order of appearance, each text once. Deterministic and linear; a heuristic: it is
 * used to weigh and to check summaries, never to decide what is kept in the store.
 */
export function extractIdentifiers(text: string): Identifier[] {
  const seen = new Set<string>();
  return findIdentifiers(text).filter(({ text: identifier }) => {
    if (seen.has(identifier)) return false;
    seen.add(identifier);
    return true;
  });
}

/** Every occurrence, in order. */
export function findIdentifiers(text: string): Identifier[] {
  const found: Identifier[] = [];
  const taken: Span[] = [];
  const add = (kind: IdentifierKind, value: string, at: number) => void found.push({ kind, text: value, at });

  for (const { 0: match, index } of text.matchAll(urls)) {
    const url = trimmedEnd(match, /[.,;:!?'*_~)\]}>]/);
    add('url', url, index);
    taken.push({ start: index, end: index + url.length });
  }
  for (const { 0: match, index } of text.matchAll(codeSpans)) {
    const code = match.slice(1, -1).trim();
    if (code === '' || !/\s/.test(code)) continue;
    add('code', code, text.indexOf(code, index));
    taken.push({ start: index, end: index + match.length });
  }
  taken.sort((a, b) => a.start - b.start);
  const free = withoutSpans(taken);
  const names = nameCollector(text, add);
  // A number takes its thousands and its unit from the runs after it.
  let from = 0;
  for (const { 0: match, index } of text.matchAll(runs)) {
    if (!free(index)) continue;
    for (const { 0: part, index: offset } of match.matchAll(scriptRuns)) {
      const at = index + offset;
      if (at < from) continue;
      const end = part.length > maxRun ? at : classify(part, text, at, add);
      from = end ?? at;
      names(end === null ? part : null, at);
    }
  }
  for (const { 1: double, 2: curly, index } of text.matchAll(quotes)) {
    const inner = double ?? curly ?? '';
    if (/\p{L}/u.test(inner) && inner.trim() === inner && inner.split(/\s/).length <= 8) add('quoted', inner, index + 1);
  }
  return found.sort((a, b) => a.at - b.at || b.text.length - a.text.length);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

type Add = (kind: IdentifierKind, text: string, at: number) => void;

/** Longer runs without a space are data. */
const maxRun = 300;
const urls = /\b(?:https?|wss?|ftp|file|ssh|git|vscode):\/\/[^\s<>"`\u3000-\u303f\uff00-\uffef]{2,2000}/gi;
const codeSpans = /`[^`\n]{1,160}`/g;
const quotes = /(?<![\p{L}\p{N}])"([^"\n]{2,80})"|[“«「『]([^“”«»「」『』\n]{2,80})[”»」』]/gu;
/** Everything an identifier is made of; one class, so linear. */
const runs = /[\p{L}\p{N}\p{M}\p{Sc}_#@~./\\:+%°-]+/gu;
const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}ー';
const scriptRuns = new RegExp(`[^${unspaced}]+`, 'gu');

const extensions =
  'tsx?|jsx?|mjs|cjs|mts|json[5cl]?|ya?ml|toml|ini|cfg|conf|lock|md|mdx|txt|csv|tsv|log|xml|html?|css|scss|less|svg|png|jpe?g|gif|webp|pdf|' +
  'py|ipynb|rb|go|rs|java|kts?|swift|c|h|cc|cpp|hpp|cs|php|pl|lua|sh|bash|zsh|ps1|bat|sql|db|sqlite|wasm|vue|svelte|proto|graphql|gradle|zip|gz|tar|tgz|vsix|exe|dll|so';
const line = '(?::\\d+){0,2}$';
/** One slash alone also stands between alternatives ("on/off"): it makes a path only with a root, an extension or a usual folder. */
const paths: readonly RegExp[] = [
  new RegExp(`^(?:[A-Za-z]:|~|\\.{1,2})?[\\\\/](?=[^:]*[\\p{L}\\p{N}])[^:]*${line}`, 'u'),
  new RegExp(`^[^\\\\/:]+(?:[\\\\/][^\\\\/:]+){2,}${line}`, 'u'),
  new RegExp(`^(?:[^\\\\/:]+[\\\\/])?[\\p{L}\\p{N}_@.-]+\\.(?:${extensions})${line}`, 'u'),
  /^(?:src|lib|test|tests|docs?|dist|bin|app|apps|packages|node_modules|scripts|build|etc|usr|var|tmp|home|opt|public|assets|media)[\\/][^:]+$/,
  /^\.[a-z][\w-]{2,}(?:\.\w+)?$/,
];
const units =
  '%|‰|°C|°F|°|[kMGTP]i?B(?:/s)?|[kMG]bit/s|[kMGT]?bps|bytes?|bits?|[kMGT]?Hz|[nµmk]?[sgmVAW]|min|[hd]|rpm|px|pt|e?rem|em|dpi|fps|qps|rps|tokens?|' +
  'seconds?|minutes?|hours?|days?|weeks?|months?|years?|km|cm|mm|kg|mg|ml|l|USD|EUR|GBP|JPY|CHF|euros?|dollars?|x';
const number = new RegExp(`^[+-]?\\p{Sc}?\\d[\\d._:/-]{0,30}(?:${units}|[kMB])?\\p{Sc}?$`, 'u');
const unitAfter = new RegExp(`[ \\u00a0](?:${units})(?![\\p{L}\\p{N}])`, 'uy');
const thousands = /(?:,\d{3}){1,9}(?:\.\d+)?(?:[%‰kM]|\p{Sc})?(?![\p{L}\p{N}])/uy;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const date = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/;
const symbols: readonly RegExp[] = [
  /^(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}$/,
  /^v?\d+\.\d+\.\d+(?:[-+.][\w.-]+)?$/,
  /^--[a-z][\w-]+$/i,
  /^#\d+$/,
  /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/,
  /^[\p{L}_][\p{L}\p{N}]*(?:_+[\p{L}\p{N}]+)+_*$/u,
  /^\p{Ll}(?=[\p{L}\p{N}]*\p{Lu})[\p{L}\p{N}]*$/u,
  /^\p{Lu}{2,}\p{Ll}[\p{L}\p{N}]*$/u,
  /^\p{Lu}[\p{Ll}\p{N}]+\p{Lu}[\p{L}\p{N}]*$/u,
  /^[\p{L}_][\p{L}\p{N}_]*(?:(?:\.|::|#|->)[\p{L}_][\p{L}\p{N}_]*)+$/u,
  /^(?=.*\d)(?=.*\p{L})[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u,
];

/** Adds the identifier that `run` is and returns where it ends; null when it is an ordinary word. */
function classify(run: string, text: string, at: number, add: Add): number | null {
  const lead = /^[:+%°]*/.exec(run)?.[0].length ?? 0;
  const value = trimmedEnd(run.slice(lead), /[.:,\\+-]/);
  const start = at + lead;
  const is = (kind: IdentifierKind, end = start + value.length) => {
    add(kind, text.slice(start, end), start);
    return end;
  };
  if (number.test(value) || date.test(value)) {
    thousands.lastIndex = start + value.length;
    const digits = thousands.test(text) ? thousands.lastIndex : start + value.length;
    unitAfter.lastIndex = digits;
    const end = unitAfter.test(text) ? unitAfter.lastIndex : digits;
    // A single digit counts only with a unit.
    return end - start < 2 ? null : is('number', end);
  }
  if (value.length < 2 || !/[\p{L}\p{N}]/u.test(value) || /^(?:e\.g|i\.e)/i.test(value)) return null;
  if (value.startsWith('@') || uuid.test(value)) return is('code');
  if (paths.some((pattern) => pattern.test(value))) return is('path');
  if (symbols.some((pattern) => pattern.test(value))) return is('code');
  const end = start + value.length;
  const called = /^[A-Za-z_$][\w$]*$/.test(value) && text.startsWith('()', end);
  return called || (text[start - 1] === '`' && text[end] === '`') ? is('code') : null;
}

/** Joins capitalised words that follow each other; the first word of a sentence alone is no name. */
function nameCollector(text: string, add: Add): (word: string | null, at: number) => void {
  let start = -1;
  let end = -1;
  let words = 0;
  let opensSentence = false;
  const flush = () => {
    if (words > 1 || (words === 1 && !opensSentence)) add('name', text.slice(start, end), start);
    words = 0;
  };
  return (word, at) => {
    const bare = word === null ? '' : trimmedEnd(word, /[.:,\\+-]/);
    const capitalised = /^\p{Lu}[\p{Ll}\p{M}]+(?:-\p{Lu}?[\p{Ll}\p{M}]+)*$/u.test(bare) || /^\p{Lu}{2,8}$/u.test(bare);
    if (words > 0 && !(capitalised && text.slice(end, at) === ' ')) flush();
    if (!capitalised || (words === 0 && stopWords.has(bare.toLowerCase()))) return;
    if (words === 0) {
      start = at;
      opensSentence = !/^\p{Lu}{2,8}$/u.test(bare) && /(?:^|[.!?:。！？\n>*#"“(|-]\s{0,4})$/.test(text.slice(Math.max(0, at - 4), at));
    }
    words++;
    end = at + bare.length;
    if (bare.length !== word?.length) flush();
  };
}

/** Whether a position lies outside of sorted spans; to be asked for growing positions. */
function withoutSpans(spans: readonly Span[]): (at: number) => boolean {
  let i = 0;
  return (at) => {
    while (i < spans.length && (spans[i]?.end ?? 0) <= at) i++;
    const span = spans[i];
    return span === undefined || at < span.start;
  };
}

/** An identifier of the folded range, with how often and by whom it was said. */
export interface FoldedIdentifier {
  readonly kind: IdentifierKind;
  readonly text: string;
  /** Names the first entry that has it. */
  readonly entryId: string;
  readonly count: number;
  readonly byUser: boolean;
}

/** What must survive literally: at most so many, the most often said first, those of the user counting fourfold. */
export function criticalIdentifiers(identifiers: readonly FoldedIdentifier[], most = 80): FoldedIdentifier[] {
  const weight = ({ count, byUser }: FoldedIdentifier) => Math.min(count, 5) * (byUser ? 4 : 1);
  return identifiers
    .filter(
      ({ kind, count, byUser }) => kind === 'path' || kind === 'url' || kind === 'code' || (kind === 'number' && (byUser || count > 1)),
    )
    .sort((a, b) => weight(b) - weight(a))
    .slice(0, most);
}

/** Which of them a text does not have, case and all. */
export function missingFrom<T extends { readonly text: string }>(identifiers: readonly T[], text: string): T[] {
  return identifiers.filter((identifier) => !text.includes(identifier.text));
}

interface IdentifierLine {
  readonly ref: string;
  readonly text: string;
}

/** The missing ones with the ids of their entries, as many as fit: what makes a summary complete without asking a model again. */
export function identifierAppendix(
  missing: readonly FoldedIdentifier[],
  refOf: (entryId: string) => string,
  budgetTokens: number,
  estimate: (text: string) => number,
): IdentifierLine[] {
  const byEntry = new Map<string, string[]>();
  let used = 0;
  for (const { text, entryId } of missing) {
    if (text.length > 200) continue;
    const cost = estimate(text) + (byEntry.has(entryId) ? 1 : 6);
    if (used + cost > budgetTokens) continue;
    used += cost;
    byEntry.set(entryId, [...(byEntry.get(entryId) ?? []), text]);
  }
  return [...byEntry].map(([entryId, texts]) => ({ ref: refOf(entryId), text: texts.join(', ') }));
}
