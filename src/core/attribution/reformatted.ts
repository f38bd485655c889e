import { diffArrays } from 'diff';
import { squeezed, weightOf } from './lineText';

const mostDifferent = 4_000;

/**
 * Where a line stood before a commit that has only written it otherwise: wrapped, joined, with other quotes or commas. Null where the
 * commit has changed what it says, or that cannot be told.
 */
export function beforeReformatting(before: readonly string[], after: readonly string[], line: number): number | null {
  const parts = diffArrays(before.map(squeezed), after.map(squeezed), { maxEditLength: mostDifferent });
  if (!parts) return null;
  let [old, now] = [0, 0];
  let [gone, came]: [number[], number[]] = [[], []];
  for (const { added, removed, value } of [...parts, { added: false, removed: false, value: [''] }]) {
    const places = value.map((_, i) => i);
    if (removed) gone.push(...places.map((i) => old + i));
    else if (added) came.push(...places.map((i) => now + i));
    else {
      if (came.includes(line)) return sameWords(before, gone, after, came, line);
      [gone, came] = [[], []];
    }
    if (!added) old += value.length;
    if (!removed) now += value.length;
  }
  return null;
}

/**
 * Where a line stood before a commit that has moved it alone, or with few others: Git takes that for a new one. Only for a line that says
 * something and stood there once, as it does now.
 */
export function beforeMoving(before: readonly string[], after: readonly string[], line: number): number | null {
  const wanted = squeezed(after[line]!);
  if (weightOf(wanted) < 1) return null;
  const places = (lines: readonly string[]) => lines.flatMap((text, i) => (squeezed(text) === wanted ? [i] : []));
  const old = places(before);
  return old.length === 1 && places(after).length === 1 ? old[0]! : null;
}

function sameWords(
  before: readonly string[],
  gone: readonly number[],
  after: readonly string[],
  came: readonly number[],
  line: number,
): number | null {
  const [old, now] = [signsOf(before, gone), signsOf(after, came)];
  const first = now.findIndex((sign) => sign.line === line);
  if (first < 0) return null;
  if (textOf(old) === textOf(now)) return old[first]!.line;
  const alone = (signs: readonly Sign[], at: number) => textOf(signs.filter((sign) => sign.line === at));
  const wanted = alone(now, line);
  const same = gone.filter((at) => alone(old, at) === wanted);
  return same.length === 1 && came.filter((at) => alone(now, at) === wanted).length === 1 ? same[0]! : null;
}

interface Sign {
  readonly sign: string;
  readonly line: number;
}

/** What lines say, sign by sign, without what formatters put in and take out: blanks, the kind of quotes, semicolons and commas at ends. */
function signsOf(lines: readonly string[], places: readonly number[]): Sign[] {
  const signs = places.flatMap((line) =>
    [...squeezed(lines[line]!).replace(/;$/, '')].map((sign) => ({ sign: sign === '"' ? "'" : sign, line })),
  );
  return signs.filter(({ sign }, i) => sign !== ',' || !/[)\]}]/.test(signs[i + 1]?.sign ?? ''));
}

function textOf(signs: readonly Sign[]): string {
  return signs.map(({ sign }) => sign).join('');
}
