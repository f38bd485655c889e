import type { FileEdit } from '../../../core/rewind/fileChanges';
import type { EntryContent } from '../../../core/session/entry';
import { countLines } from '../../../core/rewind/mergeText';
import type { HeldEdit } from '../../../core/transfer/sourceRecord';
import { KeptFiles, mostKeptBytes } from '../../rewind/keptFiles';
import type { ImportStore } from './importStore';

/** A mark with what a source holds of files, kept as it is of our own calls; any other content as it is. Rejects with `StoreError`. */
export async function withContents(
  mark: EntryContent,
  edits: readonly HeldEdit[] = [],
  store: Pick<ImportStore, 'putBlob'>,
): Promise<EntryContent> {
  if (mark.type !== 'file_changes' || edits.length === 0) return mark;
  const kept = new KeptFiles({ putBlob: (...blob) => store.putBlob(...blob), blob: async () => undefined });
  const files: FileEdit[] = [];
  const uncovered = [...(mark.uncovered ?? [])];
  for (const { folder, path, before, after } of edits) {
    const [was, now] = [before, after].map((text) => (text === null ? null : Buffer.from(text)));
    const keep = async (content: Buffer | null | undefined) => (content ? kept.keep(content, 'file') : null);
    if ((was?.length ?? 0) > mostKeptBytes || (now?.length ?? 0) > mostKeptBytes) uncovered.push({ path, reason: 'too_large' });
    const lines = countLines(was ?? null, now ?? null);
    files.push({ folder, path, before: await keep(was), after: await keep(now), ...(lines ? { lines } : {}) });
  }
  return { ...mark, files, ...(uncovered.length > 0 ? { uncovered } : {}) };
}
