/** About a paragraph: small enough to be quoted whole, large enough to make sense alone. */
const target = 1_200;
/** A break is looked for in the last half of a passage, best kind first. */
const breaks: readonly RegExp[] = [/\n(?:[^\S\n]*\n)+/g, /\n/g, /[.!?。！？]\s/g, /\s/g];

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Cuts a long text into passages at paragraphs, lines, sentences or spaces; together they are the whole text. */
export function splitPassages(text: string, maxCharacters = target): Span[] {
  const spans: Span[] = [];
  let start = 0;
  while (text.length - start > maxCharacters) {
    const end = breakBefore(text, start, start + maxCharacters);
    spans.push({ start, end });
    start = end;
  }
  spans.push({ start, end: text.length });
  return spans;
}

function breakBefore(text: string, start: number, limit: number): number {
  const from = start + Math.ceil((limit - start) / 2);
  const window = text.slice(from, limit);
  for (const kind of breaks) {
    let end = 0;
    for (const match of window.matchAll(kind)) end = match.index + match[0].length;
    if (end > 0) return from + end;
  }
  // A cut must not part the halves of a surrogate pair.
  const code = text.charCodeAt(limit);
  return code >= 0xdc00 && code <= 0xdfff && limit - 1 > start ? limit - 1 : limit;
}

/** After these a full stop ends no sentence. */
const abbreviations = new Set(
  'e.g i.e etc vs cf ca approx resp incl excl esp no nr vol pp p fig figs eq sec ch ed eds et al mr mrs ms dr prof st sr jr inc ltd co corp dept est min max u.s u.k z.b d.h bzw usw vgl'.split(
    ' ',
  ),
);
const closers = new Set([...'"\')]}”’»」』）']);
const cjkEnds = new Set([...'。！？｡']);

/**
 * Sentences and lines of a text, trimmed, none longer than `maxCharacters`. What contains no white space (URLs, paths, versions)
 * is never split, nor is inline code; lines of fenced code are kept whole. `Intl.Segmenter` splits at "e.g." and inside of URLs.
 */
export function splitSentences(text: string, maxCharacters = 400): Span[] {
  const spans: Span[] = [];
  const add = (start: number, end: number) => {
    for (const part of end - start > maxCharacters
      ? splitPassages(text.slice(start, end), maxCharacters)
      : [{ start: 0, end: end - start }]) {
      const span = trimmed(text, start + part.start, start + part.end);
      if (span.end > span.start) spans.push(span);
    }
  };
  let fenced = false;
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (/^\s*(?:```|~~~)/.test(text.slice(start, Math.min(end, start + 20)))) {
      fenced = !fenced;
    } else if (fenced) {
      add(start, end);
    } else {
      let from = start;
      for (const stop of sentenceEnds(text, start, end)) {
        add(from, stop);
        from = stop;
      }
      add(from, end);
    }
    start = end + 1;
  }
  return spans;
}

function sentenceEnds(text: string, start: number, end: number): number[] {
  const ends: number[] = [];
  for (let i = start; i < end; i++) {
    const character = text[i] ?? '';
    if (character === '`') {
      const close = text.indexOf('`', i + 1);
      // Without a partner on this line there is none for the rest of it either.
      if (close < 0 || close >= end) return [...ends, ...sentenceEnds(text.slice(0, end).replaceAll('`', ' '), i, end)];
      i = close;
    } else if (cjkEnds.has(character)) {
      i = skip(text, i + 1, end, (c) => closers.has(c) || cjkEnds.has(c)) - 1;
      ends.push(i + 1);
    } else if (character === '.' || character === '!' || character === '?' || character === '…') {
      const after = skip(text, i + 1, end, (c) => closers.has(c) || '.!?…'.includes(c));
      const next = skip(text, after, end, (c) => /\s/.test(c));
      if (next > after && endsSentence(text, start, i, text[next] ?? '')) ends.push(after);
      i = next - 1;
    }
  }
  return ends;
}

function endsSentence(text: string, start: number, at: number, next: string): boolean {
  if (/\p{Ll}/u.test(next)) return false;
  if (text[at] !== '.') return true;
  const before = text.slice(Math.max(start, at - 12), at);
  const word = /(?:^|[\s("'[])([\p{L}\p{N}.]*)$/u.exec(before)?.[1] ?? '';
  // Initials, and the number of a list item.
  if (/^\p{Lu}$/u.test(word) || (/^\d{1,3}$/.test(word) && text.slice(start, at).trim() === word)) return false;
  return !abbreviations.has(word.toLowerCase());
}

function skip(text: string, from: number, end: number, while_: (character: string) => boolean): number {
  let i = from;
  while (i < end && while_(text[i] ?? '')) i++;
  return i;
}

function trimmed(text: string, start: number, end: number): Span {
  let from = start;
  let to = end;
  while (from < to && /\s/.test(text[from] ?? '')) from++;
  while (to > from && /\s/.test(text[to - 1] ?? '')) to--;
  return { start: from, end: to };
}
