import { CancelledError, errorText } from '../errors';
import type { Tool, ToolOutcome } from '../ports';
import type { ContentOf, StoredEntry } from '../session/entry';

/** Asks whether a tool may run; a refusal is told to the model. */
export type Approve = (tool: Tool, input: unknown, signal: AbortSignal) => Promise<boolean>;

export type ToolCallEntry = StoredEntry & { readonly content: ContentOf<'tool_call'> };

/** Runs one call. Whatever goes wrong is a result that the model can read; rejects never. */
export async function runTool(call: ToolCallEntry, tools: readonly Tool[], approve: Approve, signal: AbortSignal): Promise<ContentOf<'tool_result'>> {
  const { callId, name, input } = call.content;
  const result = (outcome: Omit<ToolOutcome, 'status'> & { status: ContentOf<'tool_result'>['status'] }): ContentOf<'tool_result'> => ({
    type: 'tool_result',
    callId,
    name,
    ...outcome,
  });
  const tool = tools.find((one) => one.name === name);
  if (!tool) return result({ text: `There is no tool called "${name}". Available: ${tools.map((one) => one.name).join(', ') || 'none'}.`, status: 'error' });
  if (signal.aborted) return result({ text: 'The user stopped the turn before this call ran.', status: 'interrupted' });
  try {
    if (!(await approve(tool, input, signal))) return result({ text: 'The user did not allow this call.', status: 'denied' });
    return result(await tool.run(input, signal));
  } catch (error) {
    if (CancelledError.is(error) || signal.aborted) return result({ text: 'The user stopped this call.', status: 'interrupted' });
    return result({ text: `The tool failed: ${errorText(error)}`, status: 'error' });
  }
}
