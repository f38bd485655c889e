import { alignments } from './alignments';
import type { CandidateEdit } from './editRecord';
import { alike, weightOf } from './lineText';

/** Lines of a text as they are compared, and of each what is known of it; undefined: one of several things, and which cannot be said. */
export interface OwnedLines<T> {
  readonly lines: readonly string[];
  readonly owners: readonly (T | undefined)[];
}

/** Lines in which two states may differ to be compared. */
const mostDifferent = 1_000;
/** Characters that are gone through to put edits in their places. */
const mostCharacters = 30_000_000;
/** Lines around one that are looked at for one that tells where it stands. */
const mostNeighbours = 40;

export function ownedLines<T>(lines: readonly string[], owner: (line: number) => T): OwnedLines<T> {
  return { lines: lines.map(alike), owners: lines.map((_, i) => owner(i)) };
}

/** What is known of the lines of a later text: new ones are `added`. Null where too much has changed. */
export function laterLines<T>({ lines, owners }: OwnedLines<T>, later: readonly string[], added: T): OwnedLines<T> | null {
  const both = alignments(lines, later, mostDifferent);
  if (!both) return null;
  const ownerOf = (at: number) => (at < 0 ? added : owners[at]);
  const [down, up] = both;
  return { lines: later, owners: later.map((_, i) => (ownerOf(down[i]!) === ownerOf(up[i]!) ? ownerOf(down[i]!) : undefined)) };
}

export interface ReplayedLines {
  readonly edit: CandidateEdit;
  /** The asked line, and all others that say the same and are of the same edit. */
  readonly lines: readonly number[];
}

/**
 * The edit that has put a line of a file there, told by doing again on the state before it what the edits say, each at the one place where
 * it fits: then even a bracket that stands in the file many times has its place. Null: someone else has, or nobody can say.
 */
export function linesByReplay(
  earlier: readonly string[],
  edits: readonly CandidateEdit[],
  now: readonly string[],
  line: number,
): ReplayedLines | null {
  const characters = [...earlier, ...now].reduce((sum, { length }) => sum + length, 0);
  if (edits.length === 0 || edits.length * characters > mostCharacters) return null;
  let made: OwnedLines<CandidateEdit | null> = ownedLines(earlier, () => null);
  const file = now.map(alike);
  const wanted = file[line]!;
  for (const edit of [...edits].sort((a, b) => a.at - b.at)) {
    const next = edited(made, edit);
    // It may have put the line there, wherever that was.
    if (!next && addsOne(edit, wanted)) return null;
    made = next ?? made;
  }
  const both = alignments(made.lines, file, mostDifferent);
  if (!both) return null;
  const [down, up] = both;
  const owners = made.owners;
  const ownerOf = (place: number): CandidateEdit | null => {
    const [owner, other] = [owners[down[place]!], owners[up[place]!]];
    return owner && owner === other && isBacked(made, down, file, place) ? owner : null;
  };
  const edit = ownerOf(line);
  return edit && { edit, lines: file.flatMap((text, i) => (text === wanted && ownerOf(i) === edit ? [i] : [])) };
}

function addsOne({ before, after }: CandidateEdit, wanted: string): boolean {
  const count = (text: string) => linesOf(text).filter((line) => line === wanted).length;
  return count(after) > count(before ?? '');
}

/** The lines after an edit; null where it does not say where it was made, or its place is gone. */
function edited(text: OwnedLines<CandidateEdit | null>, edit: CandidateEdit): OwnedLines<CandidateEdit | null> | null {
  const after = linesOf(edit.after);
  const before = edit.before === null ? null : linesOf(edit.before);
  if (before === null) return laterLines(text, after, edit);
  if (edit.isWhole) return laterLines(laterLines(text, before, null) ?? text, after, edit);
  if (before.join('') === '') return text.lines.length === 0 ? laterLines(text, after, edit) : null;
  const whole = `\n${text.lines.join('\n')}\n`;
  const isOfLines = whole.includes(`\n${before.join('\n')}\n`);
  const said = isOfLines ? `\n${before.join('\n')}\n` : before.join('\n');
  const at = whole.indexOf(said);
  if (at < 0 || whole.includes(said, at + 1)) return null;
  // It may begin and end within a line: what stands there beside it stays.
  const [from, to] = isOfLines ? [at + 1, at + said.length - 1] : [at, at + said.length];
  const head = whole.slice(whole.lastIndexOf('\n', from - 1) + 1, from);
  const tail = whole.slice(to, whole.indexOf('\n', to));
  const first = whole.slice(1, from).split('\n').length - 1;
  const end = first + before.length;
  const split = <I>(items: readonly I[]) => [items.slice(0, first), items.slice(first, end), items.slice(end)];
  const [lines, owners] = [split(text.lines), split(text.owners)];
  const now = isOfLines ? after : `${head}${after.join('\n')}${tail}`.split('\n');
  const next = laterLines({ lines: lines[1]!, owners: owners[1]! }, now, edit);
  return next && { lines: [...lines[0]!, ...next.lines, ...lines[2]!], owners: [...owners[0]!, ...next.owners, ...owners[2]!] };
}

/**
 * Whether what stands around a line says, too, that it is the one of the edit: the line itself, one beside it of the same edit, or lines on
 * both sides, up to one that stands in the file once.
 */
function isBacked(
  { lines, owners }: OwnedLines<CandidateEdit | null>,
  places: readonly number[],
  file: readonly string[],
  line: number,
): boolean {
  const tells = (text: string) => weightOf(text) >= 1 && file.indexOf(text) === file.lastIndexOf(text);
  if (tells(file[line]!)) return true;
  const at = places[line]!;
  let sides = 0;
  for (const step of [-1, 1])
    for (let k = 1; k <= mostNeighbours; k++) {
      const [place, old] = [line + step * k, at + step * k];
      const isEnd = file[place] === undefined && lines[old] === undefined;
      if (!isEnd && places[place] !== old) break;
      if (!isEnd && !tells(file[place]!)) continue;
      if (!isEnd && owners[old] === owners[at]) return true;
      sides++;
      break;
    }
  return sides === 2;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map(alike);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
