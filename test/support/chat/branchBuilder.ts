import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { attachmentTokens, type Attachment } from '../../../src/core/session/userMessage';
import { entryText, type ContentOf, type EntryContent, type StoredEntry } from '../../../src/core/session/entry';

/** Builds a branch of stored entries without a store: uuids are `e1`, `e2` …, each the child of the one before. */
export class BranchBuilder {
  readonly entries: StoredEntry[] = [];

  add(content: EntryContent, flags: { modelFacing?: boolean; display?: boolean } = {}): StoredEntry {
    const seq = this.entries.length + 1;
    const entry: StoredEntry = {
      uuid: `e${seq}`,
      session: 's',
      parent: this.entries.at(-1)?.uuid ?? null,
      createdAt: seq * 1_000,
      modelFacing: flags.modelFacing ?? !notModelFacing.has(content.type),
      display: flags.display ?? true,
      tokenEstimate:
        estimateTokens(entryText(content)) +
        (content.type === 'message' ? (content.attachments ?? []).reduce((sum, one) => sum + attachmentTokens(one), 0) : 0),
      content,
      seq,
    };
    this.entries.push(entry);
    return entry;
  }

  user(text: string, attachments: Attachment[] = []): StoredEntry {
    return this.add({ type: 'message', role: 'user', text, ...(attachments.length > 0 ? { attachments } : {}) });
  }

  assistant(text: string): StoredEntry {
    return this.add({ type: 'message', role: 'assistant', text, provider: 'anthropic', model: 'm' });
  }

  call(callId: string, name = 'recall', input: unknown = {}): StoredEntry {
    return this.add({ type: 'tool_call', callId, name, input });
  }

  result(callId: string, text = 'found', name = 'recall'): StoredEntry {
    return this.add({ type: 'tool_result', callId, name, text, status: 'ok' });
  }

  nudge(percent: number): StoredEntry {
    return this.add({ type: 'nudge', percent, text: `nudge ${percent}`, injectAs: 'user', usedTokens: 1 });
  }

  compaction(firstKept: StoredEntry | null, over: Partial<ContentOf<'compaction'>> = {}): StoredEntry {
    return this.add({
      type: 'compaction',
      operationId: `op${this.entries.length}`,
      summaryText: 'SUMMARY',
      firstKeptEntry: firstKept?.uuid ?? null,
      coversFrom: this.entries[0]?.uuid ?? null,
      tokensBefore: 100,
      tokensAfter: 10,
      messagesBefore: 4,
      messagesAfter: 2,
      trigger: 'manual',
      rung: 'model',
      model: 'm',
      durationMs: 1,
      heldMs: 0,
      needsSummaryRetry: false,
      ...over,
    });
  }

  undo(target: StoredEntry): StoredEntry {
    return this.add({ type: 'compaction_undone', target: target.uuid, tokensRestored: 100 });
  }
}

const notModelFacing = new Set<EntryContent['type']>([
  'compaction',
  'compaction_undone',
  'checkpoint',
  'label',
  'session_info',
  'custom',
  'model_change',
]);
