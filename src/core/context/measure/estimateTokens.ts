const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/gu;

/** The immediate estimate: characters/4, and runes/3 for the part that is CJK. Surfaces show it with `~` until a count arrives. */
export function estimateTokens(text: string): number {
  if (/^[\x00-\x7f]*$/.test(text)) return Math.ceil(text.length / 4);
  const { runes, units } = countCjk(text);
  return Math.ceil((text.length - units) / 4 + runes / 3);
}

/** 0–1: how much of the texts' tokens are CJK, at about one token per character there and one per four elsewhere. */
export function cjkShare(texts: readonly string[]): number {
  let inCjk = 0;
  let elsewhere = 0;
  for (const text of texts) {
    const { runes, units } = countCjk(text);
    inCjk += runes;
    elsewhere += (text.length - units) / 4;
  }
  return inCjk === 0 ? 0 : inCjk / (inCjk + elsewhere);
}

function countCjk(text: string): { readonly runes: number; readonly units: number } {
  let runes = 0;
  let units = 0;
  for (const match of text.matchAll(cjk)) {
    runes++;
    units += match[0].length;
  }
  return { runes, units };
}
