/** About a paragraph: small enough to be quoted whole, large enough to make sense alone. */
const target = 1_200;
/** A break is looked for in the last half of a passage, best kind first. */
const breaks: readonly RegExp[] = [/\n(?:[^\S\n]*\n)+/g, /\n/g, /[.!?。！？]\s/g, /\s/g];

export interface Span {
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
