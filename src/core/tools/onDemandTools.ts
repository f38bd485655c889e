import * as z from 'zod/mini';
import { ToolFault, type Tool } from './tool';
import { toolInput } from './toolInput';

const Find = z.object({ query: z.string() });
const Use = z.object({ name: z.string(), input: z.optional(z.record(z.string(), z.unknown())) });
const mostFound = 5;

/** Two tools in the place of many whose descriptions would take too much of the window: one that finds them, one that calls them. */
export function onDemandTools(tools: readonly Tool[]): Tool[] {
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
