import type { HandedHistory } from './handedHistory';

/** As opencode names a model. */
export interface OpencodeModel {
  readonly providerID: string;
  readonly modelID: string;
}

/** What a program's session file is made of. */
export interface HandoverInput {
  readonly history: HandedHistory;
  /** A fresh UUID names the new session, as the program names its own. */
  readonly session: string;
  /** Folder in which the program goes on. */
  readonly cwd: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What Gemini CLI calls the folder: its short name, and sha256 of its path. */
  readonly project: { readonly slug: string; readonly hash: string };
  /** The model that opencode goes on with; null: it is not known which it has. */
  readonly model: OpencodeModel | null;
  /** Another UUID at every call. */
  readonly id: () => string;
}

export interface HandoverFile {
  /** Relative to the folder in which the program keeps its sessions, with `/`. */
  readonly path: string;
  readonly text: string;
  /** As the program calls the session when it is to go on. */
  readonly session: string;
  /** Which entry each record of the file was made from, by the id that its importer gives the record. */
  readonly records: Readonly<Record<string, string>>;
}

/** Lines of JSON, with the records that they are read as. */
export class HandoverLines {
  private readonly lines: string[] = [];
  readonly records: Record<string, string> = {};

  /** Number of the next line, counted from 0. */
  get count(): number {
    return this.lines.length;
  }

  /** `record` and `entry`: what its importer calls the line, and what the line was made from; omitted: it makes no record. */
  add(line: unknown, record?: string, entry?: string): void {
    this.lines.push(JSON.stringify(line));
    if (record !== undefined && entry !== undefined) this.records[record] = entry;
  }

  get text(): string {
    return this.lines.map((line) => `${line}\n`).join('');
  }
}

export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
