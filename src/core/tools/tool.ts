import type { ToolSpec } from '../models/modelRequest';
import * as z from 'zod/mini';

export interface ToolOutcome {
  /** Names the images, for whoever does not see them. */
  readonly text: string;
  readonly images?: readonly ToolImage[];
  readonly status: 'ok' | 'error' | 'denied';
  /** The model is sent the beginning and the end of a longer text, with how to read the rest; all of it is stored. */
  readonly shownTokens?: number;
}

/** Bytes of a type that models take (`imageTypes`), of at most `mostImageBytes` and `mostImageSide`: anything else is left out. */
export interface ToolImage {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A file as it is and as it would be. */
export interface FileChange {
  /** The user knows it so: relative to the workspace. */
  readonly path: string;
  /** Null: there is no such file yet. */
  readonly before: string | null;
  readonly after: string;
}

/** What the user is asked before a call runs. */
export interface ApprovalQuestion {
  /** `read` changes nothing; `write` changes files; `command` runs a program; `tool` is somebody else's and may do anything. */
  readonly kind: 'read' | 'write' | 'command' | 'tool';
  /** What would happen, in one line. */
  readonly title: string;
  /** What has to be known to answer: the command, or why this is asked at all. */
  readonly detail: string | null;
  /** What is good to know beside that. */
  readonly note?: string;
  /** Neither a mode nor an earlier answer covers it. */
  readonly everyTime: boolean;
  /** The command, or the path in the workspace, that a lasting permission would be about. Absent: the tool, whatever it is called for. */
  readonly permission?: string;
  readonly change: FileChange | null;
}

export interface ToolRun {
  /** The user's answer was about this; null when nothing was asked. A tool does nothing else than what was shown. */
  readonly approved: ApprovalQuestion | null;
  /** UUID of the call's entry. */
  readonly call?: string;
  /** Shown while the call runs; what the model reads is the outcome. */
  readonly onOutput: (text: string) => void;
  /** The call has changed a note of the model's. */
  readonly onNoteWritten?: (write: NoteWrite) => void;
  /** Says something to the model behind the results of the step, as a message of the program's. */
  readonly tell: (message: ToldMessage) => void;
}

export interface ToldMessage {
  /** The kind of the message, for the model and the transcript. */
  readonly customType: string;
  readonly text: string;
}

/** What is recorded of it, beside the call's result. */
export interface NoteWrite {
  readonly op: string;
  readonly path: string;
  readonly bytes: number;
}

/**
 * Something the model may call. What goes wrong is an outcome, or an error that the model is told: `ToolFault` as it stands, any
 * other as a failure of the tool.
 */
export interface Tool extends ToolSpec {
  /**
   * `read` changes nothing, and runs beside other reads; `notes` writes only the model's own notes; `write` changes the user's files or
   * runs something.
   */
  readonly access: 'read' | 'notes' | 'write';
  /** After this long it is ended. Time in which the user is asked does not count, but for what it asks itself while it runs. */
  readonly timeoutMs?: number;
  /** Null: it may run unasked. Omitted: what `write`s is asked about. Rejects when the call could not run anyway: nobody is asked then. */
  readonly needsApproval?: (input: unknown, signal: AbortSignal) => Promise<ApprovalQuestion | null>;
  run(input: unknown, signal: AbortSignal, run?: ToolRun): Promise<ToolOutcome>;
}

/** Why a call cannot be carried out, in words for the model. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault';
  static is(error: unknown): error is ToolFault {
    return error instanceof ToolFault;
  }
}

/** The input of a call as its schema has it. Throws `ToolFault`, which says what is wrong with it. */
export function toolInput<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ToolFault(`The input is not valid: ${z.prettifyError(parsed.error)}`);
}
