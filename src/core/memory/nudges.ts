import type { Budget, NudgePoint } from '../context/measure/budget';
import { isUserMessage, type ContentOf, type StoredEntry } from '../session/entry';
import { cycleEntries } from '../session/liveCompaction';

/*
 * Per threshold and cycle (the span between two compactions), derived from the branch and never stored:
 *
 *   ahead ──size reaches it──▶ due ──appended to a turn──▶ delivered ──memory write──▶ acted
 *     │                                                        └──compaction──▶ expired (a new cycle begins)
 *     └── a higher threshold was delivered first ──▶ passed
 *
 * A threshold that is not `oncePerCycle` is due again with every further user message.
 */
export type NudgeState = 'ahead' | 'due' | 'delivered' | 'acted' | 'passed';

export interface NudgeStatus {
  readonly point: NudgePoint;
  readonly state: NudgeState;
}

export const memoryToolName = 'memory';

/** Commands of the memory tool that write. */
const writes = new Set(['create', 'str_replace', 'insert', 'delete', 'rename']);

export function isMemoryWrite(entry: StoredEntry): boolean {
  const { content } = entry;
  if (content.type !== 'tool_call' || content.name !== memoryToolName) return false;
  const command = (content.input as { command?: unknown } | null)?.command;
  return typeof command === 'string' && writes.has(command);
}

export function nudgeStates(entries: readonly StoredEntry[], budget: Pick<Budget, 'nudges'>, used: number): NudgeStatus[] {
  const cycle = cycleEntries(entries);
  const deliveredAt = new Map<number, number>();
  let lastWrite = -1;
  let lastMessage = -1;
  for (const [index, entry] of cycle.entries()) {
    if (entry.content.type === 'nudge') deliveredAt.set(entry.content.percent, index);
    if (isUserMessage(entry)) lastMessage = index;
    if (isMemoryWrite(entry)) lastWrite = index;
  }
  const highest = Math.max(-1, ...deliveredAt.keys());
  return budget.nudges.map((point) => {
    const at = deliveredAt.get(point.percent);
    const again = !point.oncePerCycle && lastMessage > (at ?? 0) && used >= point.tokens;
    if (at !== undefined && !again) return { point, state: lastWrite > at ? 'acted' : 'delivered' };
    if (highest > point.percent) return { point, state: 'passed' };
    return { point, state: used >= point.tokens ? 'due' : 'ahead' };
  });
}

/** The nudge to append to this turn: the highest that is due, so that a jump over several asks once. */
export function dueNudge(states: readonly NudgeStatus[], used: number, effective: number): ContentOf<'nudge'> | null {
  const due = states.filter((status) => status.state === 'due').at(-1);
  if (!due) return null;
  const { point } = due;
  const last = states.at(-1)?.point === point && states.length > 1;
  return {
    type: 'nudge',
    percent: point.percent,
    injectAs: point.injectAs,
    ...(point.injectAs === 'system' ? { asMessage: true as const } : {}),
    usedTokens: Math.round(used),
    text: point.prompt ?? nudgeText(point.percent, Math.round((used / effective) * 100), last),
  };
}

function nudgeText(percent: number, now: number, last: boolean): string {
  const state = `The context window is ${now} % full (the ${percent} % mark has been passed).`;
  const what =
    'Write down with the memory tool what must outlive a compaction of this conversation: decisions and their reasons, exact names, paths and values, what is still open.';
  return last
    ? `${state} Older messages will soon be folded into a summary. ${what} Do it in this turn, then answer the user as usual and do not mention this notice.`
    : `${state} ${what} Do it when it fits, then answer the user as usual and do not mention this notice.`;
}
