import type { ConversationEvent } from '../../../src/core/chat/events';
import type { ContextSnapshot } from '../../../src/core/context/measure/snapshot';
import type { TranscriptPage } from '../../../src/core/branches/branch';
import type { EntryContent, StoredEntry } from '../../../src/core/session/entry';
import type { Session } from '../../../src/core/session/session';
import type { Delta, TranscriptRow } from '../../../src/protocol/messages';
import { ChatPresenter } from '../../../src/vscode/chat/chatPresenter';

/** A conversation as the presenter sees it, without anything behind it. */
export class PresenterRig {
  entries: StoredEntry[] = [];
  excerpted = new Set<string>();
  queued = [];
  readonly session = { uuid: 'u', id: '20261122_001', title: 'Title', metadata: {} } as unknown as Session;
  readonly snapshot = { sessionId: 'u' } as ContextSnapshot;
  readonly deltas: Delta[] = [];
  resyncs = 0;
  /** Entries that are to be read for `anew`. */
  readonly reread: string[] = [];
  readonly presenter: ChatPresenter;

  constructor() {
    this.presenter = new ChatPresenter(this, {
      send: (delta) => this.deltas.push(delta),
      resync: () => this.resyncs++,
      reread: (uuids) => this.reread.push(...uuids),
      modelName: (id) => id.toUpperCase(),
      now: () => 1_000,
    });
  }

  make(content: EntryContent, over: Partial<StoredEntry> = {}): StoredEntry {
    const seq = over.seq ?? this.entries.length + 1;
    const entry = {
      uuid: `e${seq}`,
      session: 'u',
      parent: null,
      createdAt: seq * 10,
      modelFacing: true,
      display: true,
      tokenEstimate: 1,
      seq,
      content,
      ...over,
    };
    this.entries = [...this.entries, entry];
    return entry;
  }

  emit(event: ConversationEvent): void {
    this.presenter.handle(event);
  }

  append(content: EntryContent, over: Partial<StoredEntry> = {}): StoredEntry {
    const entry = this.make(content, over);
    this.emit({ type: 'entry_appended', entry });
    return entry;
  }

  /** What has been sent since the last call. */
  take(): Delta[] {
    return this.deltas.splice(0);
  }

  start(): void {
    this.emit({ type: 'turn_started', id: 't' });
  }

  end(error: Extract<ConversationEvent, { type: 'turn_ended' }>['error'] = null): void {
    this.emit({ type: 'turn_ended', id: 't', ok: error === null, text: '', error });
  }
}

export const user = (text: string): EntryContent => ({ type: 'message', role: 'user', text });
export const answer = (text: string): EntryContent => ({ type: 'message', role: 'assistant', text, model: 'm' });
export const call = (callId: string, name = 'recall', input: unknown = { query: 'x' }): EntryContent => ({
  type: 'tool_call',
  callId,
  name,
  input,
});
export const result = (callId: string, text = 'found'): EntryContent => ({
  type: 'tool_result',
  callId,
  name: 'recall',
  text,
  status: 'ok',
});
export const nudge = (percent: number): EntryContent => ({
  type: 'nudge',
  percent,
  text: 'Write notes.',
  injectAs: 'system',
  usedTokens: 500,
});
export const compaction = (
  firstKeptEntry: string | null,
  over: Partial<Extract<EntryContent, { type: 'compaction' }>> = {},
): EntryContent => ({
  type: 'compaction',
  operationId: 'o',
  summaryText: 'State.',
  firstKeptEntry,
  coversFrom: 'e1',
  tokensBefore: 9_000,
  tokensAfter: 1_000,
  messagesBefore: 10,
  messagesAfter: 2,
  trigger: 'manual',
  rung: 'extractive',
  model: null,
  durationMs: 5,
  heldMs: 0,
  needsSummaryRetry: true,
  ...over,
});
export const aPage = (entries: readonly StoredEntry[], hasMore = false): TranscriptPage => ({
  entries,
  hasMore,
  forks: [],
  beyondLeaf: [],
});
export const rows = (rig: PresenterRig): TranscriptRow[] => rig.presenter.parts().rows;
export const folded = (rig: PresenterRig): [string, boolean][] =>
  rows(rig).flatMap((row) => ('folded' in row ? [[row.id, row.folded] as [string, boolean]] : []));
