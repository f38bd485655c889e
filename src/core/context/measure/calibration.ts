import type { CalibrationRow } from './calibrationRow';

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
