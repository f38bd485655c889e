import { CodeLens, EventEmitter, languages, Range, Uri, window, type CodeLensProvider, type TextDocument } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { t } from '../../core/l10n';
import { fileKey, isSameVersion, type FileVersion } from '../../core/rewind/fileChanges';
import { laterLines, type TextHunk } from '../../core/rewind/textHunks';
import { isOpen, type ReviewedFile } from '../../core/rewind/turnReview';
import type { TurnReview, TurnReviewer } from '../../node/rewind/turnReviewer';
import { changeScheme, commandIds } from '../manifest';
import type { ChangeDocuments } from '../tools/changeDocuments';

/** Names a hunk to a command: by its place in a file whose sides were these. */
export interface HunkName {
  readonly file: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly at: number;
}

/** What is known of a file of the review that is open. */
export interface OpenFile {
  readonly key: string;
  readonly reviewed: ReviewedFile;
  /** Null: the file can only be decided about as a whole. */
  readonly hunks: readonly TextHunk[] | null;
  readonly after: Uint8Array | null;
}

interface Sides {
  readonly left: Uri | null;
  readonly right: Uri | null;
}

export interface OpenReviewDeps {
  readonly changes: ChangeDocuments;
  /** Whether the editor in front is the one that shows the review. */
  readonly shown: (isInFront: boolean) => void;
}

/** The one review that is open: its editor, its documents, and a line above each hunk from which it is kept or undone. */
export class OpenReview implements CodeLensProvider, Disposable {
  private readonly disposables = new DisposableStore();
  private readonly lenses = this.disposables.add(new EventEmitter<void>());
  readonly onDidChangeCodeLenses = this.lenses.event;
  private lensProvider: Disposable | null = null;
  private review: TurnReview | null = null;
  private title = '\0';
  private files = new Map<string, OpenFile>();
  private sides = new Map<string, Sides>();
  private wasSeen = false;

  constructor(private readonly deps: OpenReviewDeps) {
    this.disposables.add(window.tabGroups.onDidChangeTabs(() => this.look()));
    this.disposables.add(window.tabGroups.onDidChangeTabGroups(() => this.look()));
  }

  get current(): TurnReview | null {
    return this.review;
  }

  get all(): readonly OpenFile[] {
    return [...this.files.values()];
  }

  /** In the place of any other. Rejects when it cannot be shown. */
  async show(review: TurnReview, reviewer: TurnReviewer): Promise<void> {
    await this.close();
    this.title = review.isLast ? t('Changes of the last answer') : t('Changes of an earlier answer');
    // One that a reload has left knows nothing any more.
    await window.tabGroups.close(this.tabs());
    await this.adopt(review, reviewer);
    this.wasSeen = false;
    this.sides.clear();
    const shown: Parameters<ChangeDocuments['compareAll']>[1][number][] = [];
    for (const { reviewed, after } of this.all.filter((file) => isOpen(file.reviewed))) {
      const place = reviewed.after && reviewer.restorer.place(reviewed.edit);
      const isOnDisk = place !== null && (await reviewer.isOnDisk(reviewed));
      shown.push({
        path: reviewed.edit.path,
        before: reviewed.before && textOf(await reviewer.restorer.content(reviewed.before)),
        after: reviewed.after && textOf(after),
        ...(isOnDisk ? { file: Uri.file(place) } : {}),
      });
    }
    const { sides: opened } = await this.deps.changes.compareAll(this.title, shown);
    const open = this.all.filter((file) => isOpen(file.reviewed));
    for (const [i, sides] of opened.entries()) this.sides.set(open[i]!.key, sides);
    this.lensProvider ??= languages.registerCodeLensProvider(
      [{ scheme: 'file' }, { scheme: changeScheme }, { scheme: 'vscode-remote' }],
      this,
    );
    this.lenses.fire();
    this.look();
  }

  /** What is left now; an editor that shows it follows. */
  async refresh(review: TurnReview, reviewer: TurnReviewer): Promise<void> {
    const before = this.files;
    await this.adopt(review, reviewer);
    for (const file of this.all) {
      const sides = this.sides.get(file.key);
      const was = before.get(file.key)?.reviewed;
      if (!sides || !was) continue;
      const text = async (version: FileVersion | null) => textOf(version && (await reviewer.restorer.content(version)));
      if (sides.left && !isSameVersion(was.before, file.reviewed.before))
        this.deps.changes.update(sides.left, await text(file.reviewed.before));
      if (sides.right && !isSameVersion(was.after, file.reviewed.after))
        this.deps.changes.update(sides.right, await text(file.reviewed.after));
    }
    this.lenses.fire();
    if (!this.all.some(({ reviewed }) => isOpen(reviewed))) await this.close();
  }

  async close(): Promise<void> {
    const tabs = this.review ? this.tabs() : [];
    this.forget();
    if (tabs.length > 0) await window.tabGroups.close(tabs);
  }

  /** The file, and the line in what the turn has made of it, at which the cursor is; null: in no file of the review. */
  at(document: TextDocument, line: number): { readonly file: OpenFile; readonly hunk: TextHunk | null } | null {
    const found = this.fileOf(document.uri);
    if (!found) return null;
    const { file, isLeft } = found;
    const lineIn = isLeft ? null : this.linesIn(file, document);
    const hunk = (file.hunks ?? []).find((one) =>
      lineIn === null
        ? line >= one.oldStart && line < Math.max(one.oldEnd, one.oldStart + 1)
        : within(line, lineIn(one.newStart), lineIn(Math.max(one.newStart, one.newEnd - 1))),
    );
    return { file, hunk: hunk ?? null };
  }

  /** The hunk that a line above it names; null when it is not there any more. */
  named({ file, before, after, at }: HunkName): { readonly file: OpenFile; readonly hunk: TextHunk } | null {
    const found = this.files.get(file);
    const hunk = found?.hunks?.[at];
    if (!found || !hunk || found.reviewed.before?.hash !== before || found.reviewed.after?.hash !== after) return null;
    return { file: found, hunk };
  }

  provideCodeLenses(document: TextDocument): CodeLens[] {
    const found = this.fileOf(document.uri);
    if (!found || found.isLeft || !isOpen(found.file.reviewed)) return [];
    const { file } = found;
    const lineIn = this.linesIn(file, document);
    return (file.hunks ?? []).flatMap((hunk, at) => {
      const line = Math.min(lineIn(hunk.newStart), Math.max(0, document.lineCount - 1));
      const { before, after } = file.reviewed;
      const name: HunkName = { file: file.key, before: before?.hash ?? null, after: after?.hash ?? null, at };
      const range = new Range(line, 0, line, 0);
      return [
        new CodeLens(range, {
          title: t('$(check) Keep'),
          tooltip: t('Keep this change'),
          command: commandIds.keepChange,
          arguments: [name],
        }),
        new CodeLens(range, {
          title: t('$(discard) Undo'),
          tooltip: t('Undo this change'),
          command: commandIds.undoChange,
          arguments: [name],
        }),
      ];
    });
  }

  dispose(): void {
    this.forget();
    this.disposables.dispose();
  }

  private forget(): void {
    this.review = null;
    this.files.clear();
    this.lensProvider?.dispose();
    this.lensProvider = null;
    this.deps.shown(false);
  }

  private async adopt(review: TurnReview, reviewer: TurnReviewer): Promise<void> {
    this.review = review;
    const files = new Map<string, OpenFile>();
    for (const reviewed of review.files) {
      const key = fileKey(reviewed.edit);
      const hunks = isOpen(reviewed) ? await reviewer.hunks(reviewed) : [];
      const after = reviewed.after && (await reviewer.restorer.content(reviewed.after));
      files.set(key, { key, reviewed, hunks, after });
    }
    this.files = files;
  }

  /** The user may have typed in the file since: its lines stand elsewhere then. */
  private linesIn({ after }: OpenFile, document: TextDocument): (line: number) => number {
    return (after && laterLines(after, Buffer.from(document.getText()))) ?? ((line) => line);
  }

  private fileOf(uri: Uri): { readonly file: OpenFile; readonly isLeft: boolean } | null {
    const wanted = uri.toString();
    for (const [key, { left, right }] of this.sides) {
      const file = this.files.get(key);
      if (file && (left?.toString() === wanted || right?.toString() === wanted)) return { file, isLeft: left?.toString() === wanted };
    }
    return null;
  }

  private tabs() {
    return window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(({ label }) => this.isOurs(label));
  }

  /** The editor adds how many files there are. */
  private isOurs(label: string): boolean {
    return label.startsWith(this.title);
  }

  private look(): void {
    if (!this.review) return;
    const isThere = this.tabs().length > 0;
    this.wasSeen ||= isThere;
    if (this.wasSeen && !isThere) return this.forget();
    this.deps.shown(this.isOurs(window.tabGroups.activeTabGroup.activeTab?.label ?? ''));
  }
}

function within(line: number, first: number, last: number): boolean {
  return line >= first && line <= Math.max(first, last);
}

/** For a comparison only. */
export function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? '' : new TextDecoder().decode(bytes);
}
