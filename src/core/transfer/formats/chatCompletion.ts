import { unreadable } from '../rawEntry';
import { kept, type RecordPart } from '../sourceRecord';
import { isObject, textOf, type Json } from './jsonShape';
import { messageParts, toolResultParts } from './messageBlocks';

const flags = { display: true, modelFacing: true };

/**
 * A message in the shape of Chat Completions (`tool_calls`, `tool_call_id`), which programs write with names of their own case
 * (`ToolCallID`). `open`: calls without a result so far, the last one made last; a result that names none belongs to the first of them.
 */
export function chatMessageParts(message: Json, toolNames: Map<string, string>, open: string[]): RecordPart[] {
  const role = textOf(field(message, 'role')) ?? '';
  const content = field(message, 'content');
  switch (role) {
    case 'user':
      return messageParts(content, { role, toolNames });
    case 'assistant': {
      const calls = list(field(message, 'toolcalls')).map(callOf);
      for (const { id } of calls) open.push(id);
      const said = messageParts(content, { role, toolNames }).filter((part) => part.content.type !== 'message' || part.content.text !== '');
      return [...said, ...messageParts(calls, { role, toolNames })];
    }
    case 'tool':
    case 'function': {
      const named = textOf(field(message, 'toolcallid'));
      const callId = named ?? open[0];
      if (callId === undefined) return [kept(unreadable(`role:${role}`, message))];
      if (open.includes(callId)) open.splice(open.indexOf(callId), 1);
      return toolResultParts(callId, toolNames, content, false, flags);
    }
    default:
      // The system prompt of another program is nobody's word here.
      return [kept(unreadable(`role:${role}`, message))];
  }
}

/** Whatever the case of its name: `tool_call_id`, `toolCallId` and `ToolCallID` are one. */
export function field(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  const found = Object.keys(value).find((key) => key.replaceAll('_', '').toLowerCase() === name);
  return found === undefined ? undefined : value[found];
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function callOf(call: unknown): { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown } {
  const named = field(call, 'function') ?? call;
  const given = field(named, 'arguments') ?? {};
  let input: unknown = given;
  try {
    if (typeof given === 'string') input = JSON.parse(given);
  } catch {
    // A call that was cut off stays as it was written.
  }
  return { type: 'tool_use', id: textOf(field(call, 'id')) ?? '', name: textOf(field(named, 'name')) ?? 'tool', input };
}
