import type { Conversation } from '../../core/chat/conversation';
import { sizedTypes, sizeTimeline, thinned } from '../../core/context/measure/sizeTimeline';
import { estimateTokens } from '../../core/context/measure/estimateTokens';
import type { SessionStore } from '../../core/ports';
import type { TokenUsage } from '../../core/models/modelEvent';
import { speaker } from '../../core/recall/history';
import type { BranchStep } from '../../core/branches/branch';
import { excludedEntries, isExcludable } from '../../core/context/contextExclusion';
import { compactionHistory, type PastCompaction } from '../../core/session/liveCompaction';
import { entryText, type EntryContent, type StoredEntry } from '../../core/session/entry';
import type { BreakdownState } from '../../protocol/panels';
import { summaryMethod } from '../../protocol/compactionTexts';
import { oneLine } from '../plainText';

/** The whole active branch, as far as its sizes go: it changes with every entry, and with nothing else. */
export interface BranchHistory {
  readonly steps: readonly BranchStep[];
  /** The entries of those steps that say a size themselves. */
  readonly sized: readonly StoredEntry[];
}

type Source = Pick<Conversation, 'session' | 'snapshot' | 'breakdown' | 'entries' | 'pins'>;

const listed = 20;
const textLength = 160;
/** More than the plot has pixels for is not sent. */
const mostPoints = 400;

export const noBreakdown: BreakdownState = {
  panel: 'breakdown',
  session: null,
  context: null,
  busy: false,
  readonly: false,
  largest: [],
  excluded: [],
  timeline: { points: [], marks: [] },
  compactions: [],
};

/** Rejects with `StoreError`. */
export async function readHistory(store: Pick<SessionStore, 'branchSteps' | 'entries'>, session: string): Promise<BranchHistory> {
  const steps = await store.branchSteps(session);
  const sized = await store.entries(steps.flatMap(({ entry, type }) => (sizedTypes.has(type) ? [entry] : [])));
  return { steps, sized };
}

/** What the branch is once the entry has been appended: a long one takes seconds to be read again (100,000 entries: 3.9 s). */
export function withEntry({ steps, sized }: BranchHistory, entry: StoredEntry): BranchHistory {
  const { uuid, createdAt: at, modelFacing, content } = entry;
  const step = {
    entry: uuid,
    type: content.type,
    at,
    modelFacing,
    tokens: entry.tokenEstimate ?? estimateTokens(entryText(content)),
    measured: null,
  };
  return { steps: [...steps, step], sized: sizedTypes.has(content.type) ? [...sized, entry] : sized };
}

/** What the provider has reported is of the request that led to the newest entry. */
export function withUsage({ steps, sized }: BranchHistory, { input, output, cacheRead, cacheWrite }: TokenUsage): BranchHistory {
  const newest = steps.findLastIndex(({ type }) => !sizedTypes.has(type));
  const measured = input + output + cacheRead + cacheWrite;
  return { steps: steps.map((step, index) => (index === newest ? { ...step, measured } : step)), sized };
}

/** Everything that the Breakdown panel shows. Rejects with `StoreError`. */
export async function breakdownState(
  conversation: Source,
  history: BranchHistory,
  flags: { readonly busy: boolean; readonly readonly: boolean },
): Promise<BreakdownState> {
  const { session, snapshot } = conversation;
  const { largest, scale } = conversation.breakdown(listed);
  const entries = new Map(conversation.entries.map((entry) => [entry.uuid, entry]));
  const pinned = new Set((await conversation.pins()).flatMap(({ kind, target }) => (kind === 'entry' ? [target] : [])));
  const excluded = excludedEntries(conversation.entries);
  const fixed = snapshot.segments.reduce((sum, { kind, tokens }) => sum + (kind === 'system' || kind === 'tools' ? tokens : 0), 0);
  const { points, marks } = sizeTimeline(history.steps, history.sized, { fixed, factor: scale });
  return {
    panel: 'breakdown',
    session: { uuid: session.uuid, id: session.id, title: session.title },
    context: snapshot,
    ...flags,
    largest: largest.flatMap(({ entry: id, segment, tokens }) => {
      const entry = entries.get(id);
      if (!entry) return [];
      return [
        { ...inBrief(entry), segment, tokens, pinned: pinned.has(id), canPin: isPinnable(entry.content), canExclude: isExcludable(entry) },
      ];
    }),
    // A call and its result are one line.
    excluded: conversation.entries.filter(({ uuid, content }) => excluded.has(uuid) && content.type !== 'tool_result').map(inBrief),
    timeline: { points: [...thinned(points, mostPoints)], marks: [...marks] },
    compactions: compactionHistory(history.sized).map(compactionRow),
  };
}

function compactionRow({ entry: { uuid, createdAt, content }, state }: PastCompaction): BreakdownState['compactions'][number] {
  const { trigger, tokensBefore, tokensAfter, messagesBefore, messagesAfter, durationMs, heldMs, continuity = null } = content;
  return {
    id: uuid,
    at: createdAt,
    trigger,
    method: summaryMethod(content),
    messages: messagesBefore - messagesAfter,
    tokensBefore,
    tokensAfter,
    durationMs,
    heldMs,
    continuity,
    state,
  };
}

function inBrief({ uuid, content, createdAt }: StoredEntry): BreakdownState['excluded'][number] {
  return { id: uuid, speaker: speakerOf(content), text: oneLine(entryText(content).slice(0, 4 * textLength), textLength), at: createdAt };
}

function speakerOf(content: EntryContent): string {
  return content.type === 'compaction' ? 'summary' : speaker(content);
}

function isPinnable(content: EntryContent): boolean {
  return content.type === 'message' || content.type === 'tool_result' || content.type === 'tool_call';
}
