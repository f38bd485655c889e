import { t } from '../../src/protocol/l10n';
import type { Item } from '../chat/state';

/** For each row of a range the name to show above it: where the model begins to speak after the user. */
export function speakers(items: readonly Item[], start: number, end: number, inUse: string): (string | null)[] {
  const names: (string | null)[] = [];
  let speaking = isAnswer(items[start - 1]);
  for (const [offset, item] of items.slice(start, end).entries()) {
    const answer = isAnswer(item);
    names.push(answer && !speaking ? nameOf(items, start + offset, inUse) : null);
    // Quiet rows between two blocks do not end the answer.
    speaking = answer || (speaking && !endsAnswer(item));
  }
  return names;
}

/** For each row of a range: whether its turn ends with it, and the message that is answered. The last turn has no end while it runs. */
export function turnsOf(
  items: readonly Item[],
  start: number,
  end: number,
  idle: boolean,
): { readonly ends: boolean; readonly question: string | null }[] {
  let question = items.slice(0, start).findLast(({ kind }) => kind === 'user')?.id ?? null;
  const turns: { ends: boolean; question: string | null }[] = [];
  for (let at = start; at < end; at++) {
    const item = items[at]!;
    if (item.kind === 'user') question = item.id;
    let next = at + 1;
    while (next < items.length && !isAnswer(items[next]) && !endsAnswer(items[next]!)) next++;
    turns.push({ ends: isAnswer(item) && (next < items.length ? !isAnswer(items[next]) : idle), question });
  }
  return turns;
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

/** Index of the last row that says something: the quiet ones behind it leave open what there is to try again. -1 where there is none. */
export function lastSaid(items: readonly Item[]): number {
  return items.findLastIndex(({ kind }) => !quiet.has(kind));
}

const quiet: ReadonlySet<Item['kind']> = new Set(['nudge', 'checkpoint', 'compaction', 'undo', 'info']);

function isAnswer(item: Item | undefined): boolean {
  return item?.kind === 'assistant' || item?.kind === 'thinking' || item?.kind === 'tool' || item?.kind === 'live';
}

function endsAnswer({ kind }: Item): boolean {
  return kind === 'user' || kind === 'compaction';
}

/**
 * Tells who wrote the answer that begins at `from`. What was brought in without a model is nobody's in particular. An answer that has said
 * nothing
 * yet, at the end, is being made by the model in use.
 */
function nameOf(items: readonly Item[], from: number, inUse: string): string {
  for (let at = from; at < items.length; at++) {
    const item = items[at]!;
    if (item.kind === 'assistant' || item.kind === 'live') return item.model || t('Assistant');
    if (endsAnswer(item)) return t('Assistant');
  }
  return inUse;
}
