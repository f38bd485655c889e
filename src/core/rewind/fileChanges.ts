import * as z from 'zod/mini';

/** Blobs with contents of files are put as this. */
export const fileContentMime = 'application/x-packed-file';
/** Their rows say this once the content was let go: for the space it took, or because it was lost. */
export const letGoMime = 'application/x-packed-file; let-go';

/** What stands at a path: a regular file, one that may be run, or a link, whose content is where it leads. */
export const FileVersion = z.object({
  /** SHA-256 of the content, in hexadecimal digits. */
  hash: z.string(),
  bytes: z.number(),
  kind: z.enum(['file', 'executable', 'link']),
  /** Blob of the store that has the content, packed (node/rewind/packedContent.ts); null: it was too large to be kept. */
  blob: z.nullable(z.string()),
});
export type FileVersion = z.infer<typeof FileVersion>;

/** One file before and after; null: there was none. A move is a file that went and one that came with the same content. */
export const FileEdit = z.object({
  /** Name of the workspace's folder. */
  folder: z.string(),
  /** Relative to it, with `/`. */
  path: z.string(),
  before: z.nullable(FileVersion),
  after: z.nullable(FileVersion),
  /** Absent where either side is no text. */
  lines: z.optional(z.object({ added: z.number(), removed: z.number() })),
});
export type FileEdit = z.infer<typeof FileEdit>;

/**
 * Why something that may have been changed is not recorded. `not_held`: the record of another program has only its name; `no_git`: what a
 * command does is seen only where Git is. `saved_by_user`: the user or another session wrote it while the command ran.
 */
export const UncoveredReason = z.enum([
  'too_large',
  'too_many',
  'ignored',
  'nested_repository',
  'name',
  'unreadable',
  'saved_by_user',
  'outside',
  'not_held',
  'no_git',
  'git_failed',
]);
export type UncoveredReason = z.infer<typeof UncoveredReason>;

export const Uncovered = z.object({ path: z.string(), reason: UncoveredReason });
export type Uncovered = z.infer<typeof Uncovered>;

/**
 * What one call, or one restore, has done to files. A mark on the call that did it, or on the entry behind which files were restored:
 * it is in no prompt, leaves and arrives with its session, and names the blobs that it needs.
 */
export const FileChanges = z.object({
  type: z.literal('file_changes'),
  /** `review`: what is left to be reviewed of the files of a turn; hangs on the message that began it. */
  source: z.enum(['tool', 'restore', 'review']),
  files: z.array(FileEdit),
  /** What is not covered, so that nobody is told of it only when it is missing. */
  uncovered: z.optional(z.array(Uncovered)),
  /** A restore names the mark whose state the files have from here on; null is the state before the first one. */
  restoredTo: z.optional(z.nullable(z.string())),
  /** The conversation stayed where it was at a restore, so that its branch goes on from those files. */
  alone: z.optional(z.literal(true)),
  /** Leaves between which a restore took the conversation along: an undo of it brings the conversation back. */
  moved: z.optional(z.object({ from: z.nullable(z.string()), to: z.nullable(z.string()) })),
  /** A review has these: what was left before, and the restore that took something back then, which takes this along when it is undone. */
  were: z.optional(z.array(FileEdit)),
  restore: z.optional(z.string()),
});
export type FileChanges = z.infer<typeof FileChanges>;

/** What `runTool` hands on to be recorded. */
export type RecordedChanges = Pick<FileChanges, 'files' | 'uncovered'>;

export function fileKey({ folder, path }: Pick<FileEdit, 'folder' | 'path'>): string {
  return `${folder}\0${path}`;
}

/** Same content and kind; where it is kept does not matter. */
export function isSameVersion(a: Omit<FileVersion, 'blob'> | null, b: Omit<FileVersion, 'blob'> | null): boolean {
  return a === null || b === null ? a === b : a.hash === b.hash && a.kind === b.kind;
}

/** The row of an entry keeps its content up to 64 KB; what it names has to stand there for a purge to find it. */
const mostPerMark = 40_000;
/** Names that say what was not covered; more of them say nothing new. */
const mostUncovered = 50;

/** The content of as many marks as it takes, each short enough to stand in its row. */
export function fileChangeMarks({ files, uncovered = [] }: RecordedChanges): FileChanges[] {
  const parts: FileEdit[][] = [[]];
  let size = 0;
  for (const file of files) {
    const length = JSON.stringify(file).length * 3;
    if (size + length > mostPerMark && parts.at(-1)!.length > 0) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)!.push(file);
    size += length;
  }
  if (files.length === 0 && uncovered.length === 0) return [];
  return parts.map((part, index) => ({
    type: 'file_changes',
    source: 'tool',
    files: part,
    ...(index === 0 && uncovered.length > 0 ? { uncovered: uncovered.slice(0, mostUncovered) } : {}),
  }));
}
