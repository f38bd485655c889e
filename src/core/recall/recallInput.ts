import * as z from 'zod/mini';

const maxNeighbours = 20;
const defaultNeighbours = 3;
const maxIds = 50;
/** On half of LoCoMo, 92 % of the evidence is among the first 60. */
const mostExcerpts = 100;

/** Models send one id where a list is asked for, and numbers as text. */
const reference = z.union([z.string(), z.number()]);
const count = z.coerce.number().check(z.int(), z.gte(0));

const input = z.object({
  query: z.optional(z.string()),
  entryIds: z.optional(z.union([reference, z.array(reference).check(z.maxLength(maxIds))])),
  around: z.optional(reference),
  before: z.optional(count),
  after: z.optional(count),
  offset: z.optional(count),
  allSessions: z.optional(z.boolean()),
  everywhere: z.optional(z.boolean()),
  workspace: z.optional(z.string()),
  limit: z.optional(count),
  maxTokens: z.optional(count),
});

export type RecallInput =
  | {
      readonly kind: 'query';
      readonly query: string;
      readonly allSessions: boolean;
      /** The user's other workspaces, too. */
      readonly everywhere: boolean;
      readonly limit: number;
      readonly maxTokens: number | null;
    }
  | ({ readonly kind: 'entries'; readonly ids: readonly string[]; readonly offset: number } & InWorkspace)
  | ({ readonly kind: 'around'; readonly id: string; readonly before: number; readonly after: number } & InWorkspace);

interface InWorkspace {
  /** Null: this one. */
  readonly workspace: string | null;
  readonly maxTokens: number | null;
}

/** JSON Schema of the tool: flat, because providers refuse alternatives at the top level. */
export const recallInputSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'Words to search for. Rare words, names, paths and values find best.' },
    entryIds: {
      type: 'array',
      items: { type: 'string' },
      description: `Read these entries verbatim, for example ["#12", "#40"]; at most ${maxIds}.`,
    },
    around: { type: 'string', description: 'Read an entry with what was said before and after it, for example "#12".' },
    before: {
      type: 'integer',
      description: `With around: how many entries before it (default ${defaultNeighbours}, at most ${maxNeighbours}).`,
    },
    after: {
      type: 'integer',
      description: `With around: how many entries after it (default ${defaultNeighbours}, at most ${maxNeighbours}).`,
    },
    offset: { type: 'integer', description: 'With entryIds: continue the first entry from this character.' },
    allSessions: { type: 'boolean', description: 'With query: search every conversation of this workspace, not only this one.' },
    limit: {
      type: 'integer',
      description: `With query: at most this many excerpts (default: as many as maxTokens has room for, at most ${mostExcerpts}).`,
    },
    maxTokens: { type: 'integer', description: 'Size of the answer (default 3000).' },
  },
  additionalProperties: false,
} as const;

/** The same where the user lets the tool read other workspaces. */
export const everywhereInputSchema = {
  ...recallInputSchema,
  properties: {
    ...recallInputSchema.properties,
    everywhere: {
      type: 'boolean',
      description: "With query: search every conversation of every workspace of this user, and what other programs' agents were told.",
    },
    workspace: { type: 'string', description: 'With entryIds or around: the workspace that a result names. Default: this one.' },
  },
} as const;

/** The parsed input, or a sentence for the model that says what is wrong with it. */
export function parseRecallInput(value: unknown): RecallInput | string {
  const parsed = input.safeParse(value);
  if (!parsed.success) return `The input is not valid: ${z.prettifyError(parsed.error)}`;
  const {
    query,
    entryIds,
    around,
    before,
    after,
    offset,
    allSessions,
    everywhere,
    workspace = null,
    limit,
    maxTokens = null,
  } = parsed.data;
  const given = [query, entryIds, around].filter((field) => field !== undefined);
  if (given.length !== 1) return 'Give exactly one of "query", "entryIds" and "around".';
  if (around !== undefined) {
    const neighbours = (n: number | undefined) => Math.min(maxNeighbours, n ?? defaultNeighbours);
    return { kind: 'around', id: String(around).trim(), before: neighbours(before), after: neighbours(after), workspace, maxTokens };
  }
  if (entryIds !== undefined) {
    const ids = [...new Set((Array.isArray(entryIds) ? entryIds : [entryIds]).map((id) => String(id).trim()))].filter(Boolean);
    return ids.length === 0 ? '"entryIds" is empty.' : { kind: 'entries', ids, offset: offset ?? 0, workspace, maxTokens };
  }
  if (query === undefined || query.trim() === '') return '"query" is empty.';
  return {
    kind: 'query',
    query,
    allSessions: allSessions ?? false,
    everywhere: everywhere ?? false,
    limit: Math.max(1, Math.min(mostExcerpts, limit ?? mostExcerpts)),
    maxTokens,
  };
}
