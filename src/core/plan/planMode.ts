import { t } from '../l10n';
import type { ContentOf, StoredEntry } from '../session/entry';
import { verbatimEntries } from '../session/liveCompaction';
import type { Tool } from '../tools/tool';

/** Key among the metadata of a session; absent: Chat. A session keeps its mode through reloads and in every window. */
export const modeKey = 'mode';
export const planMode = 'plan';

export function isPlanning(metadata: Readonly<Record<string, unknown>>): boolean {
  return metadata[modeKey] === planMode;
}

/** What is written to the metadata to switch. */
export function modeChange(planning: boolean): Readonly<Record<string, unknown>> {
  return { [modeKey]: planning ? planMode : null };
}

/** In Plan mode nothing of the user's is changed; the model's own notes and list are. */
export function runsInPlanMode({ access }: Pick<Tool, 'access'>): boolean {
  return access !== 'write';
}

const on = 'Plan mode is on.';
const off = 'Plan mode is off.';

/**
 * Tells the model of the mode, when what it sees does not say so already. It is appended, and the tools stay in the prompt: without
 * those that write, all of the cached prompt would have to be written again at every switch. What must not run is refused when it
 * is called (`planRefusal`).
 */
export function modeNote(
  entries: readonly StoredEntry[],
  planning: boolean,
  tools: readonly Pick<Tool, 'name' | 'access'>[],
): ContentOf<'usage_note'> | null {
  const told = verbatimEntries(entries).findLast(({ content }) => content.type === 'usage_note' && isModeText(content.text))?.content;
  const isTold = told?.type === 'usage_note' && told.text.startsWith(on);
  if (planning === isTold) return null;
  return {
    type: 'usage_note',
    text: planning ? planningText(tools.filter(runsInPlanMode).map(({ name }) => name)) : `${off} All tools can be used.`,
  };
}

/** Whether the user has switched since the model was told last: it is told again after a compaction, which is no news for the user. */
export function isModeSwitch(entries: readonly StoredEntry[], planning: boolean): boolean {
  const told = entries.findLast(({ content }) => content.type === 'usage_note' && isModeText(content.text))?.content;
  return planning !== (told?.type === 'usage_note' && told.text.startsWith(on));
}

/** The mode that a note tells the model of; null for a note about something else. */
export function modeTold(text: string): 'plan' | 'chat' | null {
  return text.startsWith(on) ? 'plan' : text.startsWith(off) ? 'chat' : null;
}

/** The same for the user, in words. */
export function modeText(mode: 'plan' | 'chat'): string {
  return mode === 'plan' ? t('Plan mode on: the model changes nothing') : t('Plan mode off: the model can change files again');
}

function isModeText(text: string): boolean {
  return modeTold(text) !== null;
}

function planningText(names: readonly string[]): string {
  const tools = names.length === 0 ? 'No tool can be used' : `These tools can be used: ${names.join(', ')}. Every other one is refused`;
  return (
    `${on} Change nothing yet. Look at what the request needs, and ask the user what you have to know. ${tools}. ` +
    'When you know enough, end your answer with the plan, below a heading that is exactly "## Plan", in whatever language you write: numbered steps, the files that change and how, and how the result is checked. ' +
    'The user edits the plan and starts it, which ends Plan mode.'
  );
}

export function planRefusal(name: string): string {
  return `Plan mode is on: "${name}" can change something and did not run. Finish the plan; the user starts it. Do not try another way.`;
}
