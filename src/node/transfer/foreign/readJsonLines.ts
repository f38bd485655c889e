import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { english } from '../../../core/l10n';
import { ClaudeCodeReader } from '../../../core/transfer/formats/claudeCode';
import { parseForeign, tooDeep } from '../../../core/transfer/formats/foreignJson';
import { PiReader } from '../../../core/transfer/formats/pi';
import { withAbout, type OpenClawAbout } from '../../../core/transfer/openClawAbout';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import type { ImportContext } from '../import/importContext';
import { readLines } from './lineReader';
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
} satisfies Readonly<Record<string, () => LineFormat>>;
export type LineFormatName = keyof typeof lineFormats;

/** Every event of a file, with what is known of its session beside it. A last line that is only half there is left for the next import, and said. */
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
