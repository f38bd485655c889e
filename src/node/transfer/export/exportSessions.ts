import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { randomUUID } from 'node:crypto';
import type { SessionStore } from '../../../core/ports';
import type { Session } from '../../../core/session/session';
import { patientRename } from '../../runtime/patientRename';
import { entriesToTell } from './entriesToTell';
import { exportJson, type ExportOptions } from './exportJson';
import { t } from '../../../core/l10n';
import type { StoredEntry } from '../../../core/session/entry';
import { redactContent } from '../../../core/transfer/exportDocument';
import { redactText } from '../../../core/redaction/redactText';
import { transcriptBlock, transcriptSpan, blockMarkdown, escapeLine, type TranscriptBlock } from '../../../core/transfer/transcriptBlocks';
import { blockHtml, escapeHtml, pageEnd, pageHead } from './transcriptHtml';

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
export async function writeExport(pieces: AsyncIterable<string | Uint8Array>, file: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await pipeline(Readable.from(pieces), createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true }));
    await patientRename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

const pageEntries = 200;

/** What is to be read of the sessions, in pieces: the branch that each stands on, compacted messages included. */
export async function* exportMarkdown(
  store: SessionStore,
  sessions: readonly Session[],
  options: ExportOptions,
): AsyncGenerator<string, void, void> {
  for (const [index, session] of sessions.entries()) {
    const { title, subtitle } = await headOf(store, session, options);
    yield `${index === 0 ? '' : '\n---\n\n'}# ${escapeLine(title)}\n\n*${escapeLine(subtitle)}*\n`;
    for (const block of await blocksOf(store, session, options)) yield `\n${blockMarkdown(block)}\n`;
  }
}

/** The same as one page that needs nothing but itself: no scripts, nothing fetched, pictures within. */
async function* exportHtml(store: SessionStore, sessions: readonly Session[], options: ExportOptions): AsyncGenerator<string, void, void> {
  const pictureOf = async (hash: string, mime: string): Promise<string | null> => {
    if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mime)) return null;
    const bytes = await store.blob(hash, true);
    return bytes ? `data:${mime};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')}` : null;
  };
  const [only] = sessions;
  const heads = await Promise.all(sessions.map((session) => headOf(store, session, options)));
  const [head] = heads;
  yield sessions.length === 1 && only && head
    ? pageHead(head.title, head.subtitle)
    : pageHead(t('Threadkeeper history'), t('{0} sessions', sessions.length));
  for (const [index, session] of sessions.entries()) {
    if (sessions.length > 1)
      yield `<hr>\n<h1>${escapeHtml(heads[index]?.title ?? '')}</h1>\n<p>${escapeHtml(heads[index]?.subtitle ?? '')}</p>\n`;
    for (const block of await blocksOf(store, session, options)) yield await blockHtml(block, pictureOf);
  }
  yield pageEnd;
}

async function headOf(
  store: SessionStore,
  session: Session,
  { redact }: ExportOptions,
): Promise<{ readonly title: string; readonly subtitle: string }> {
  const branches = (await store.branches(session.uuid)).length;
  const others =
    branches > 1
      ? ` · ${t(branches === 2 ? '{0} other branch is not shown here, only in an export as JSON' : '{0} other branches are not shown here, only in an export as JSON', branches - 1)}`
      : '';
  const title = session.title || t('Untitled');
  return {
    title: redact ? redactText(title) : title,
    subtitle: `${session.id} · ${transcriptSpan(session.createdAt, session.updatedAt, session.messageCount)}${others}`,
  };
}

async function blocksOf(
  store: SessionStore,
  session: Session,
  { redact, signal, onProgress, isForNow }: ExportOptions,
): Promise<TranscriptBlock[]> {
  const pages: (readonly StoredEntry[])[] = [];
  let before: string | undefined;
  let done = 0;
  for (let hasMore = true; hasMore; ) {
    signal?.throwIfAborted();
    const page = await store.page(session.uuid, { limit: pageEntries, ...(before === undefined ? {} : { before }) });
    pages.push(isForNow ? page.entries : await entriesToTell(store, page.entries));
    before = page.entries[0]?.uuid;
    hasMore = page.hasMore && before !== undefined;
    done += page.entries.length;
    onProgress?.(done, Math.max(done, session.messageCount));
  }
  return pages.reverse().flatMap((page) =>
    page.flatMap((entry) => {
      const block = transcriptBlock(redact ? { ...entry, content: redactContent(entry.content) } : entry);
      return block ?? [];
    }),
  );
}
