import type { SessionState } from './sessionState';
import { parseSessionState } from './sessionState';
import { summarySystem } from './prompts';

/** What a model's answer amounts to. */
export interface ReadSummary {
  readonly state: SessionState | null;
  /** Kept as it is when it is no structured state. */
  readonly raw: string | null;
  /** What is wrong with it, in words for the model that is asked to repair it. */
  readonly flaws: readonly string[];
  /** Whether it may stand, flaws and all, when the repair does not get any better. */
  readonly usable: boolean;
}

/** How a summary is asked for and read. */
export interface SummaryFormat {
  readonly system: string;
  /** The last line of a request. */
  readonly closing: (maxTokens: number) => string;
  read(answer: string): ReadSummary;
}

/** Of a policy. Formats that are not written yet are written as the default. */
export function formatOf(_name: string): SummaryFormat {
  return sessionStateFormat;
}

const sections = ['logos', 'pathos', 'abstract', 'conversation_summary'];

export const sessionStateFormat: SummaryFormat = {
  system: summarySystem,
  closing: (maxTokens) => `Write the JSON object now. At most ${maxTokens} tokens.`,
  read(answer) {
    const state = parseSessionState(answer);
    if (state) {
      const missing = sections.filter((name) => !answer.includes(`"${name}"`));
      return { state, raw: null, flaws: missing.length === 0 ? [] : [`These sections are missing: ${missing.join(', ')}.`], usable: missing.length < 2 && answer.includes('"logos"') };
    }
    // Half an object would silently drop facts; words are better than nothing, unless they refuse.
    const isBroken = answer.includes('{') && /"(?:logos|pathos|abstract|conversation_summary)"/.test(answer);
    return { state: null, raw: answer, flaws: ['The answer is not the JSON object that was asked for.'], usable: !isBroken && isProse(answer) };
  },
};

const shortestProse = 120;
const refusal = /^\W*(?:i(?:'m| am) (?:sorry|unable|not able)|i can(?:'t|not|no)|sorry\b|as an ai\b|ok(?:ay)?\b|sure\b)/i;

/** Text that can stand for a conversation: long enough to say something, and no refusal. */
export function isProse(answer: string): boolean {
  return answer.trim().length >= shortestProse && !refusal.test(answer.trim());
}
