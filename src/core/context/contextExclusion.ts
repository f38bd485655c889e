import { isCommandRun } from '../session/commandRun';
import { kindOf, type ContentOf, type StoredEntry } from '../session/entry';

/** `custom` entry by which the user takes entries out of the context, or puts them back; the newest one that names an entry holds. */
export const contextExclusion = 'context_exclusion';

export interface ContextExclusion {
  /** A call and its result together. */
  readonly entries: readonly string[];
  /** False: they are sent again. */
  readonly excluded: boolean;
  /** Size of the context with it. */
  readonly tokensAfter: number;
}

/** Null for every other entry. */
export function contextExclusionOf({ content }: Pick<StoredEntry, 'content'>): ContextExclusion | null {
  if (content.type !== 'custom' || content.customType !== contextExclusion) return null;
  const { entries, excluded, tokensAfter } = content.data as { entries?: unknown; excluded?: unknown; tokensAfter?: unknown };
  if (!Array.isArray(entries) || typeof excluded !== 'boolean') return null;
  return {
    entries: entries.filter((one) => typeof one === 'string'),
    excluded,
    tokensAfter: typeof tokensAfter === 'number' ? tokensAfter : 0,
  };
}

export function exclusionContent(exclusion: ContextExclusion): ContentOf<'custom'> {
  return { type: 'custom', customType: contextExclusion, data: exclusion };
}

/** Entries that the user has taken out and not put back. */
export function excludedEntries(entries: readonly StoredEntry[]): ReadonlySet<string> {
  const excluded = new Set<string>();
  for (const entry of entries) {
    const exclusion = contextExclusionOf(entry);
    if (!exclusion) continue;
    for (const uuid of exclusion.entries) {
      if (exclusion.excluded) excluded.add(uuid);
      else excluded.delete(uuid);
    }
  }
  return excluded;
}

export function isExcludable({ modelFacing, content }: Pick<StoredEntry, 'modelFacing' | 'content'>): boolean {
  return modelFacing && (kindOf(content).isExcludable || isCommandRun(content));
}

/** What leaves the context with an entry: no provider takes a call without its result, nor a result without its call. */
export function leavingTogether(entry: StoredEntry, entries: readonly StoredEntry[]): readonly string[] {
  const callId = callOf(entry);
  return callId === null ? [entry.uuid] : entries.filter((one) => callOf(one) === callId).map(({ uuid }) => uuid);
}

function callOf({ content }: StoredEntry): string | null {
  return content.type === 'tool_call' || content.type === 'tool_result' ? content.callId : null;
}
