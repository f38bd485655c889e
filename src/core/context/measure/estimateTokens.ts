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

/** Newer tokenizers give more tokens than ours for the same text, and more so for CJK; used until a model has reported usage. */
const startFactor = { text: 1.15, cjk: 1.35 };
const bounds = { min: 0.7, max: 2 };
const weight = 0.4;

/** `cjkShare`: 0–1, the share of CJK characters in what is about to be sent. */
export function startingFactor(row: CalibrationRow | undefined, cjkShare: number): number {
  return row ? clamp(row.factor) : startFactor.text + (startFactor.cjk - startFactor.text) * cjkShare;
}

/**
 * Exponential average of reported ÷ counted tokens. Requests too small to tell (the fixed overhead of a request dominates) leave
 * the factor as it is; the first measurement replaces the starting value.
 */
export function learn(previous: CalibrationRow | undefined, model: string, reported: number, counted: number): CalibrationRow | undefined {
  if (counted < 200 || reported <= 0) return previous;
  const observed = clamp(reported / counted);
  const factor = previous ? previous.factor + weight * (observed - previous.factor) : observed;
  return { model, kind: 'prompt', factor: clamp(factor), n: (previous?.n ?? 0) + 1 };
}

function clamp(factor: number): number {
  return Math.min(bounds.max, Math.max(bounds.min, factor));
}

export interface CalibrationRow {
  readonly model: string;
  /** Kind of text the factor was learned on. */
  readonly kind: string;
  readonly factor: number;
  readonly n: number;
}
