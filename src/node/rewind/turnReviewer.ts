import type { SessionStore } from '../../core/ports';
import { isSameVersion, type FileEdit, type FileVersion } from '../../core/rewind/fileChanges';
import type { FileMark } from '../../core/rewind/fileHistory';
import { textHunks, withHunk, withoutHunk, type TextHunk } from '../../core/rewind/textHunks';
import { isOpen, reviewedFiles, type ReviewedFile } from '../../core/rewind/turnReview';
import { isEntryOf, isUserMessage, type StoredEntry } from '../../core/session/entry';
import type { FileRestorer, RestorePlan, ReviewNote } from './fileRestorer';

/** What a turn has changed, and what is left of that to be reviewed. */
export interface TurnReview {
  readonly session: string;
  /** The message that began the turn; where there is none, its first entry. */
  readonly turn: string;
  /** No message has followed on the branch. */
  readonly isLast: boolean;
  readonly files: readonly ReviewedFile[];
}

/** What would be undone, and what is left then. */
export interface UndoPlan {
  readonly plan: RestorePlan;
  readonly note: ReviewNote;
}

/** Entries that are read at once when a turn is looked for. */
const pageSize = 400;

/** Reviews of turns: each hunk, file or all of them is kept or undone. What is undone is a restore like any other. */
export class TurnReviewer {
  constructor(
    private readonly store: Pick<SessionStore, 'page'>,
    readonly restorer: FileRestorer,
  ) {}

  /** The turn on the open branch that an entry belongs to, or the last one; null when there is no such turn. Rejects with `StoreError`. */
  async find(session: string, entry: string | null): Promise<TurnReview | null> {
    let entries: StoredEntry[] = [];
    for (let before: string | undefined; ; before = entries[0]!.uuid) {
      const page = await this.store.page(session, { limit: pageSize, ...(before === undefined ? {} : { before }) });
      entries = [...page.entries, ...entries];
      const isEnd = !page.hasMore || page.entries.length === 0;
      const at = entry === null ? entries.length - 1 : entries.findIndex(({ uuid }) => uuid === entry);
      const first = entries.slice(0, at + 1).findLastIndex(isUserMessage);
      if (at >= 0 && (first >= 0 || isEnd)) return turnIn(session, entries, Math.max(0, first));
      if (isEnd) return null;
    }
  }

  /** Whether the file on disk is what the turn has left of it: then it can stand in a comparison itself. */
  async isOnDisk({ edit, after }: ReviewedFile): Promise<boolean> {
    const now = await this.restorer.now(edit);
    return now !== null && isSameVersion(now, after);
  }

  /** Hunks that are left of a file; null: it can only be decided about as a whole. Rejects with `StoreError`. */
  async hunks({ before, after }: ReviewedFile): Promise<TextHunk[] | null> {
    if (!before || !after || before.kind === 'link' || after.kind === 'link') return null;
    const [old, now] = [await this.restorer.content(before), await this.restorer.content(after)];
    return old && now && textHunks(old, now);
  }

  /** Nothing happens to the files: they are, or the hunk is, reviewed. Rejects with `StoreError`. */
  async keep({ session, turn }: TurnReview, files: readonly ReviewedFile[], hunk?: TextHunk): Promise<StoredEntry[]> {
    const were = files.filter(isOpen).map(leftOf);
    const kept = await Promise.all(were.map(async (edit) => ({ ...edit, before: hunk ? await this.kept(edit, hunk) : edit.after })));
    return were.length === 0 ? [] : this.restorer.review(session, { turn, files: kept, were });
  }

  /** Plans what takes files, or a hunk of one, back. Rejects with `StoreError`. */
  async undo({ session, turn }: TurnReview, files: readonly ReviewedFile[], hunk?: TextHunk, signal?: AbortSignal): Promise<UndoPlan> {
    const open = files.filter(isOpen);
    const were = open.map(leftOf);
    const left = await Promise.all(were.map(async (edit) => ({ ...edit, after: hunk ? await this.undone(edit, hunk) : edit.before })));
    const back = were.map((edit, n): FileEdit => ({ ...edit, before: left[n]!.after }));
    // Call by call, as a restore goes: what the user has written between two calls is theirs.
    const ways = back.map((edit, n) => (hunk || open[n]!.calls.length < 2 ? [edit] : [...open[n]!.calls].reverse()));
    return { plan: await this.restorer.planWithout(session, ways, signal), note: { turn, files: left, were } };
  }

  private async kept({ before, after }: FileEdit, hunk: TextHunk): Promise<FileVersion | null> {
    const content = before && (await this.restorer.content(before));
    return content ? this.restorer.version(withHunk(content, hunk), after ?? before) : after;
  }

  private async undone({ before, after }: FileEdit, hunk: TextHunk): Promise<FileVersion | null> {
    const content = after && (await this.restorer.content(after));
    return content ? this.restorer.version(withoutHunk(content, hunk), after) : before;
  }
}

function turnIn(session: string, entries: readonly StoredEntry[], first: number): TurnReview | null {
  const begin = entries[first];
  if (!begin) return null;
  const next = entries.findIndex((one, i) => i > first && isUserMessage(one));
  const marks = entries
    .slice(first, next === -1 ? entries.length : next)
    .flatMap((one): FileMark[] =>
      isEntryOf(one, 'file_changes') && one.parent !== null ? [{ uuid: one.uuid, seq: one.seq, on: one.parent, content: one.content }] : [],
    );
  return { session, turn: begin.uuid, isLast: next === -1, files: reviewedFiles(marks) };
}

function leftOf({ edit: { folder, path }, before, after }: ReviewedFile): FileEdit {
  return { folder, path, before, after };
}

/** Notes of what was really done: a file that was left as it is is still to be reviewed. */
export function notesOf({ plan, note }: UndoPlan, done: RestorePlan['files']): ReviewNote[] {
  const isLeft = ({ folder, path }: FileEdit) =>
    plan.files.some((file) => file.folder === folder && file.path === path) &&
    !done.some((file) => file.folder === folder && file.path === path);
  const files = note.files.filter((edit) => !isLeft(edit));
  const were = note.were.filter((edit) => !isLeft(edit));
  return files.some((edit, i) => !isSameVersion(edit.after, were[i]!.after) || !isSameVersion(edit.before, were[i]!.before))
    ? [{ ...note, files, were }]
    : [];
}
