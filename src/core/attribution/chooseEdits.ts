import { diffArrays } from 'diff';
import type { CandidateEdit, TextEdit } from './editRecord';
import { alike, squeezed, weightOf } from './lineText';
import { linesByReplay } from './ownedLines';

/** A line in the state of a file with which it came. */
export interface LineState {
  readonly lines: readonly string[];
  /** From 0. */
  readonly line: number;
  /** The state before it; null: there was none, or nobody knows it. */
  readonly earlier: readonly string[] | null;
  /** When the state before it was kept, in milliseconds; null: not known. */
  readonly since: number | null;
  /** When this state was kept: what was edited later cannot be meant. */
  readonly until: number;
  /** Lines beside it say the same now: which of them came with which state is not known then. */
  readonly isRepeated?: boolean;
  /** How often it stands in the file now: what has been copied since is nobody's edit, and looks like the original. */
  readonly copies?: number;
}

export interface ChosenEdits {
  /** None: nobody is known. One: that one. Several: one of these, and which cannot be said. */
  readonly edits: readonly CandidateEdit[];
  /** They are older than the state before, in which the line does not stand: whoever asks looks whether it did stand in one between. */
  readonly stale: boolean;
  /** Lines of the state that say the same as the asked one, which is among them, and are known to be of the same edit. */
  readonly places: readonly number[];
}

/** Git keeps whole seconds. */
const tickMs = 1_000;
/** Lines in which two states may differ to be compared. */
const mostDifferent = 4_000;
/** Neighbouring lines that are compared in each direction. */
const mostNeighbours = 40;

/**
 * Which edits have put a line there. The text of the line has to be among what an edit has added, and the lines around it tell which of
 * equal ones is meant. Blanks do not count: git is asked without them, too. Says nobody rather than a wrong one.
 */
export function chooseEdits(state: LineState, candidates: readonly CandidateEdit[]): ChosenEdits {
  const file = state.lines.map(squeezed);
  const target = file[state.line] ?? '';
  const places = [state.line];
  const nobody = { edits: [], stale: false, places };
  const isCopied = (state.copies ?? 1) > 1 && file.filter((text) => alike(text) === alike(target)).length === 1;
  if (isCopied || (state.isRepeated && !isRow(file, state.line))) return nobody;
  const { since } = state;
  const inTime = distinct(candidates).filter(({ at }) => at < state.until + tickMs);
  const recent = since === null ? inTime : inTime.filter(({ at }) => at >= since);
  const replayed = state.copies === undefined && linesByReplay(state.earlier ?? [], recent, state.lines, state.line);
  if (replayed) return { edits: [replayed.edit], stale: false, places: replayed.lines };
  const changed = state.earlier && changedPlaces(state.earlier.map(squeezed), file);
  // It came with this state only by one of several ways to see it.
  if (changed && !changed.surely.has(state.line)) return nobody;
  const equal = file.flatMap((text, i) => (text === target && (i === state.line || !changed || changed.maybe.has(i)) ? [i] : []));
  const choose = (from: readonly CandidateEdit[], isFresh: boolean) => winners(from, file, state.line, equal, isFresh);
  const fresh = choose(recent, true);
  if (fresh.length > 0 || since === null) return { edits: fresh, stale: false, places };
  const stale = choose(
    inTime.filter(({ at }) => at < since),
    false,
  );
  return { edits: stale, stale: stale.length > 0, places };
}

/** Whether lines beside it said the same in that state as well. */
function isRow(file: readonly string[], line: number): boolean {
  return file[line - 1] === file[line] || file[line + 1] === file[line];
}

interface Placed {
  readonly edit: CandidateEdit;
  readonly score: number;
  /** Other places fit as well, and more of them than the edit has lines for. */
  readonly elsewhere: boolean;
}

function winners(
  candidates: readonly CandidateEdit[],
  file: readonly string[],
  line: number,
  places: readonly number[],
  isFresh: boolean,
): readonly CandidateEdit[] {
  const target = file[line]!;
  const counts = new Map<string, number>();
  for (const text of file) counts.set(text, (counts.get(text) ?? 0) + 1);
  const placed = candidates.flatMap((edit): Placed[] => {
    const after = linesAfter(edit);
    // Most edits of a file have nothing to do with the line: only the others are compared with what they replaced.
    if (!after.includes(target)) return [];
    const added = addedLines(edit, after);
    const copies = after.flatMap((text, i) => (text === target && added.has(i) ? [i] : []));
    if (copies.length === 0) return [];
    const scoreAt = (place: number) => Math.max(...copies.map((i) => fit(after, i, file, place)));
    const score = scoreAt(line);
    if (!copies.some((i) => isTold(after, i, file, line, counts, isFresh && places.length === 1))) return [];
    const others = places.filter((place) => place !== line).map(scoreAt);
    if (others.filter((other) => other > score).length >= copies.length) return [];
    return [{ edit, score, elsewhere: others.filter((other) => other >= score).length >= copies.length }];
  });
  const best = Math.max(...placed.map(({ score }) => score));
  const close = placed.filter(({ score }) => score > best - 1);
  // Each equal line that is new may be of another edit: only the better fit parts them.
  if (places.length > 1) {
    const first = placed.filter(({ score }) => score === best);
    return first.length === 1 && !first[0]!.elsewhere
      ? [first[0]!.edit]
      : close.length === 1 && close[0]!.elsewhere
        ? []
        : close.map(({ edit }) => edit);
  }
  // One line, put there several times: the last time that it is known not to have been there; else the first.
  const byTime = close.map(({ edit }) => edit).sort((a, b) => a.at - b.at);
  const known = byTime.findLast(({ before }) => before !== null);
  const one = known ?? byTime[0];
  return one ? [one] : [];
}

/**
 * Whether a line can be told to be that of an edit. One that stands in the file more than once has to be enclosed by others that do not,
 * in the file as in the edit: of two equal lines nobody can say otherwise which came with it.
 */
function isTold(
  after: readonly string[],
  i: number,
  file: readonly string[],
  place: number,
  counts: ReadonlyMap<string, number>,
  isAlone: boolean,
): boolean {
  const isOne = (text: string) => counts.get(text) === 1 && weightOf(text) > 0;
  const target = file[place]!;
  if (isOne(target) && (weightOf(target) >= 1 || isAlone)) return true;
  return [-1, 1].every((step) => {
    for (let k = 1; k <= mostNeighbours; k++) {
      const [at, text] = [i + step * k, file[place + step * k]];
      if (text === undefined || after[at] !== text) return false;
      if (isOne(text)) return true;
    }
    return false;
  });
}

/** How much of what an edit has written stands around a place, in lines that tell something. */
function fit(after: readonly string[], i: number, file: readonly string[], place: number): number {
  let score = weightOf(file[place]!);
  for (const step of [-1, 1])
    for (let k = 1; k <= mostNeighbours; k++) {
      const [one, other] = [after[i + step * k], file[place + step * k]];
      if (one === undefined || one !== other) break;
      score += weightOf(one);
    }
  return score;
}

interface ChangedPlaces {
  /** Lines of the later text that the earlier one does not have, whichever way it is seen. */
  readonly surely: ReadonlySet<number>;
  /** Those, and the ones that may be such: a block between equal lines can be said to begin with the one or to end with the other. */
  readonly maybe: ReadonlySet<number>;
}

/** Null where too much has changed to be compared. */
function changedPlaces(before: readonly string[], after: readonly string[]): ChangedPlaces | null {
  const parts = diffArrays([...before], [...after], { maxEditLength: mostDifferent });
  if (!parts) return null;
  const surely = new Set<number>();
  const maybe = new Set<number>();
  let at = 0;
  for (const [i, { added, removed, value }] of parts.entries()) {
    if (removed) continue;
    if (added) {
      const [start, end] = [at, at + value.length];
      // What stands in the place of other lines has its place.
      const isReplacing = parts[i - 1]?.removed === true || parts[i + 1]?.removed === true;
      let [up, down] = [0, 0];
      while (!isReplacing && start - up > 0 && after[start - 1 - up] === after[end - 1 - up]) up++;
      while (!isReplacing && end + down < after.length && after[start + down] === after[end + down]) down++;
      for (let line = start - up; line < end + down; line++) {
        maybe.add(line);
        if (line >= start + down && line < end - up) surely.add(line);
      }
    }
    at += value.length;
  }
  return { surely, maybe };
}

const linesOfEdit = new WeakMap<TextEdit, readonly string[]>();
const addedByEdit = new WeakMap<TextEdit, ReadonlySet<number>>();

function linesAfter(edit: TextEdit): readonly string[] {
  const lines = linesOfEdit.get(edit) ?? edit.after.split('\n').map(squeezed);
  linesOfEdit.set(edit, lines);
  return lines;
}

function addedLines(edit: TextEdit, after: readonly string[]): ReadonlySet<number> {
  const known = addedByEdit.get(edit);
  if (known) return known;
  const before = edit.before === null || edit.before === '' ? [] : edit.before.split('\n').map(squeezed);
  const had = new Set(before);
  const added =
    before.length === 0
      ? new Set(after.keys())
      : (changedPlaces(before, after)?.surely ?? new Set([...after.keys()].filter((i) => !had.has(after[i]!))));
  addedByEdit.set(edit, added);
  return added;
}

/** A session that was continued elsewhere, or read twice, tells of the same edit again. */
function distinct(candidates: readonly CandidateEdit[]): CandidateEdit[] {
  const seen = new Map<string, CandidateEdit>();
  for (const one of candidates) {
    const key = `${one.at}\0${one.before ?? '\x01'}\0${one.after}`;
    if (!seen.has(key)) seen.set(key, one);
  }
  return [...seen.values()];
}
