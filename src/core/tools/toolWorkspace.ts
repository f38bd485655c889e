import type { Disposable } from '../ports';
import type { Place, WorkspaceFolder } from './guard/workspacePath';

export interface FileStat {
  readonly kind: 'file' | 'folder' | 'other';
  readonly bytes: number;
  /** When it was last changed. */
  readonly modifiedAt: number;
}

export interface FolderItem {
  readonly name: string;
  /** `link` leads somewhere else; it is not followed where a folder is walked through. */
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

export interface Problem {
  readonly place: Place;
  /** Lines count from 1. */
  readonly line: number;
  readonly severity: 'error' | 'warning' | 'information' | 'hint';
  readonly text: string;
}

export interface CommandEnd {
  /** Null when it was ended by a signal. */
  readonly code: number | null;
  readonly signal: string | null;
}

/** Finds the lines that match a regular expression, one text at a time. */
export interface LineMatcher extends Disposable {
  /** Their numbers, from 1. Rejects when it takes too long, and at once when the signal is aborted. */
  numbers(lines: readonly string[]): Promise<readonly number[]>;
}

/** Git's rules that stand outside of a folder of the workspace and hold in it: those of the folders above it, and of its repository. */
export interface IgnoresAbove {
  /** Names of the folders from the top of the repository down to this one. */
  readonly prefix: readonly string[];
  /** The last one that says something counts. `depth`: so many of `prefix` lead to where it stands. `text`: null where it is too large. */
  readonly files: readonly { readonly depth: number; readonly text: string | null }[];
}

/**
 * The workspace as tools see it. Places have to be where they really are (`real`) before anything else is done with them. Rejects
 * with an `Error` whose message says why, in words for the model.
 */
export interface ToolWorkspace {
  /** The folders are as they are now. */
  readonly folders: readonly WorkspaceFolder[];
  /** Names that are left out of searches beside what Git ignores; patterns as in `glob.ts`. */
  readonly excludes: readonly string[];
  /**
   * Where a place lies when every link on the way is followed; what does not exist lies where its nearest folder that does. Null:
   * outside of every folder.
   */
  real(place: Place): Promise<Place | null>;
  stat(place: Place): Promise<FileStat | null>;
  read(place: Place): Promise<Uint8Array>;
  list(place: Place): Promise<readonly FolderItem[]>;
  /** Null where there is no repository. Absent: nothing outside of the workspace is known. Never rejects. */
  ignoresAbove?(folder: number): Promise<IgnoresAbove | null>;
  /** The text of an editor with changes that are not on disk. */
  unsaved(place: Place): string | undefined;
  /**
   * Makes `after` the content of a file that has the text `before` (null: that does not exist; its folders are made), in its
   * editor where it is open. Rejects when it has another content by now, cannot be written, or has unsaved changes. Resolves with
   * its text as it is then: saving may have formatted it.
   */
  replace(place: Place, before: string | null, after: string): Promise<string>;
  /** Lets everything else run that waits, such as a stop: asked for now and then by whatever goes through many files. */
  pause(): Promise<void>;
  /** Throws for an expression that is not valid. */
  lineMatcher(pattern: string, ignoreCase: boolean, signal: AbortSignal): LineMatcher;
  /** What language tools say about a file, or about all; absent where there are none. */
  problems?(place: Place | null): readonly Problem[];
  /** Names of environment variables that no command gets, because they look like secrets. Absent where nothing can be run. */
  readonly withheldVariables?: readonly string[];
  /** The shell is Windows' cmd.exe: of a command of several lines it would run the first one only, and say nothing of the others. */
  readonly runsOneLine?: boolean;
  /**
   * Runs a command line in a folder; ends it and all it has started when the signal is aborted. By `call`, the UUID of the call's entry,
   * the place where it runs can be shown. Absent where nothing can be run.
   */
  run?(command: string, folder: Place, onOutput: (text: string) => void, signal: AbortSignal, call?: string): Promise<CommandEnd>;
}
