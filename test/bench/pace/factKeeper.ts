import { defaultReply, type Asked } from '../../support/messagesApi/messagesApiDefault';
import { after, delay, reply, type Script } from '../../support/messagesApi/messagesApiScript';

/** As the summarisers of the measured products had it. */
const mostCharacters = 6_000;

/** A summariser that keeps the facts of all it reads before anything else, each in its own words, and then what fits. */
export function factsFirst(request: Asked, seconds: number): Script {
  const careful = defaultReply(request);
  const text = careful.blocks
    .flatMap((block) => (block.type === 'text' ? block.pieces.filter((piece) => typeof piece === 'string') : []))
    .join('');
  return after(delay(seconds * 1000), reply(kept(text, factsOf(request))));
}

function factsOf({ system, prompt }: Asked): string[] {
  const read = `${system}\n${JSON.stringify(prompt.turns)}`;
  return [...new Set([...read.matchAll(/For the record: the [a-z ]+ is [A-Z]\d{5}-\d+\b/g)].map(([fact]) => `${fact}.`))];
}

function kept(text: string, facts: readonly string[]): string {
  const state = parsed(text);
  if (!state) return [...facts, text].join(' ').slice(0, mostCharacters);
  const list = Array.isArray(state['logos']) ? 'logos' : 'keyDecisions';
  const others = (Array.isArray(state[list]) ? (state[list] as string[]) : []).filter((line) => !facts.some((fact) => line.includes(fact)));
  const fits = (lines: readonly string[]) => JSON.stringify({ ...state, [list]: lines }).length <= mostCharacters;
  const most = others.findIndex((_, index) => !fits([...facts, ...others.slice(0, index + 1)]));
  return JSON.stringify({ ...state, [list]: [...facts, ...(most === -1 ? others : others.slice(0, most))] });
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
