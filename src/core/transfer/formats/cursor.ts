import { pathOfUri } from '../fileUri';
import { isObject, type Json } from '../../base/json';
import { said, kept, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { numberOf, parseForeign, textOf, timeOf, wordOf } from './foreignJson';
import { messageParts, toolResultParts } from './messageBlocks';

const flags = { display: true, modelFacing: true };

/**
 * A composer of Cursor: its `composerData:<id>` and its bubbles, in the order of the headers. A bubble grows while it is generated, so of
 * the last one nothing is told before the composer rests. `bubble` gives one by its id.
 */
export function cursorEvents(
  id: string,
  composer: Json,
  bubble: (id: string) => Json | null,
  hashOf: (value: unknown) => string,
): SourceEvent[] {
  const createdAt = timeOf(composer['createdAt']);
  const title = textOf(composer['name']) ?? '';
  const inline = Array.isArray(composer['conversation']) ? composer['conversation'].filter(isObject) : [];
  const headers = Array.isArray(composer['fullConversationHeadersOnly']) ? composer['fullConversationHeadersOnly'].filter(isObject) : [];
  const bubbles =
    headers.length > 0 ? headers.map((header) => bubble(textOf(header['bubbleId']) ?? '')).filter((one) => one !== null) : inline;
  const isGrowing = composer['status'] === 'generating';
  const model = isObject(composer['modelConfig']) ? textOf(composer['modelConfig']['modelName']) : undefined;
  const toolNames = new Map<string, string>();
  const events: SourceEvent[] = [
    { type: 'session', session: { id, cwd: folderOf(composer, bubbles), ...(createdAt === null ? {} : { createdAt }) } },
    ...(title === '' ? [] : [{ type: 'title', title, rank: 2 } as const]),
  ];
  for (const [i, one] of bubbles.entries()) {
    if (isGrowing && i === bubbles.length - 1 && one['type'] === 2) continue;
    const name = textOf(one['bubbleId']) ?? `b${i}`;
    const at = timeOf(one['createdAt']);
    const add = (record: string, of: unknown, parts: readonly RecordPart[]) => {
      if (parts.length > 0) events.push({ type: 'record', record: { id: record, parent: undefined, at, hash: hashOf(of), parts } });
    };
    addBubble(one, name, toolNames, model, add);
  }
  return events;
}

function addBubble(
  bubble: Json,
  name: string,
  toolNames: Map<string, string>,
  composerModel: string | undefined,
  add: (record: string, of: unknown, parts: readonly RecordPart[]) => void,
): void {
  const text = textOf(bubble['text']) ?? '';
  if (bubble['type'] === 1) return add(name, text, messageParts(text, { role: 'user', toolNames }));
  if (bubble['type'] !== 2) return add(name, bubble, [kept(unreadable(`bubble:${wordOf(bubble['type'])}`, bubble))]);
  const info = isObject(bubble['modelInfo']) ? bubble['modelInfo'] : {};
  const model = textOf(info['modelName']) ?? composerModel ?? 'unknown';
  const context = { role: 'assistant', toolNames, provider: 'cursor', model } as const;
  const thinking = isObject(bubble['thinking']) ? textOf(bubble['thinking']['text']) : textOf(bubble['thinking']);
  const tokens = isObject(bubble['tokenCount']) ? bubble['tokenCount'] : {};
  const [input, output] = [numberOf(tokens['inputTokens']), numberOf(tokens['outputTokens'])];
  const usage = input + output === 0 ? undefined : { provider: 'cursor', model, input, output, cacheRead: 0, cacheWrite: 0, cost: null };
  const spoken = [...(thinking ? [said({ type: 'thinking', text: thinking })] : []), ...(text === '' ? [] : messageParts(text, context))];
  add(
    name,
    [thinking, text],
    spoken.map((part, i) => (usage && i === 0 ? { ...part, usage } : part)),
  );
  const tool = bubble['toolFormerData'];
  if (!isObject(tool) || textOf(tool['name']) === undefined) return;
  const callId = textOf(tool['toolCallId']) ?? name;
  const args = textOf(tool['rawArgs'] ?? tool['params']) ?? '{}';
  if (tool['status'] === 'loading' && parseForeign(args) === null) return;
  const call = { type: 'tool_use', id: callId, name: tool['name'], input: parseForeign(args)?.value ?? args };
  add(`${name}/call`, [tool['name'], args], messageParts([call], context));
  const result = textOf(tool['result']) ?? '';
  if (result !== '' || tool['status'] === 'completed' || tool['status'] === 'error')
    add(`${name}/result`, result, toolResultParts(callId, toolNames, result, tool['status'] === 'error', flags));
}

/** It is said in one of several places, by version; null where in none. */
function folderOf(composer: Json, bubbles: readonly Json[]): string | null {
  const workspace = isObject(composer['workspaceIdentifier']) ? composer['workspaceIdentifier'] : {};
  const uri = isObject(workspace['uri']) ? (workspace['uri']['fsPath'] ?? workspace['uri']['path']) : workspace['uri'];
  if (typeof uri === 'string') return pathOfUri(uri);
  for (const bubble of bubbles) {
    const uris: unknown = bubble['workspaceUris'];
    const first: unknown = Array.isArray(uris) ? uris[0] : bubble['workspaceProjectDir'];
    if (typeof first === 'string' && first !== '') return pathOfUri(first);
  }
  return null;
}
