import { fileKey, isSameVersion, type FileChanges, type FileVersion } from './fileChanges';

/** A mark of `file_changes`, as the store lists them. */
export interface FileMark {
  readonly uuid: string;
  readonly seq: number;
  /** The entry that it hangs on: the call, or the end of the branch when files were restored. */
  readonly on: string;
  readonly content: FileChanges;
}

/** One file on its way from one state to another. */
export interface FileStep {
  readonly folder: string;
  readonly path: string;
  readonly from: FileVersion | null;
  readonly to: FileVersion | null;
}

/** What happens to one file, in order; where one step ends and the next begins otherwise, somebody else has changed it in between. */
export interface FileWay {
  readonly folder: string;
  readonly path: string;
  readonly steps: readonly FileStep[];
}

/*
 * States of the files of one session. Each mark of a call leads from the state before it to a new one; a restore goes back to an earlier
 * one, from which the next call starts. So the states are a tree, beside that of the conversation:
 *
 *   null ──call 1──▶ a ──call 2──▶ b        files stand at: b
 *                    ▲             │
 *                    └──restore────┘        files stand at: a
 *                    └──call 3──▶ c         files stand at: c; from b one comes here by 2 backwards and 3
 *
 * The order of the marks in the store says all of it: nothing is kept beside them.
 */
export class FileHistory {
  private readonly marks = new Map<string, FileMark>();
  /** The state that a call started from. */
  private readonly origins = new Map<string, string | null>();
  /** Where the files stand now, as far as calls and restores go: a mark, or null before the first. */
  readonly now: string | null;

  /** `marks` of the session and of what it shares with others. */
  constructor(marks: readonly FileMark[]) {
    let at: string | null = null;
    for (const mark of [...marks].sort((a, b) => a.seq - b.seq)) {
      if (mark.content.source === 'review') continue;
      this.marks.set(mark.uuid, mark);
      this.origins.set(mark.uuid, at);
      at = this.stateOf(mark);
    }
    this.now = at;
  }

  /** Where the files stood when something was said: files are the session's, whatever branch it was on. */
  before(said: { readonly seq: number }): string | null {
    return this.newest((mark) => mark.seq < said.seq);
  }

  /**
   * Where the files stand at the end of a branch: where they stood when that was said, or where calls of it and restores of the files alone
   * have brought them since. A restore that took the conversation along has left the branch.
   */
  atEnd(leaf: { readonly uuid: string; readonly seq: number }): string | null {
    return this.newest(
      ({ seq, on, content }) => seq < leaf.seq || (on === leaf.uuid && (content.source === 'tool' || content.alone === true)),
    );
  }

  /** What leads from one state to another, file by file. */
  ways(from: string | null, to: string | null): FileWay[] {
    const up = this.ancestors(from);
    const down = this.ancestors(to);
    const shared = new Set(down);
    const meet = up.find((state) => shared.has(state)) ?? null;
    const steps = [
      ...up.slice(0, up.indexOf(meet)).flatMap((state) =>
        this.stepsOf(state)
          .map(({ from: a, to: b, ...file }) => ({ ...file, from: b, to: a }))
          .reverse(),
      ),
      ...down
        .slice(0, down.indexOf(meet))
        .reverse()
        .flatMap((state) => this.stepsOf(state)),
    ];
    const ways = new Map<string, FileStep[]>();
    for (const step of steps) {
      const way = ways.get(fileKey(step));
      if (way) way.push(step);
      else ways.set(fileKey(step), [step]);
    }
    return [...ways.values()]
      .map((way) => ({ folder: way[0]!.folder, path: way[0]!.path, steps: joined(way) }))
      .filter(({ steps: left }) => left.length > 0);
  }

  /** The newest restore that nothing but an undo could follow: no call has changed a file since. Null when there is none. */
  get lastRestore(): FileMark | null {
    const last = [...this.marks.values()].at(-1);
    return last?.content.source === 'restore' ? last : null;
  }

  /** What takes a restore back: its files, and the state that it started from. */
  undo({ uuid, content }: FileMark): { readonly ways: FileWay[]; readonly to: string | null } {
    const ways = content.files.map(({ folder, path, before: to, after: from }) => ({ folder, path, steps: [{ folder, path, from, to }] }));
    return { ways, to: this.origins.get(uuid) ?? null };
  }

  /** Everything on the way that was said not to be covered. */
  uncovered(from: string | null, to: string | null): NonNullable<FileChanges['uncovered']> {
    return this.between(from, to).flatMap((state) => this.marks.get(state)?.content.uncovered ?? []);
  }

  /** The marks on the way from one state to another. */
  between(from: string | null, to: string | null): string[] {
    const [up, down] = [this.ancestors(from), this.ancestors(to)];
    const states = [...up.filter((state) => !down.includes(state)), ...down.filter((state) => !up.includes(state))];
    return states.filter((state) => state !== null);
  }

  private newest(counts: (mark: FileMark) => boolean): string | null {
    const last = [...this.marks.values()].filter(counts).at(-1);
    return last ? this.stateOf(last) : null;
  }

  private stateOf({ uuid, content }: FileMark): string | null {
    if (content.source !== 'restore') return uuid;
    const { restoredTo = null } = content;
    // What it names may have left with another session: then the files stand where the restore has put them, which nobody can name.
    return restoredTo === null || this.marks.has(restoredTo) ? restoredTo : (this.origins.get(uuid) ?? null);
  }

  /** The state itself, the one before it and so on up to that before the first call. */
  private ancestors(state: string | null): (string | null)[] {
    const found: (string | null)[] = [state];
    for (let at = state; at !== null; ) found.push((at = this.origins.get(at) ?? null));
    return found;
  }

  private stepsOf(state: string | null): FileStep[] {
    const files = state === null ? [] : (this.marks.get(state)?.content.files ?? []);
    return files.map(({ folder, path, before, after }) => ({ folder, path, from: before, to: after }));
  }
}

/** Steps that follow on each other are one; what comes back to where it began is none. */
function joined(way: readonly FileStep[]): FileStep[] {
  const left: FileStep[] = [];
  for (const step of way) {
    const last = left.at(-1);
    const one = last && isSameVersion(last.to, step.from) ? { ...step, from: last.from } : step;
    if (one !== step) left.pop();
    if (!isSameVersion(one.from, one.to)) left.push(one);
  }
  return left;
}
