import type { SourceRecord } from '../../../core/transfer/sourceRecord';
import { sourceIdOf } from '../../../core/transfer/sourceId';
import type { ImportFormat } from './detectFormat';
import type { ImportStore } from './importStore';
import { readJsonLines } from '../foreign/readJsonLines';

const alike: readonly ImportFormat[] = ['openclaw', 'pi'];

/**
 * The format under which a transcript is stored already; its own where it is not. Before OpenClaw's first note in it, it is one of pi by
 * its content, and imported again under the other name it would be there twice.
 */
export async function knownFormat(
  file: string,
  format: ImportFormat,
  store: ImportStore,
  signal: AbortSignal | undefined,
): Promise<ImportFormat> {
  if (format !== 'openclaw' && format !== 'pi') return format;
  const first = await firstRecord(file, format, signal);
  if (!first) return format;
  const sourceId = (of: ImportFormat) => sourceIdOf(of, first.session, first.record, 0);
  const known = new Set((await store.knownSources(alike.map(sourceId))).map((one) => one.sourceId));
  return [format, ...alike].find((one) => known.has(sourceId(one))) ?? format;
}

/** Resolves with the id of its session too; null where nothing is stored of any. */
async function firstRecord(
  file: string,
  format: 'openclaw' | 'pi',
  signal: AbortSignal | undefined,
): Promise<{ readonly session: string; readonly record: SourceRecord } | null> {
  let session = '';
  for await (const event of readJsonLines(file, format, { source: file, ...(signal ? { signal } : {}) })) {
    if (event.type === 'session') session = event.session.id;
    if (event.type === 'record' && event.record.parts.length > 0) return { session, record: event.record };
  }
  return null;
}
