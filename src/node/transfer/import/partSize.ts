import { contentSize } from '../../../core/session/entry';
import { kept, type RecordPart } from '../../../core/transfer/sourceRecord';
import { mostFrameBytes } from '../../store/sharing/peerFrames';

/** Characters that are stored at once; a message to another window may have 64 MB, and a character takes up to six bytes there. */
export const mostCharacters = 8 * 1024 * 1024;
/** A character takes at most so many in JSON: one that has to be escaped by its number. */
const bytesPerCharacter = 6;
/**
 * An entry as JSON, or a picture as base64, takes at most so many: with what goes along with it, a message to another window holds no more.
 */
export const mostBytes = mostFrameBytes - 4 * 1024 * 1024;

/**
 * The part, with its size in characters, without what is too large to be passed to any window. The rest of a session is not to fail for
 * it, this time and every other; and stored by the window that owns the store, the others could not read it.
 */
export function cutToFit(part: RecordPart): { readonly part: RecordPart; readonly size: number } {
  const size = sizeOf(part);
  // Below, nothing is written only to be measured.
  if (size * bytesPerCharacter <= mostBytes) return { part, size };
  const bytes = Buffer.byteLength(JSON.stringify(part.content));
  if (bytes > mostBytes) return withSize(kept({ type: 'custom', customType: 'too_large', data: { type: part.content.type, bytes } }));
  const pictures = part.pictures?.filter(({ data }) => data.length <= mostBytes);
  return pictures?.length === part.pictures?.length ? { part, size } : withSize({ ...part, pictures: pictures ?? [] });
}

/** What is stored at once, in its order: `mostEntries`, as far as they have `mostCharacters`; one at least. */
export function batchesOf<T extends { readonly size: number }>(ready: readonly T[], mostEntries: number): T[][] {
  const batches: T[][] = [];
  let characters = 0;
  for (const one of ready) {
    const batch = batches.at(-1);
    characters += one.size;
    if (batch && batch.length < mostEntries && characters <= mostCharacters) {
      batch.push(one);
    } else {
      batches.push([one]);
      characters = one.size;
    }
  }
  return batches;
}

function withSize(part: RecordPart): { readonly part: RecordPart; readonly size: number } {
  return { part, size: sizeOf(part) };
}

/** Adds up its JSON, about, its pictures and what it holds of files. */
function sizeOf({ content, pictures = [], edits = [] }: RecordPart): number {
  const held = edits.reduce((sum, { before, after }) => sum + (before?.length ?? 0) + (after?.length ?? 0), 0);
  return pictures.reduce((sum, { data }) => sum + data.length, contentSize(content) + held);
}
