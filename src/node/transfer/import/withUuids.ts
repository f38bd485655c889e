import type { EntryContent } from '../../../core/session/entry';

/**
 * The content with the names of the source's records replaced by the UUIDs of the entries that they became. `uuidOf` gives the first or
 * the last of a record's entries, or null; what names nothing stays as it is.
 */
export function withUuids(
  content: EntryContent,
  format: string,
  uuidOf: (record: string, end: 'first' | 'last') => string | null,
): EntryContent {
  switch (content.type) {
    case 'compaction':
      return {
        ...content,
        operationId: `${format}:${content.operationId}`,
        firstKeptEntry: content.firstKeptEntry === null ? null : uuidOf(content.firstKeptEntry, 'first'),
      };
    case 'checkpoint':
      return { ...content, coversThrough: uuidOf(content.coversThrough, 'last') ?? content.coversThrough };
    case 'label':
      return { ...content, target: uuidOf(content.target, 'last') ?? content.target };
    case 'branch_summary':
      return { ...content, branchLeaf: uuidOf(content.branchLeaf, 'last') ?? content.branchLeaf };
    default:
      return content;
  }
}
