import { dataTag, isFramed, noticeTag, stateTag } from '../../../src/core/frames/frames';
import type { Reply } from './messagesApiScript';
import { reply } from './messagesApiScript';
import { textTokens } from './messagesApiTokens';
import { textOf, type Prompt } from './messagesApiWire';

/** What a responder decides by. */
export interface Asked {
  readonly prompt: Prompt;
  /** The whole system text. */
  readonly system: string;
  /** Text of the last turn, tool results included. */
  readonly last: string;
  /** 1 for the first request that was accepted. */
  readonly turn: number;
  readonly inputTokens: number;
}

export function asked(prompt: Prompt, turn: number, inputTokens: number): Asked {
  return {
    prompt,
    system: prompt.system.map(textOf).join('\n'),
    last: (prompt.turns.at(-1)?.blocks ?? []).map(({ block }) => textOf(block)).join('\n'),
    turn,
    inputTokens,
  };
}

/** A helpful-looking answer that depends on nothing but the request; a summary when one is asked for. */
export function defaultReply(request: Asked): Reply {
  if (!wantsSummary(request)) return reply(echo(request));
  const asking = continuingBlock(request);
  const said = asking === undefined ? request.last : transcriptOf(request, asking);
  const orders = asking ?? request.prompt.compaction?.instructions ?? request.system;
  if (/checkpoint summary/.test(orders)) return reply(JSON.stringify(checkpoint(sessionState(said, request.prompt.maxTokens))));
  return reply(/\bJSON\b/.test(orders) ? JSON.stringify(sessionState(said, request.prompt.maxTokens), null, 2) : narrative(said));
}

/** Summaries are asked for in the first words of the system text, by a request without tools, or in the last block of a conversation. */
export function wantsSummary(request: Asked): boolean {
  const { prompt, system } = request;
  if (prompt.compaction || continuingBlock(request) !== undefined) return true;
  return prompt.tools.length === 0 && /\b(summar(y|ies|i[sz]e)|compress|condense|merge)\b/i.test(system.slice(0, 300));
}

/** What asks for a summary in a conversation; undefined when nothing does. */
function continuingBlock({ prompt }: Asked): string | undefined {
  const last = prompt.turns.at(-1)?.blocks.at(-1);
  const text = prompt.compaction?.instructions ?? (last?.block.type === 'text' ? textOf(last.block) : '');
  return isFramed(text, 'compression') ? text : undefined;
}

/** Neither said by anybody nor attached to what was said. */
const ofProgram = new RegExp(`^<(?:${noticeTag}|${stateTag}|${dataTag}-\\d+ kind="(?:notes|pinned|other-branch|imported))`);

/** What a summariser is given that does not go on from the conversation: the same entries under the same names. */
function transcriptOf({ prompt, system }: Asked, asking: string): string {
  const listed = /\(blocks of the program have none\): (.*)\.$/m.exec(asking)?.[1]?.split(', ') ?? [];
  const all = prompt.turns.flatMap(({ role, blocks }) =>
    blocks.map(({ block }) => ({
      role,
      type: block.type,
      text: block.type === 'tool_use' ? JSON.stringify(block['input']) : textOf(block),
    })),
  );
  const state = [system, ...all.map(({ text }) => text)]
    .map((text) => /<conversation-state-\d+>\n([\s\S]*?)\n<\/conversation-state-/.exec(text)?.[1])
    .find((text) => text !== undefined);
  const spoken = all.filter(
    ({ type, text }) =>
      type !== 'thinking' &&
      type !== 'redacted_thinking' &&
      !ofProgram.test(text) &&
      !/^(?:Understood\. I have the state of our conversation|No result: the call was interrupted)/.test(text),
  );
  const lines = listed.map((name, index) => {
    const [, speaker, ref] = /^(.*) (#\d+)$/.exec(name) ?? [];
    return `[${ref} ${speaker}]\n${spoken[index]?.text ?? ''}`;
  });
  const sections = state?.split(/^## /m).filter((section) => /^(?:Facts and decisions|Exact passages)/.test(section)) ?? [];
  const facts = sections.flatMap((section) => [...section.matchAll(/^- (.*)$/gm)].map(([, fact]) => fact!));
  const previous = facts.length === 0 ? '' : `<previous-state>\n${facts.join('\n')}\n</previous-state>\n\n`;
  return `${previous}<conversation>\n${lines.join('\n\n')}\n</conversation>\n${/At most \d+ tokens/.exec(asking)?.[0] ?? ''}`;
}

function checkpoint({ logos, conversation_summary }: State) {
  return { summary: conversation_summary, topics: [], keyDecisions: logos, openQuestions: [] };
}

function echo({ last, prompt, turn }: Asked): string {
  const said = last.trim().replace(/\s+/g, ' ').slice(0, 160);
  const names = identifiers(last).slice(0, 6);
  const listed = names.map((name) => `- \`${name}\``).join('\n');
  return `You said: *${said.replaceAll('*', '')}*

${names.length > 0 ? `I noticed these names:\n\n${listed}\n\n` : ''}Here is an example:

\`\`\`ts
export const answer = { turn: ${turn}, messages: ${prompt.turns.length} };
\`\`\`

Tell me what to do next.`;
}

interface State {
  logos: string[];
  pathos: string[];
  abstract: string[];
  conversation_summary: string;
}

/** As a careful model would write it: every identifier once, with the id of the entry it comes from, and the earlier state merged. */
function sessionState(prompt: string, maxTokens: number): State {
  const earlier = previousState(prompt);
  const facts = new Set(earlier?.logos);
  const mentioned = new Set([...facts].flatMap(identifiers));
  const entries = entriesOf(prompt);
  for (const { ref, speaker, text } of entries) {
    const names = identifiers(text).filter((name) => !mentioned.has(name));
    for (const name of names) mentioned.add(name);
    if (names.length > 0) facts.add(`The ${speaker} mentioned ${names.join(', ')} (${ref})`);
  }
  const limit = Math.min(Number(/At most (\d+) tokens/.exec(prompt)?.[1] ?? Infinity), maxTokens) - 300;
  return {
    logos: fitting([...facts], limit),
    pathos: earlier?.pathos.length ? earlier.pathos : ['Matter-of-fact and stable.'],
    abstract: earlier?.abstract ?? [],
    conversation_summary: `${entries.length} messages were exchanged. The last one said: ${(entries.at(-1)?.text ?? '').replace(/\s+/g, ' ').slice(0, 200)}`,
  };
}

/** As many of the newest facts as fit; a model that is told how long it may be keeps to it. */
function fitting(facts: readonly string[], limit: number): string[] {
  let left = limit;
  const start = facts.findLastIndex((fact) => (left -= textTokens(fact) + 6) < 0) + 1;
  return facts.slice(start);
}

function narrative(prompt: string): string {
  const entries = entriesOf(prompt);
  return `The user and the assistant exchanged ${entries.length} messages. Mentioned were ${identifiers(prompt).join(', ') || 'no names'}. The conversation goes on from its last message.`;
}

/** Entries of a transcript stand under a line like `[#12 user]`. Without such lines the whole text is one. */
function entriesOf(prompt: string): { ref: string; speaker: string; text: string }[] {
  const body = /<conversation(?:-\d+)?>\n([\s\S]*)\n<\/conversation/.exec(prompt)?.[1] ?? prompt;
  const heads = [...body.matchAll(/^\[(#\d+) ([^\]\n]+)\]$/gm)];
  if (heads.length === 0) return [{ ref: '#1', speaker: 'user', text: body }];
  return heads.map((head, index) => {
    const [line, ref = '', speaker = ''] = head;
    return { ref, speaker, text: body.slice(head.index + line.length, heads[index + 1]?.index).trim() };
  });
}

function previousState(prompt: string): State | undefined {
  const json = /<previous-state(?:-\d+)?>\n([\s\S]*?)\n<\/previous-state/.exec(prompt)?.[1];
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json.slice(json.indexOf('{'), json.lastIndexOf('}') + 1)) as State;
  } catch {
    return { logos: json.split('\n').filter((line) => line.trim() !== ''), pathos: [], abstract: [], conversation_summary: '' };
  }
}

/** Addresses, paths, file names, camelCase and snake_case names, and numbers with a unit; each once, in order. */
const shapes =
  /https?:\/\/[^\s)>\]"'`]+|(?:[\w.-]+\/)+[\w.-]+|\b[\w-]+\.(?:ts|js|json|md|py|rs|go|sql|yml|yaml|toml)\b|\b[a-z]+(?:[A-Z][a-z0-9]*)+\b|\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|\b\d+(?:\.\d+)?\s?(?:ms|s|MB|GB|KB|%|px)(?![\w])|\b\d{4,}\b/g;

function identifiers(text: string): string[] {
  return [...new Set([...text.matchAll(shapes)].map(([name]) => name.replace(/[.,;:]+$/, '')))];
}
