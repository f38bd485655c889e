import { continueText, type Projection } from '../../context/projection/projection';
import type { BoundInUse, Budget } from '../../context/measure/budget';
import { beginningOfFile, stepBounds } from '../../context/projection/excerpt';
import type { ModelInfo } from '../../models/modelInfo';
import type { ContentOf, StoredEntry } from '../../session/entry';
import { cycleEntries, policyChange, type PolicyChangeData, recordedBound, verbatimEntries } from '../../session/liveCompaction';

/** `customType` of the message that asks the model to go on with an answer of its own. */
export const continueType = 'continue';

/**
 * A prompt has to end with something of the user's side. What asks the model to go on, and the results that calls never got because the
 * program ended while they ran, are entries: what only this prompt had would part it from the next one, and an answer to such a result
 * would stand in front of it there.
 */
export function closingEntries({ pieces }: Projection): (ContentOf<'custom_message'> | ContentOf<'tool_result'>)[] {
  const last = pieces.findLast(({ entryId }) => entryId !== null);
  if (last?.role === 'assistant' && last.block.type !== 'tool_use')
    return [{ type: 'custom_message', customType: continueType, text: continueText }];
  const behind = pieces.slice(pieces.findLastIndex(({ role }) => role === 'assistant') + 1);
  if (!behind.every(({ block }) => 'callId' in block)) return [];
  return behind.flatMap(({ entryId, block }) =>
    entryId === null && block.type === 'tool_result' ? [interruptedResult(pieces, block.callId, block.text)] : [],
  );
}

function interruptedResult(pieces: Projection['pieces'], callId: string, text: string): ContentOf<'tool_result'> {
  const call = pieces.find(({ block }) => block.type === 'tool_use' && block.callId === callId)?.block;
  return { type: 'tool_result', callId, name: call?.type === 'tool_use' ? call.name : '', text, status: 'interrupted' };
}

/** No longer than the bound, in tokens: a message of the program's is sent whole. */
export function fittingMessage(text: string, estimate: (text: string) => number, bound: number): string {
  const tokens = estimate(text);
  return tokens <= bound ? text : beginningOfFile(text, Math.floor((text.length * bound) / tokens));
}

/** How full the window is, in words for the model: appended, so that the cached prompt holds. */
export function usageNote(used: number, { effective }: Pick<Budget, 'effective'>): ContentOf<'usage_note'> {
  const tokens = (value: number) => value.toLocaleString('en');
  return {
    type: 'usage_note',
    text: `Context in use: ${tokens(Math.round(used))} of ${tokens(effective)} tokens (${Math.round((used / effective) * 100)} %).`,
  };
}

/**
 * The standing instructions as of now, when the branch does not say so already: once in every cycle that has any, and whenever they
 * have changed. Null when there is nothing to record.
 */
export function instructionsChange(entries: readonly StoredEntry[], instructions: string): ContentOf<'instructions_change'> | null {
  const text = instructions.trim();
  const known = cycleEntries(entries).findLast(({ content }) => content.type === 'instructions_change')?.content;
  if (known?.type === 'instructions_change' ? known.text === text : text === '') return null;
  return { type: 'instructions_change', text };
}

/**
 * The tools of this turn, when they are not those that the branch was told of last, in this cycle: `usual` unless it says otherwise.
 * Null when there is nothing to record.
 */
export function toolsChange(
  entries: readonly StoredEntry[],
  enabled: readonly string[],
  usual: readonly string[],
): ContentOf<'tools_change'> | null {
  const known = cycleEntries(entries).findLast(({ content }) => content.type === 'tools_change')?.content;
  const before = known?.type === 'tools_change' ? known.enabled : usual;
  return before.join() === enabled.join() ? null : { type: 'tools_change', enabled: [...enabled] };
}

/** Below this share of the bound an entry needs no record: only a bound that much smaller would cut it. */
const recordedFrom = 1 / 8;

/**
 * The bound by which entries are sent whole or as head and tail, when the branch does not say so already: a policy or a model that is
 * changed later may move it, and then an entry that was sent stands otherwise in the next prompt. A break only when one does. Null
 * when there is nothing to record.
 */
export function policyChangeNote(
  entries: readonly StoredEntry[],
  { oversized, policyOversized }: BoundInUse,
  tokensOf: (entry: StoredEntry) => number,
): (ContentOf<'custom'> & { readonly data: PolicyChangeData }) | null {
  const known = recordedBound(entries);
  const before = known?.oversized ?? null;
  const isOutdated = known !== null && !known.shared && stepBounds(verbatimEntries(entries), tokensOf, oversized).size > 0;
  if (before === oversized && !isOutdated) return null;
  const large = verbatimEntries(entries).filter(
    ({ modelFacing, content }) => modelFacing && (content.type === 'message' || content.type === 'tool_result'),
  );
  if (
    before === null &&
    !large.some((entry) => tokensOf(entry) > oversized * recordedFrom) &&
    stepBounds(verbatimEntries(entries), tokensOf, oversized).size === 0
  )
    return null;
  // Whatever stands in front of an answer, or of the newest message, was in a prompt.
  const newest = entries.findLastIndex(
    ({ content }) => content.type === 'tool_call' || content.type === 'thinking' || content.type === 'message',
  );
  const sent = new Set(entries.slice(0, newest));
  const least = before === null ? oversized : Math.min(before, oversized);
  const shared = stepBounds(verbatimEntries(entries), tokensOf, least);
  const data: PolicyChangeData = {
    oversized,
    shared: true,
    ...(oversized < policyOversized ? { insteadOf: policyOversized } : {}),
    isBreak: large.some((entry) => sent.has(entry) && (tokensOf(entry) > least || shared.has(entry.uuid))),
  };
  return { type: 'custom', customType: policyChange, data };
}

/** Null when the model that answered last, if any has, is the one that answers next. */
export function modelChange(
  entries: readonly StoredEntry[],
  { provider, id }: Pick<ModelInfo, 'provider' | 'id'>,
): ContentOf<'model_change'> | null {
  const last = entries.findLast(
    ({ content }) => content.type === 'model_change' || (content.type === 'message' && content.role === 'assistant'),
  )?.content;
  const before = last?.type === 'model_change' || last?.type === 'message' ? last : null;
  return !before?.model || (before.model === id && before.provider === provider) ? null : { type: 'model_change', provider, model: id };
}
