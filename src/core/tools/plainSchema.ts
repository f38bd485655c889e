import type { ToolSpec } from '../models/modelRequest';

/** The description of a tool repeats at most so many characters of its alternatives. */
const mostRepeated = 2_000;

const alternatives = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * A tool of somebody else's as every provider takes it. Alternatives at the top of its schema make Anthropic and OpenAI refuse the whole
 * request, with all other tools: their properties are put side by side, and what the alternatives were is said in words. `$defs` stay
 * where references find them.
 */
export function withPlainSchema({ description, inputSchema, ...rest }: ToolSpec): ToolSpec {
  const parts = alternatives.flatMap((name) => (Array.isArray(inputSchema[name]) ? (inputSchema[name] as unknown[]) : []).filter(isRecord));
  const plain: Record<string, unknown> = Object.fromEntries(
    Object.entries(inputSchema).filter(([name]) => !(alternatives as readonly string[]).includes(name)),
  );
  const own = { ...plain, type: 'object', properties: isRecord(plain['properties']) ? plain['properties'] : {} };
  if (parts.length === 0) return { ...rest, description, inputSchema: own };
  const properties = Object.assign({}, ...parts.map(({ properties }) => properties), own.properties) as Record<string, unknown>;
  const said = JSON.stringify(Object.fromEntries(alternatives.flatMap((name) => (name in inputSchema ? [[name, inputSchema[name]]] : []))));
  const repeated = said.length > mostRepeated ? `${said.slice(0, mostRepeated)}…` : said;
  return { ...rest, description: `${description}\n\nWhat belongs together in the input: ${repeated}`, inputSchema: { ...own, properties } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
