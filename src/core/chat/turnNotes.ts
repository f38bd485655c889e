import { continueText, type Projection } from '../context/projection';
import type { Budget } from '../context/budget';
import type { ModelInfo } from '../ports';
import type { ContentOf, StoredEntry } from '../session/entry';
import { cycleEntries } from '../session/liveCompaction';

/** `customType` of the message that asks the model to go on with an answer of its own. */
export const continueType = 'continue';

/**
 * A prompt has to end with something of the user's side. What asks the model to go on is an entry: text that only this prompt had
 * would part it from the next one.
 */
export function continueNote({ pieces }: Projection): ContentOf<'custom_message'> | null {
  const last = pieces.findLast(({ entryId }) => entryId !== null);
  return last?.role === 'assistant' && last.block.type !== 'tool_use' ? { type: 'custom_message', customType: continueType, text: continueText } : null;
}

/** How full the window is, in words for the model: appended, so that the cached prompt holds. */
export function usageNote(used: number, { effective }: Pick<Budget, 'effective'>): ContentOf<'usage_note'> {
  const tokens = (value: number) => value.toLocaleString('en');
  return { type: 'usage_note', text: `Context in use: ${tokens(Math.round(used))} of ${tokens(effective)} tokens (${Math.round((used / effective) * 100)} %).` };
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

/** Null when the model that answered last, if any has, is the one that answers next. */
export function modelChange(entries: readonly StoredEntry[], { provider, id }: Pick<ModelInfo, 'provider' | 'id'>): ContentOf<'model_change'> | null {
  const last = entries.findLast(({ content }) => content.type === 'model_change' || (content.type === 'message' && content.role === 'assistant'))?.content;
  const before = last?.type === 'model_change' || last?.type === 'message' ? last : null;
  return !before?.model || (before.model === id && before.provider === provider) ? null : { type: 'model_change', provider, model: id };
}
