import * as z from 'zod/mini';
import { indented } from '../../frames/frames';

/** What a folded range leaves behind, as a model writes it. Merged over time: every compaction starts from the state before. */
export const SessionState = z.object({
  /** Facts, decisions and their reasons, constraints, names, values: nothing of this kind may be lost. */
  logos: z.array(z.string()),
  /** Tone and its direction, preferences, running metaphors, implicit needs. */
  pathos: z.array(z.string()),
  /** Shared concepts and premises that need no explaining again. */
  abstract: z.array(z.string()),
  /** Two or three sentences: what happened and where it stands. */
  conversation_summary: z.string(),
});
export type SessionState = z.infer<typeof SessionState>;

const lenientList = z.pipe(
  z.union([z.array(z.unknown()), z.string(), z.null(), z.undefined()]),
  z.transform((value) => (Array.isArray(value) ? value : value ? [value] : []).map(toText).filter((line) => line !== '')),
);
const lenient = z.object({ logos: lenientList, pathos: lenientList, abstract: lenientList, conversation_summary: z.string() });

function toText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : JSON.stringify(value);
}

/**
 * Reads a state out of a model's answer: bare JSON, JSON in a fence, or JSON with words around it. Undefined when there is no
 * complete object; an unterminated one is never repaired, because half a state would silently drop facts.
 */
export function parseSessionState(answer: string): SessionState | undefined {
  const start = answer.indexOf('{');
  const end = answer.lastIndexOf('}');
  if (start === -1 || end <= start) return undefined;
  try {
    const parsed = lenient.safeParse(JSON.parse(answer.slice(start, end + 1)));
    return parsed.success && isMeaningful(parsed.data) ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function isMeaningful(state: SessionState): boolean {
  return state.conversation_summary.trim() !== '' || state.logos.length > 0;
}

export function renderSessionState(state: SessionState): string {
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`## ${title}`, ...lines.map((line) => `- ${indented(line)}`), ''];
  return [
    '## What happened and where it stands',
    indented(state.conversation_summary.trim()),
    '',
    ...list('Facts and decisions (logos)', state.logos),
    ...list('Tone and preferences (pathos)', state.pathos),
    ...list('Shared ground (abstract)', state.abstract),
  ]
    .join('\n')
    .trim();
}
