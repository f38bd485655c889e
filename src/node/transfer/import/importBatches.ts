import type { EntryContent } from '../../../core/session/entry';
import { contentSize } from '../../../core/transfer/contentSize';

const mostEntries = 200;
/** Characters; a message to another window may have 64 MB, and a character takes up to six bytes there. */
const mostCharacters = 4 * 1024 * 1024;

/** Cuts entries into what is stored at once. A summary begins a batch of its own: what it cites has its number by then. */
export async function* batches<T extends { readonly content: EntryContent }>(entries: AsyncIterable<T>): AsyncGenerator<T[], void, void> {
  let batch: T[] = [];
  let characters = 0;
  for await (const entry of entries) {
    const size = contentSize(entry.content);
    const cites = entry.content.type === 'compaction' || entry.content.type === 'checkpoint';
    if (batch.length > 0 && (batch.length >= mostEntries || characters + size > mostCharacters || cites)) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(entry);
    characters += size;
  }
  if (batch.length > 0) yield batch;
}
