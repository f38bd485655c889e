import type { Item } from '../state';

/** For each row of a range the name to show above it: where the model begins to speak after the user. */
export function speakers(items: readonly Item[], start: number, end: number, model: { readonly id: string; readonly name: string }): (string | null)[] {
  const names: (string | null)[] = [];
  let speaking = isAnswer(items[start - 1]);
  for (const item of items.slice(start, end)) {
    const answer = isAnswer(item);
    names.push(answer && !speaking ? nameOf(item, model) : null);
    // Quiet rows between two blocks do not end the answer.
    speaking = answer || (speaking && item.kind !== 'user' && item.kind !== 'compaction');
  }
  return names;
}

/** Index of the last row that the model sees through the summary only, when verbatim rows follow it; -1 otherwise. */
export function foldBoundary(items: readonly Item[]): number {
  const last = items.findLastIndex((item) => 'folded' in item && item.folded);
  return last === items.length - 1 ? -1 : last;
}

/** Undo works backwards: only the newest compaction that still stands can be undone. */
export function newestLiveCompaction(items: readonly Item[]): string | null {
  return items.findLast((item) => item.kind === 'compaction' && item.state === 'live')?.id ?? null;
}

function isAnswer(item: Item | undefined): boolean {
  return item?.kind === 'assistant' || item?.kind === 'thinking' || item?.kind === 'tool' || item?.kind === 'live';
}

/** Only the model in use is known by its name; an answer of another one shows its id. */
function nameOf(item: Item, { id, name }: { readonly id: string; readonly name: string }): string {
  const model = item.kind === 'assistant' || item.kind === 'live' ? item.model : '';
  return model === '' || model === id ? name : model;
}
