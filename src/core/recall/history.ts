import { CancelledError } from '../errors';
import type { SessionStore } from '../ports';
import { entryText, type EntryContent, type StoredEntry } from '../session/entry';
import type { Rankable } from './rankPassages';
import { splitPassages } from './splitPassages';

/** The most one search reads, newest first. Together with pages it bounds work and memory on a history of any size. */
export interface SearchBounds {
  readonly page: number;
  readonly entries: number;
  readonly characters: number;
}

/** Measured on source code: 60 million characters in 0.4 s (rare words) to 2.2 s (frequent ones), at most 46 ms per page. */
export const defaultBounds: SearchBounds = { page: 100, entries: 20_000, characters: 60_000_000 };

export interface HistoryPassage extends Rankable {
  readonly entry: StoredEntry;
  /** Where `text` lies in the entry's text, and how long that is. */
  readonly start: number;
  readonly length: number;
}

export interface HistoryPage {
  readonly passages: readonly HistoryPassage[];
  /** Entries read so far, this page included. */
  readonly searched: number;
  /** False on the last page when the bounds ended the search before the beginning of the history. */
  readonly complete: boolean;
}

export const recallToolName = 'recall';
export const offlineProvider = 'offline';

/** Whether recall answers with it: what was said, called and returned. Summaries, nudges and marks are made from that. */
export function isRecallable(content: EntryContent): boolean {
  switch (content.type) {
    // An answer of offline mode quotes what is searched here.
    case 'message':
      return content.provider !== offlineProvider;
    case 'memory_note':
    case 'branch_summary':
    case 'custom_message':
      return true;
    case 'tool_call':
    case 'tool_result':
      return content.name !== recallToolName;
    default:
      return false;
  }
}

export function speaker(content: EntryContent): string {
  switch (content.type) {
    case 'message':
      return content.role;
    case 'tool_call':
      return `call of ${content.name}`;
    case 'tool_result':
      return content.status === 'ok' ? `result of ${content.name}` : `result of ${content.name} (${content.status})`;
    default:
      return content.type.replace('_', ' ');
  }
}

export interface HistoryScope {
  /** With the part of its ancestors that a fork shares; omitted: every session of the store. */
  readonly session?: string;
  readonly bounds?: SearchBounds;
}

/**
 * Pages of passages, newest first. Rejects with `StoreError` as the store does, and with `CancelledError` between pages when
 * the signal is aborted.
 */
export async function* historyPassages(
  store: Pick<SessionStore, 'scan' | 'session' | 'entries'>,
  { session, bounds = defaultBounds }: HistoryScope,
  signal: AbortSignal,
): AsyncGenerator<HistoryPage> {
  let searched = 0;
  let characters = 0;
  for await (const part of session === undefined ? wholeStore() : lineage(store, session)) {
    let beforeSeq = part.beforeSeq;
    for (;;) {
      if (signal.aborted) throw new CancelledError();
      const limit = Math.min(bounds.page, bounds.entries - searched);
      if (limit <= 0 || characters >= bounds.characters) return yield { passages: [], searched, complete: false };
      const entries = await store.scan({ ...part, ...(beforeSeq === undefined ? {} : { beforeSeq }), limit });
      searched += entries.length;
      for (const entry of entries) characters += entryText(entry.content).length;
      yield { passages: entries.flatMap(passagesOf), searched, complete: true };
      const oldest = entries.at(-1);
      if (!oldest || entries.length < limit) break;
      beforeSeq = oldest.seq;
    }
  }
}

interface ScanPart {
  readonly session?: string;
  readonly beforeSeq?: number;
}

async function* wholeStore(): AsyncGenerator<ScanPart> {
  yield {};
}

/** A fork of a fork of … : deeper lineages do not occur in practice, and a broken row must not loop. */
const maxAncestors = 32;

/** The session and, up to where each was forked, those it comes from. */
async function* lineage(store: Pick<SessionStore, 'session' | 'entries'>, uuid: string): AsyncGenerator<ScanPart> {
  yield { session: uuid };
  let current = await store.session(uuid);
  for (let i = 0; i < maxAncestors && current?.parentSession && current.forkEntry; i++) {
    const [fork] = await store.entries([current.forkEntry]);
    if (!fork) return;
    yield { session: current.parentSession, beforeSeq: fork.seq + 1 };
    current = await store.session(current.parentSession);
  }
}

/** Newest first, like the pages, so that neighbours stay neighbours. */
export function passagesOf(entry: StoredEntry): HistoryPassage[] {
  if (!isRecallable(entry.content)) return [];
  const text = entryText(entry.content);
  return splitPassages(text)
    .map(({ start, end }) => ({
      entry,
      text: text.slice(start, end),
      start,
      length: text.length,
      group: entry.session,
      at: entry.createdAt,
    }))
    .reverse();
}
