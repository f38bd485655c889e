import type { SummaryFormat as FormatName } from '../../context/policy/policy';
import {
  checkpointFormat,
  notAddressed,
  researchFormat,
  sectionsFormat,
  objectSchema,
  type ListFormat,
  type ObjectSchema,
} from './listFormats';
import { summarySystem } from './prompts';
import * as z from 'zod/mini';
import { indented } from '../../frames/frames';

/** What a model's answer amounts to. */
export interface ReadSummary {
  readonly state: SessionState | null;
  /** Kept as it is when it is no structured state. */
  readonly raw: string | null;
  /** What is wrong with it, in words for the model that is asked to repair it. */
  readonly flaws: readonly string[];
  /** Whether it is what was asked for, and not merely words that could stand for it. */
  readonly inForm: boolean;
  /** Whether it may stand, flaws and all, when the repair does not get any better. */
  readonly usable: boolean;
}

/** How a summary is asked for and read. */
export interface SummaryFormat {
  readonly system: string;
  /** The last line of a request. */
  readonly closing: (maxTokens: number) => string;
  /** JSON Schema of an answer; omitted: it is plain text. */
  readonly schema?: ObjectSchema;
  read(answer: string): ReadSummary;
}

/** How summaries of a policy's format are asked for and read. */
export function formatOf(name: FormatName): SummaryFormat {
  return formats[name];
}

const stateLists = ['logos', 'pathos', 'abstract'];
const sections = [...stateLists, 'conversation_summary'];

const sessionStateFormat: SummaryFormat = {
  system: summarySystem,
  closing: (maxTokens) => `Write the JSON object now. At most ${maxTokens} tokens.`,
  schema: objectSchema(stateLists, 'conversation_summary'),
  read(answer) {
    const state = parseSessionState(answer);
    const missing = sections.filter((name) => !answer.includes(`"${name}"`));
    const flaws = missing.length === 0 || missing.length === sections.length ? [] : [`These sections are missing: ${missing.join(', ')}.`];
    if (state) return { state, raw: null, flaws, inForm: true, usable: missing.length < 2 && answer.includes('"logos"') };
    // Half an object would silently drop facts; words are better than nothing, unless they refuse.
    const isBroken = answer.includes('{') && /"(?:logos|pathos|abstract|conversation_summary)"/.test(answer);
    return {
      state: null,
      raw: answer,
      flaws: ['The answer is not the JSON object that was asked for.', ...flaws],
      inForm: false,
      usable: !isBroken && isProse(answer),
    };
  },
};

const shortestProse = 120;
const refusal = /^\W*(?:i(?:'m| am) (?:sorry|unable|not able)|i can(?:'t|not|no)|sorry\b|as an ai\b|ok(?:ay)?\b|sure\b)/i;

/** Text that can stand for a conversation: long enough to say something, and no refusal. */
export function isProse(answer: string): boolean {
  return answer.trim().length >= shortestProse && !refusal.test(answer.trim());
}

const narrativeSystem = `You summarise the older part of a conversation between a user and an assistant in three or four sentences of plain text.

${notAddressed}

Say which decisions were made, what was done, which facts were learned, and what one has to know to go on. Copy names, numbers and paths literally. Write in the language of the conversation. No heading, no list, no preamble.`;

/** Models like to put one in front, whatever they are told. */
const heading = /^\s*(?:#+\s*)?summary(?: of (?:the|this|our) (?:previous )?conversation)?\s*(?::|\n)\s*/i;
const shortestNarrative = 20;

const narrativeFormat: SummaryFormat = {
  system: narrativeSystem,
  closing: (maxTokens) => `Write the three or four sentences now. At most ${maxTokens} tokens.`,
  read(answer) {
    const raw = answer.replace(heading, '').trim();
    // Three sentences can be shorter than what passes for prose where a whole state was asked for.
    const usable = raw.length >= shortestNarrative && (raw.length < 120 ? isProse(raw.padEnd(120, '.')) : isProse(raw));
    return { state: null, raw, flaws: usable ? [] : ['This is no summary of the conversation.'], inForm: usable, usable };
  },
};

const formats: Readonly<Record<FormatName, SummaryFormat>> = {
  'session-state': sessionStateFormat,
  checkpoint: listed(checkpointFormat),
  sections: listed(sectionsFormat),
  research: listed(researchFormat),
  narrative: narrativeFormat,
};

/** Kept as the text it is shown as: the next summary is asked to merge it, in the same sections. */
function listed<T>(format: ListFormat<T>): SummaryFormat {
  return {
    system: format.system,
    closing: format.closing,
    schema: format.schema,
    read(answer): ReadSummary {
      const value = format.parse(answer);
      if (value !== undefined) {
        const missing = format.sections.filter((name) => !answer.includes(`"${name}"`));
        return {
          state: null,
          raw: format.render(value),
          flaws: missing.length === 0 ? [] : [`These sections are missing: ${missing.join(', ')}.`],
          inForm: true,
          usable: missing.length < format.sections.length / 2,
        };
      }
      const isBroken = answer.includes('{') && format.sections.some((name) => answer.includes(`"${name}"`));
      return {
        state: null,
        raw: answer,
        flaws: ['The answer is not the JSON object that was asked for.'],
        inForm: false,
        usable: !isBroken && isProse(answer),
      };
    },
  };
}

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
    ...list('Facts and decisions', state.logos),
    ...list('Tone and preferences', state.pathos),
    ...list('Shared ground', state.abstract),
  ]
    .join('\n')
    .trim();
}
