import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { randomUUID } from 'node:crypto';
import type { SessionStore } from '../../../core/ports';
import type { Session } from '../../../core/session/session';
import { patientRename } from '../../runtime/patientRename';
import { exportJson, type ExportOptions } from './exportJson';
import { exportHtml, exportMarkdown } from './exportTranscript';

export const exportFormats = ['json', 'md', 'html'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const writers = { json: exportJson, md: exportMarkdown, html: exportHtml } as const;

/** The sessions in the format, in pieces. Rejects with `StoreError`, or as the signal says. */
export function exportSessions(
  store: SessionStore,
  sessions: readonly Session[],
  format: ExportFormat,
  options: ExportOptions,
): AsyncGenerator<string, void, void> {
  return writers[format](store, sessions, options);
}

/** Replaces `file` when all of it has been written; rejects and leaves it alone otherwise. */
export async function writeExport(pieces: AsyncIterable<string>, file: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await pipeline(Readable.from(pieces), createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true }));
    await patientRename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
