import type { SessionStore } from '../ports';
import type { ToolSpec } from '../models/modelRequest';
import type { Session } from '../session/session';
import { ToolFault, toolInput, type Tool } from './tool';
import * as z from 'zod/mini';

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** What its description costs in every request. */
  readonly tokens: number;
  readonly isOwn: boolean;
  readonly isOn: boolean;
}

export interface ToolBoxDeps {
  readonly store: Pick<SessionStore, 'updateSession'>;
  /** A window on the session in memory: what is chosen is a part of its metadata. */
  readonly branch: { session: Pick<Session, 'uuid' | 'metadata'> };
  readonly tokensOf: (text: string) => number;
  /** Tokens that the descriptions of other tools may take before they are offered on demand. */
  readonly budget: () => number;
}

/** Descriptions of other tools may take this share of the effective window in every request. */
export const onDemandShare = 0.1;

/** Key among the metadata of a session: names of the tools that are on; absent: all of its own and none of others. */
export const chosenToolsKey = 'tools';

/** The tools of one conversation: its own, and those of other extensions and servers as far as the user has chosen them. */
export class ToolBox {
  constructor(
    private readonly own: readonly Tool[],
    private readonly others: () => readonly Tool[],
    private readonly deps: ToolBoxDeps,
  ) {}

  /** What the model is told of from the next turn on. What is off is in no prompt. */
  current(): readonly Tool[] {
    const chosen = this.chosen();
    if (!chosen) return this.own;
    const own = this.own.filter(({ name }) => chosen.has(name));
    const others = this.strangers().filter(({ name }) => chosen.has(name));
    const size = others.reduce((sum, tool) => sum + this.tokens(tool), 0);
    return [...own, ...(size > this.deps.budget() ? onDemandTools(others) : others)];
  }

  /** Names that a conversation has without any choice of its user's. */
  get usual(): readonly string[] {
    return this.own.map(({ name }) => name);
  }

  list(): ListedTool[] {
    const chosen = this.chosen();
    const listed = (tool: Tool, isOwn: boolean): ListedTool => ({
      name: tool.name,
      description: tool.description,
      tokens: this.tokens(tool),
      isOwn,
      isOn: chosen ? chosen.has(tool.name) : isOwn,
    });
    return [...this.own.map((tool) => listed(tool, true)), ...this.strangers().map((tool) => listed(tool, false))];
  }

  /** The choice holds from the next turn on; null goes back to the usual tools. Rejects with `StoreError`. */
  async choose(names: readonly string[] | null): Promise<void> {
    const { store, branch } = this.deps;
    branch.session = await store.updateSession(branch.session.uuid, { metadata: { [chosenToolsKey]: names } });
  }

  private chosen(): ReadonlySet<string> | null {
    const names = this.deps.branch.session.metadata[chosenToolsKey];
    return Array.isArray(names) ? new Set(names.filter((name) => typeof name === 'string')) : null;
  }

  /** Ours go before others of the same name. */
  private strangers(): Tool[] {
    const taken = new Set(this.usual);
    return this.others().filter(({ name }) => !taken.has(name) && taken.add(name));
  }

  private tokens(tool: Tool): number {
    return this.deps.tokensOf(JSON.stringify(toSpec(tool))) + 8;
  }
}

export function toSpec({ name, description, inputSchema }: Tool): ToolSpec {
  return { name, description, inputSchema };
}

const Find = z.object({ query: z.string() });
const Use = z.object({ name: z.string(), input: z.optional(z.record(z.string(), z.unknown())) });
const mostFound = 5;

/** Two tools in the place of many whose descriptions would take too much of the window: one that finds them, one that calls them. */
function onDemandTools(tools: readonly Tool[]): Tool[] {
  const named = (value: unknown) => {
    const { name, input = {} } = toolInput(Use, value);
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new ToolFault(`There is no tool called "${name}". find_tools says what there is.`);
    return { tool, input };
  };
  return [
    {
      name: 'find_tools',
      description: `Find further tools by what they do; there are ${tools.length} of them. The answer describes them and their input; use_tool calls one.`,
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string', description: 'A few words.' } },
        required: ['query'],
        additionalProperties: false,
      },
      access: 'read',
      needsApproval: async () => null,
      async run(value) {
        const words = toolInput(Find, value)
          .query.toLowerCase()
          .split(/[^\p{L}\p{N}]+/u)
          .filter((word) => word.length > 1);
        const score = ({ name, description }: Tool) =>
          words.reduce(
            (sum, word) => sum + (name.toLowerCase().includes(word) ? 2 : 0) + (description.toLowerCase().includes(word) ? 1 : 0),
            0,
          );
        const found = tools
          .map((tool) => ({ tool, points: score(tool) }))
          .filter(({ points }) => points > 0)
          .sort((a, b) => b.points - a.points)
          .slice(0, mostFound);
        if (found.length === 0) return { text: `No tool matches. Their names: ${tools.map(({ name }) => name).join(', ')}.`, status: 'ok' };
        return {
          text: found
            .map(({ tool: { name, description, inputSchema } }) => JSON.stringify({ name, description, inputSchema }))
            .join('\n\n'),
          status: 'ok',
        };
      },
    },
    {
      name: 'use_tool',
      description: 'Call a tool that find_tools has found.',
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string' }, input: { type: 'object', description: 'As the tool describes it.' } },
        required: ['name'],
        additionalProperties: false,
      },
      access: 'write',
      async needsApproval(value, signal) {
        const { tool, input } = named(value);
        // One permission for the session would be one for all of them.
        const question = await tool.needsApproval?.(input, signal);
        return question ? { ...question, everyTime: true } : (question ?? null);
      },
      run(value, signal, run) {
        const { tool, input } = named(value);
        return tool.run(input, signal, run);
      },
    },
  ];
}
