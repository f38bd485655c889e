import { diffArrays } from 'diff';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { chooseEdits, type ChosenEdits, type LineState } from '../../core/attribution/chooseEdits';
import { editsOf } from '../../core/attribution/callEdits';
import type { CandidateEdit, ExchangeAround, FileEditRecord } from '../../core/attribution/editRecord';
import { alike, squeezed } from '../../core/attribution/lineText';
import { laterLines, ownedLines } from '../../core/attribution/ownedLines';
import { beforeMoving, beforeReformatting } from '../../core/attribution/reformatted';
import type { SessionStore } from '../../core/ports';
import type { FileVersion } from '../../core/rewind/fileChanges';
import { textOf } from '../../core/rewind/mergeText';
import type { Session } from '../../core/session/session';
import type { StoredEntry } from '../../core/session/entry';
import { findRepository, type FoundRepository } from '../rewind/gitRepository';
import { KeptFiles } from '../rewind/keptFiles';
import { GitReader, linesOf, type Blamed } from './gitReader';
import { MeantFile, slashed } from './meantFile';

export interface AskedLine {
  /** The file, as an absolute path. */
  readonly file: string;
  /** What stands in it now, saved or not. */
  readonly text: string;
  /** From 0. */
  readonly line: number;
  /** The folder that relative paths of sessions may start from, beside their own; empty: that of the file. */
  readonly folder: string;
  /** Names of that folder in records of changes, beside its own. */
  readonly names?: readonly string[];
}

/** An edit that has put the line there, with what was said around it. */
export interface LineEdit extends ExchangeAround {
  readonly edit: StoredEntry;
  readonly session: Session;
}

export interface LineReason {
  /** None: no session has written it, as far as is known. Several: one of them has. */
  readonly edits: readonly LineEdit[];
  /** The commit with which it came as it stands; null: it is not committed, or Git cannot tell. */
  readonly commit: Blamed | null;
  /** Why commits are not looked at; null where they are. */
  readonly withoutGit: 'no_repository' | 'git_failed' | null;
  /** Not all edits of the file were compared: there are too many, or they are too large. */
  readonly isCut: boolean;
}

type Store = Pick<SessionStore, 'editsNaming' | 'exchangeAround' | 'session' | 'blob'>;

export interface Bounds {
  /** Calls, and records of changes, that name a file and are read, the newest first. */
  readonly edits: number;
  /** Characters of edits that are kept for the comparison, over all names that the file has had. */
  readonly characters: number;
}

const usualBounds: Bounds = { edits: 2_000, characters: 40_000_000 };
/** Commits that have only written a line otherwise, and are looked through. */
const mostRewritten = 20;
/** Lines in which a file may differ from its committed state to be compared. */
const mostDifferent = 4_000;

/** Who has written a line: by commits to the state with which it came, then by its text. Rejects with `StoreError`, or when aborted. */
export async function whyLine(
  store: Store,
  asked: AskedLine,
  signal: AbortSignal,
  { now = Date.now(), bounds = usualBounds }: { readonly now?: number; readonly bounds?: Bounds } = {},
): Promise<LineReason> {
  const [place, folder] = await Promise.all(
    [dirname(asked.file), asked.folder || dirname(asked.file)].map((one) => realpath(one).catch(() => one)),
  );
  const file = join(place!, basename(asked.file));
  const repository = await findRepository(dirname(file)).catch(() => null);
  const search = new LineSearch(store, { ...asked, file, folder: folder! }, repository, signal, now, bounds);
  const { chosen, commit, withoutGit } = await search.run();
  const edits: LineEdit[] = [];
  for (const { entry: uuid } of chosen) {
    const record = search.entries.get(uuid);
    const session = record && (await store.session(record.session));
    if (record && session) edits.push({ edit: record, session, ...(await store.exchangeAround(uuid)) });
  }
  return { edits, commit, withoutGit, isCut: search.isCut };
}

interface CommittedLine {
  readonly commit: string;
  readonly path: string;
  readonly line: number;
}

/** A line in the text in which it was looked at. */
type Shown = Pick<LineState, 'lines' | 'line'>;

interface Outcome {
  readonly chosen: readonly CandidateEdit[];
  readonly commit: Blamed | null;
  readonly withoutGit: LineReason['withoutGit'];
}

class LineSearch {
  readonly entries = new Map<string, StoredEntry>();
  isCut = false;
  private characters = 0;
  private readonly known = new Map<string, Promise<CandidateEdit[]>>();
  private readonly kept: KeptFiles;
  private readonly meant: MeantFile;

  constructor(
    private readonly store: Store,
    private readonly asked: AskedLine,
    private readonly repository: FoundRepository | null,
    private readonly signal: AbortSignal,
    private readonly now: number,
    private readonly bounds: Bounds,
  ) {
    this.kept = new KeptFiles({ putBlob: async () => '', blob: (hash) => store.blob(hash) });
    this.meant = new MeantFile(repository?.top ?? asked.folder, asked.folder, asked.names);
  }

  async run(): Promise<Outcome> {
    const { repository } = this;
    if (!repository) return this.withoutCommits('no_repository');
    const git = new GitReader(repository, this.signal);
    try {
      return await this.byCommits(git, repository);
    } catch (error) {
      this.signal.throwIfAborted();
      if (error instanceof Error && 'reason' in error) throw error;
      return this.withoutCommits('git_failed');
    } finally {
      git.close();
    }
  }

  private async withoutCommits(withoutGit: 'no_repository' | 'git_failed'): Promise<Outcome> {
    const path = slashed(this.repository ? fileIn(this.repository, this.asked.file) : this.asked.file.slice(this.asked.folder.length + 1));
    const state: LineState = { lines: linesOf(this.asked.text), line: this.asked.line, earlier: null, since: null, until: this.now };
    const { edits } = chooseEdits(state, await this.candidates([path]));
    return { chosen: edits, commit: null, withoutGit };
  }

  private async byCommits(git: GitReader, repository: FoundRepository): Promise<Outcome> {
    const path = fileIn(repository, this.asked.file);
    const lines = linesOf(this.asked.text);
    const head = await git.lines('HEAD', path);
    const place = head && lineBefore(head, lines, this.asked.line);
    if (head === null || place === null) {
      const since = head === null ? null : await git.lastCommit('HEAD', path);
      const state: LineState = { lines, line: this.asked.line, earlier: head, since, until: this.now };
      const { edits: chosen } = await this.choose(git, state, [path], head === null ? null : { commit: 'HEAD', path });
      if (chosen.length > 0 || head === null) return { chosen, commit: null, withoutGit: null };
      const before = beforeReformatting(head, lines, this.asked.line);
      return before === null
        ? { chosen, commit: null, withoutGit: null }
        : { ...(await this.committed(git, { commit: 'HEAD', path, line: before }, null)), commit: null, withoutGit: null };
    }
    const now = { lines, line: this.asked.line };
    return { ...(await this.committed(git, { commit: 'HEAD', path, line: place }, now)), withoutGit: null };
  }

  /** From a line of a committed state to the edit: past commits that have only written it otherwise. `now`: as it was asked for. */
  private async committed(git: GitReader, from: CommittedLine, now: Shown | null): Promise<Pick<Outcome, 'chosen' | 'commit'>> {
    let first: Blamed | null = null;
    let at = from;
    for (let step = 0; step < mostRewritten; step++) {
      const blamed = await git.blame(at.commit, at.path, at.line);
      if (!blamed) break;
      first ??= blamed;
      const { previous } = blamed;
      const lines = (await git.lines(blamed.commit, blamed.path)) ?? [];
      const earlier = previous && (await git.lines(previous.commit, previous.path));
      const since = previous && (await git.lastCommit(previous.commit, previous.path));
      const state: LineState = { lines, line: blamed.line, earlier, since, until: blamed.at };
      const paths = [blamed.path, ...(previous && previous.path !== blamed.path ? [previous.path] : [])];
      let found = await this.choose(git, state, paths, previous);
      const shown = (step === 0 && now) || { lines: (await git.lines(at.commit, at.path)) ?? [], line: at.line };
      const limits = sameAs(shown);
      if (limits.copies > 1) {
        const isSame = await this.isSame(git, { lines, places: found.places }, blamed, at, shown);
        // An equal line that was put elsewhere since looks like it, and is nobody's edit.
        const isAnother = isSame === undefined || (isSame === null && sameAs(state).copies === 1);
        if (isAnother) break;
        if (isSame === null && found.edits.length > 0) found = await this.choose(git, { ...state, ...limits }, paths, previous);
      }
      if (found.edits.length > 0) return { chosen: found.edits, commit: first };
      const before = earlier && (beforeReformatting(earlier, lines, blamed.line) ?? beforeMoving(earlier, lines, blamed.line));
      const next =
        previous && before !== null
          ? { ...previous, line: before }
          : previous && (await this.otherFile(git, blamed, previous.commit, lines));
      if (!next) break;
      at = next;
    }
    return { chosen: [], commit: first };
  }

  /**
   * Whether a line is one of those, which came with a commit and say the same as others. Null: it was moved since, or written otherwise.
   * Undefined: an equal one was put beside it or taken away since, and Git names one of two ways to see that.
   */
  private async isSame(
    git: GitReader,
    { lines, places }: { readonly lines: readonly string[]; readonly places: readonly number[] },
    blamed: Blamed,
    at: CommittedLine,
    shown: Shown,
  ): Promise<true | null | undefined> {
    let marked = ownedLines<true | null>(lines, (line) => (places.includes(line) ? true : null));
    const follow = (state: readonly string[]) => void (marked = laterLines(marked, state.map(alike), null) ?? marked);
    for await (const state of git.statesBetween(blamed.commit, at.commit, [...new Set([at.path, blamed.path])])) follow(state);
    follow(shown.lines);
    return marked.owners[shown.line];
  }

  /** Where a line stood that a commit has moved from another file, with too few others for Git to see; null where that cannot be told. */
  private async otherFile(git: GitReader, blamed: Blamed, before: string, lines: readonly string[]): Promise<CommittedLine | null> {
    const found: CommittedLine[] = [];
    for (const path of await git.changedFiles(before, blamed.commit)) {
      if (path === blamed.path) continue;
      const [old, now] = [await git.lines(before, path), await git.lines(blamed.commit, path)];
      const line = old && beforeMoving(old, lines, blamed.line);
      const wanted = squeezed(lines[blamed.line]!);
      if (line !== null && !now?.some((text) => squeezed(text) === wanted)) found.push({ commit: before, path, line });
    }
    return found.length === 1 ? found[0]! : null;
  }

  private async choose(
    git: GitReader,
    state: LineState,
    paths: readonly string[],
    previous: { readonly commit: string; readonly path: string } | null,
  ): Promise<ChosenEdits> {
    const found: ChosenEdits = chooseEdits(state, await this.candidates(paths));
    if (!found.stale || previous === null) return found;
    // The line was written, committed and taken out again since: whoever has put it back is not known.
    const oldest = Math.min(...found.edits.map(({ at }) => at));
    const hasStood = await git.stoodSince(oldest, previous.commit, previous.path, state.lines[state.line]!);
    return hasStood ? { ...found, edits: [] } : found;
  }

  private async candidates(paths: readonly string[]): Promise<CandidateEdit[]> {
    return (await Promise.all(paths.map((path) => this.editsOf(path)))).flat();
  }

  private editsOf(path: string): Promise<CandidateEdit[]> {
    const known = this.known.get(path) ?? this.readEdits(path);
    this.known.set(path, known);
    return known;
  }

  private async readEdits(path: string): Promise<CandidateEdit[]> {
    const { records, isCut } = await this.store.editsNaming(posix.basename(path), this.bounds.edits);
    this.isCut ||= isCut;
    const recorded = new Map<string, CandidateEdit[]>();
    for (const record of records) {
      const edits = await this.recordedEdits(record, path);
      if (edits.length > 0) recorded.set(record.entry.uuid, [...(recorded.get(record.entry.uuid) ?? []), ...edits]);
    }
    const found = [...recorded.values()].flat();
    for (const { entry, cwd, changes } of records) {
      if (changes !== null || recorded.has(entry.uuid)) continue;
      for (const edit of editsOf(entry.content)) {
        if (!(await this.meant.isSaid(edit.path, cwd, path)) || !this.hasRoom(edit)) continue;
        this.entries.set(entry.uuid, entry);
        found.push({ ...edit, entry: entry.uuid, at: entry.createdAt });
      }
    }
    return found;
  }

  /** What was recorded says more than a call: all of the file before and after it, also of a command. */
  private async recordedEdits({ entry, cwd, changes }: FileEditRecord, path: string): Promise<CandidateEdit[]> {
    const edits: CandidateEdit[] = [];
    for (const file of changes?.files ?? []) {
      if (file.after === null || !(await this.meant.isRecorded(file, cwd, path))) continue;
      if (this.characters > this.bounds.characters) continue;
      const [before, after] = [await this.text(file.before), await this.text(file.after)];
      if (before === undefined || after === undefined || !this.hasRoom({ before, after })) continue;
      this.entries.set(entry.uuid, entry);
      edits.push({ path: file.path, before, after, entry: entry.uuid, at: entry.createdAt, isWhole: true });
    }
    return edits;
  }

  private hasRoom({ before, after }: Pick<CandidateEdit, 'before' | 'after'>): boolean {
    this.characters += (before?.length ?? 0) + after.length;
    const hasRoom = this.characters <= this.bounds.characters;
    this.isCut ||= !hasRoom;
    return hasRoom;
  }

  private async text(version: FileVersion | null): Promise<string | undefined> {
    if (version === null) return '';
    const content = await this.kept.content(version);
    return (content && textOf(content)) ?? undefined;
  }
}

function fileIn({ top }: FoundRepository, file: string): string {
  return slashed(file.slice(top.endsWith('/') || top.endsWith('\\') ? top.length : top.length + 1));
}

/** Lines of a text that say the same as one of them. */
function sameAs({ lines, line }: Shown): Required<Pick<LineState, 'isRepeated' | 'copies'>> {
  const here = alike(lines[line] ?? '');
  const same = lines.flatMap((text, i) => (alike(text) === here ? [i] : []));
  return { isRepeated: same.includes(line - 1) || same.includes(line + 1), copies: same.length };
}

/** Where a line of the text stands in the committed one; null: it is not committed. */
function lineBefore(head: readonly string[], lines: readonly string[], line: number): number | null {
  const parts = diffArrays(head.map(squeezed), lines.map(squeezed), { maxEditLength: mostDifferent }) ?? [];
  let [old, now] = [0, 0];
  for (const { added, removed, count } of parts) {
    if (removed) old += count;
    else if (added) {
      if (line < now + count) return null;
      now += count;
    } else {
      if (line < now + count) return old + (line - now);
      old += count;
      now += count;
    }
  }
  return null;
}
