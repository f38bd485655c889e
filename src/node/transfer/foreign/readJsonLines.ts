import { statSync, createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { english } from '../../../core/l10n';
import { ClaudeCodeReader } from '../../../core/transfer/formats/claudeCode';
import { CodexReader } from '../../../core/transfer/formats/codex';
import { CopilotCliReader } from '../../../core/transfer/formats/copilotCli';
import { parseForeign, tooDeep } from '../../../core/transfer/formats/foreignJson';
import { PiReader } from '../../../core/transfer/formats/pi';
import { QwenReader } from '../../../core/transfer/formats/qwen';
import { withAbout, type OpenClawAbout } from '../../../core/transfer/openClawKeys';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import type { ImportContext } from '../import/importStore';
import { recordHash } from '../import/sessionWriter';

/** Reads the records of a growing file: one at a time, in order. */
export interface LineFormat {
  /** `line` counts from 0 what is no empty line; `fallbackId` names a session that does not name itself. */
  read(value: unknown, line: number, hash: string, fallbackId: string): SourceEvent[];
  /** What is held back for the next line. */
  release?(): SourceEvent[];
}

export const lineFormats = {
  pi: () => new PiReader(),
  openclaw: () => new PiReader(),
  'claude-code': () => new ClaudeCodeReader(),
  codex: () => new CodexReader(),
  'copilot-cli': () => new CopilotCliReader(),
  qwen: () => new QwenReader(),
} satisfies Readonly<Record<string, () => LineFormat>>;
export type LineFormatName = keyof typeof lineFormats;

/**
 * Every event of a file, with what is known of its session beside it. A last line that is only half there is left for the next import, and
 * said.
 */
export async function* readJsonLines(
  file: string,
  format: LineFormatName,
  { signal, onProgress }: ImportContext,
  about: OpenClawAbout | null = null,
): AsyncGenerator<SourceEvent, void, void> {
  const reader: LineFormat = lineFormats[format]();
  const fallbackId = basename(file).replace(/\.jsonl$/, '');
  const { size } = statSync(file);
  let line = 0;
  for await (const { text, end, complete } of readLines(file, 0, signal)) {
    signal?.throwIfAborted();
    if (text.trim() === '') continue;
    const parsed = parseForeign(text);
    // What is no JSON is a record of an unknown kind, unless the rest of it is still to come.
    if (parsed || complete) {
      for (const event of reader.read(parsed ? parsed.value : text, line, recordHash(text), fallbackId)) {
        if (about && event.type === 'session') yield* withAbout(event, about);
        else yield event;
      }
      if (parsed && parsed.cut > 0) yield { type: 'repaired', kind: tooDeep() };
    } else {
      yield { type: 'repaired', kind: english('half-written last line, left for the next import') };
    }
    line++;
    onProgress?.(end, size);
  }
  yield* reader.release?.() ?? [];
}

/** A line of a source, without its end. */
interface SourceLine {
  readonly text: string;
  /** Bytes from the start of the file, to the line and behind its end: where to go on reading. */
  readonly start: number;
  readonly end: number;
  /** False for a last line without an end: more of it may come. */
  readonly complete: boolean;
  /** As they stood there when they were read, without the line feed; null of a line that was too long to be held. */
  readonly bytes: Buffer | null;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const chunkBytes = 256 * 1024;
/** No record has so much that could be kept (partSize.ts); a file that is one line would have to fit into memory else. */
const mostLineBytes = 256 * 1024 * 1024;

/** The lines of a file from byte `from` on, as `linesOf` has them. Rejects as the file system or the signal says. */
export function readLines(file: string, from = 0, signal?: AbortSignal): AsyncGenerator<SourceLine, void, void> {
  return linesOf(bytesOf(file, from, chunkBytes, signal), from);
}

/**
 * Lines of what stands from byte `from` on, which is the start of one; blank ones too, since whoever goes on behind them has to know where.
 * Lines are cut before they are decoded, so that no character is, and may end with CR LF. In the place of one that is too long to be held
 * stands a record that says so. What is read is what was there when the end was reached: reading goes on from `end` of the last complete
 * line. Rejects as `chunks` does.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, from: number): AsyncGenerator<SourceLine, void, void> {
  let pieces: Buffer[] = [];
  let start = from;
  let at = from;
  let held = 0;
  const hold = (piece: Buffer) => {
    held = pieces.length === 0 ? piece.length : held + piece.length;
    // What is longer has one empty piece, and its length is known from where it begins and ends.
    if (held <= mostLineBytes) pieces.push(piece);
    else pieces = [Buffer.alloc(0)];
  };
  for await (const chunk of chunks) {
    let begin = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, begin)) {
      hold(chunk.subarray(begin, end));
      yield lineOf(pieces, start, at + end + 1, true);
      pieces = [];
      begin = end + 1;
      start = at + begin;
    }
    if (begin < chunk.length) hold(chunk.subarray(begin));
    at += chunk.length;
  }
  if (at > start) yield lineOf(pieces, start, at, false);
}

/** Rejects once the signal is aborted. Node leaves the file open for good where it is aborted before the stream is made. */
export function bytesOf(file: string, start: number, highWaterMark: number, signal?: AbortSignal): AsyncIterable<Buffer> {
  signal?.throwIfAborted();
  return createReadStream(file, { start, highWaterMark, ...(signal ? { signal } : {}) });
}

function lineOf(pieces: readonly Buffer[], start: number, end: number, complete: boolean): SourceLine {
  if (end - start > mostLineBytes)
    return { text: JSON.stringify({ type: 'too_large', bytes: end - start }), start, end, complete, bytes: null };
  const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  const length = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
  const text = bytes.toString('utf8', start === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0, length);
  return { text, start, end, complete, bytes };
}
