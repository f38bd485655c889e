import { isObject } from '../../core/base/json';
import type { ModelBlock, ModelRequest } from '../../core/models/modelRequest';

/**
 * Stands in for a tool's input that the model wrote but nobody can read: `{ "__malformed": "<what the model wrote>" }`. A model
 * that was cut off inside a tool call leaves half a JSON text. The call is reported with it all the same, so that the tool can
 * answer with an error the model can act on; sent back, it is an object as the API demands.
 */
const malformedInputKey = '__malformed';

/** The input of a tool call from its JSON text; never throws. No text at all is an empty input. */
export function parseToolInput(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    const input: unknown = JSON.parse(json);
    return isObject(input) ? input : { [malformedInputKey]: json };
  } catch {
    return { [malformedInputKey]: json };
  }
}

/** Any stored input as the object that the API takes, well-formed. */
export function asToolInput(input: unknown): Record<string, unknown> {
  const object = isObject(input) ? input : { [malformedInputKey]: JSON.stringify(input) ?? '' };
  return JSON.parse(wellFormedJson(object)) as Record<string, unknown>;
}

/** A tool's name or an id in the letters that every provider knows, from one that another provider has made: `functions.read_file:0`. */
export function plainName(name: string, most = Infinity): string {
  return (name.replace(/[^\w-]/g, '_') || '_').slice(0, most);
}

/** Half a character becomes U+FFFD: texts are cut by code unit in many places, and providers refuse the whole request for it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The JSON text of a value, with U+FFFD for half a character in its texts and names. */
export function wellFormedJson(value: object): string {
  const json = JSON.stringify(value);
  // Half a character, and nothing else, is written as such an escape.
  if (!/\\ud[89a-f]/.test(json)) return json;
  // Every escape is taken whole, so that a backslash that is one itself begins none.
  return json.replace(/\\(?:ud[89a-f][\da-f]{2}|.)/g, (escape) => (escape.length > 2 ? '\ufffd' : escape));
}

export interface Run {
  readonly as: 'user' | 'system';
  readonly blocks: readonly ModelBlock[];
}

/** The blocks of a user's message, parted where the program speaks as the system. */
export function systemRuns(blocks: readonly ModelBlock[]): Run[] {
  const runs: { as: Run['as']; blocks: ModelBlock[] }[] = [];
  for (const block of blocks) {
    const as = speaksAsSystem(block) ? 'system' : 'user';
    const last = runs.at(-1);
    if (last?.as === as) last.blocks.push(block);
    else runs.push({ as, blocks: [block] });
  }
  return runs;
}

export function holdsSystem({ messages }: ModelRequest): boolean {
  return messages.some(({ blocks }) => blocks.some(speaksAsSystem));
}

/** A server's words for a system message, or a turn of roles, that it does not take. */
export function refusesSystem(refusal: string): boolean {
  return /\bsystem\b|\broles?\b/i.test(refusal);
}

function speaksAsSystem(block: ModelBlock): boolean {
  return block.type === 'text' && block.as === 'system';
}

/** Tells what the Responses API has sealed from the signatures of other providers: neither takes the other's. */
const prefix = 'responses:';

/** The signature under which a reasoning item is kept. */
export function sealed(encryptedContent: string): string {
  return `${prefix}${encryptedContent}`;
}

/** What the API has sealed; undefined for thinking from elsewhere. */
export function sealedContent({ signature }: Extract<ModelBlock, { type: 'thinking' }>): string | undefined {
  return signature?.startsWith(prefix) ? signature.slice(prefix.length) : undefined;
}
