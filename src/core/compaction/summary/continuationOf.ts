import type { Continuation } from './continuation';
import { maskedEntries } from '../ladder/mask';
import type { ContextEngine } from '../../context/engine';
import type { Projection, PromptMessage } from '../../context/projection/projection';
import type { StoredEntry } from '../../session/entry';
import { entryText } from '../../session/entryKinds';
import type { BranchState } from '../../chat/branchState';

export interface ContinuationInput {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  /** What is to be summarised. */
  readonly range: readonly StoredEntry[];
  /** What a summariser would have to read otherwise: entries, and the state that they follow. */
  readonly transcript: readonly StoredEntry[];
  readonly previous: string | null;
  readonly now: number;
}

/** How long the provider keeps a prompt that nobody has asked for again, less what it takes to ask (Anthropic: 5 minutes). */
const cachedMs = 4.5 * 60_000;
/** Price of a cached token, in fresh ones (Anthropic). */
const cachedPrice = 0.1;
/** What the block that asks for the summary takes, and what naming one entry in it takes. */
const askingTokens = 600;
const namingTokens = 6;

/**
 * The conversation's prompt for a summary of a range of it. Null where the range does not stand in it word for word, and where
 * going on from it would cost more than a transcript: it has to be cached, and the transcript not much shorter.
 */
export async function continuationOf({
  branch,
  engine,
  range,
  transcript,
  previous,
  now,
}: ContinuationInput): Promise<Continuation | null> {
  const { lastUsage, entries, tokensOf } = branch;
  const { used, anchored } = engine.measure();
  if (!anchored || lastUsage?.kind !== 'turn' || now - lastUsage.at > cachedMs) return null;
  const projection = engine.projection();
  const masked = maskedEntries(entries);
  if (range.some(({ uuid }) => masked.has(uuid) || projection.excerpted.has(uuid))) return null;
  const byId = new Map(range.map((entry) => [entry.uuid, entry]));
  // A message with attachments has several pieces.
  const standing = [
    ...new Set(
      projection.pieces.flatMap(({ entryId, block }) => {
        const entry = entryId === null || block.type === 'thinking' ? undefined : byId.get(entryId);
        return entry && isSpoken(entry) ? [entry] : [];
      }),
    ),
  ];
  if (standing.length === 0 || standing.length < range.filter((entry) => isSpoken(entry) && entryText(entry.content).trim() !== '').length)
    return null;
  const asking = askingTokens + namingTokens * standing.length;
  const calibrated = used / Math.max(1, engine.rawRequestTokens());
  const plain = (transcript.reduce((sum, entry) => sum + tokensOf(entry), 0) + engine.estimate(previous ?? '')) * calibrated;
  // The newest answer is no plain part: it is written to the cache now instead of by the next turn, which costs one reading more.
  const uncached = lastUsage.input;
  if ((used - uncached) * cachedPrice + uncached + asking >= plain) return null;
  const { provider, id } = engine.binding.info;
  return {
    from: `${provider}/${id}`,
    request: await engine.request(messagesFor(projection, byId)),
    entries: standing,
    hasState: projection.pieces.some(
      ({ segment, entryId }) =>
        segment === 'summary' && entries.some(({ uuid, content }) => uuid === entryId && content.type === 'compaction'),
    ),
    tokens: used,
  };
}

function isSpoken({ content }: StoredEntry): boolean {
  return content.type === 'message' || content.type === 'tool_call' || content.type === 'tool_result';
}

/**
 * Without a closing frame, and without an answer in front of it that is not asked about: then these are the messages of the last
 * request, marks and all. An answer that is asked about is marked: it is written to the cache now (1.25 per token) and read by the
 * next turn (0.1), instead of being plain now (1) and written then (1.25).
 */
function messagesFor({ messages, pieces }: Projection, range: ReadonlyMap<string, StoredEntry>): readonly PromptMessage[] {
  const frame = messages.at(-1)?.blocks.length ?? 0;
  const answer = messages.at(-2);
  if (!answer || pieces.slice(-frame).some(({ entryId }) => entryId !== null)) return messages;
  const isCovered = pieces.slice(-frame - answer.blocks.length, -frame).some(({ entryId }) => entryId !== null && range.has(entryId));
  if (!isCovered) return messages.slice(0, -2);
  // Calls have to be answered, if only by a frame.
  return answer.blocks.some(({ type }) => type === 'tool_use')
    ? messages
    : [...messages.slice(0, -2), { ...answer, cacheBreakpoint: true }];
}
