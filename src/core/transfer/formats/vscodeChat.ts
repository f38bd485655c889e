import { isObject, type Json } from '../../base/json';
import { kept, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { joinedText, parseForeign, textOf, timeOf, wordOf } from './foreignJson';
import { messageParts, toolResultParts } from './messageBlocks';

const flags = { display: true, modelFacing: true };
/** No state of VS Code is deeper, and a longer path comes from nobody. */
const mostSteps = 64;
const refused = new Set(['__proto__', 'constructor', 'prototype']);

export interface ChatPlace {
  /** The folder of the workspace, where it is known. */
  readonly cwd: string | null;
  readonly fallbackId: string;
}

/**
 * A chat session of VS Code (Copilot Chat): one object, or a log of changes to one (`{kind: 0, v}` the state, 1 set, 2 cut and push, 3
 * delete). Null: there is no state in it, as the program has left some of its logs.
 */
export function vscodeChatEvents(text: string, { cwd, fallbackId }: ChatPlace, hashOf: (value: unknown) => string): SourceEvent[] | null {
  const state = stateOf(text);
  if (!state) return null;
  const createdAt = timeOf(state['creationDate']);
  const title = textOf(state['customTitle']) ?? '';
  const toolNames = new Map<string, string>();
  const requests = Array.isArray(state['requests']) ? (state['requests'] as unknown[]) : [];
  const events: SourceEvent[] = [
    { type: 'session', session: { id: textOf(state['sessionId']) ?? fallbackId, cwd, ...(createdAt === null ? {} : { createdAt }) } },
    ...(title === '' ? [] : [{ type: 'title', title, rank: 2 } as const]),
  ];
  for (const [i, request] of requests.entries()) {
    const id = (isObject(request) ? textOf(request['requestId']) : undefined) ?? `r${i}`;
    const at = isObject(request) ? timeOf(request['timestamp']) : null;
    let count = 0;
    const add = (of: unknown, parts: readonly RecordPart[]) => {
      if (parts.length > 0)
        events.push({ type: 'record', record: { id: `${id}/${count++}`, parent: undefined, at, hash: hashOf(of), parts } });
    };
    if (!isObject(request)) {
      add(request, [kept(unreadable('request', request))]);
      continue;
    }
    const message = isObject(request['message']) ? (textOf(request['message']['text']) ?? '') : (textOf(request['message']) ?? '');
    add(message, messageParts(message, { role: 'user', toolNames }));
    // It is being answered: what is there of the answer is not all of it.
    if (i === requests.length - 1 && isPending(request)) break;
    addAnswer(request, toolNames, add);
  }
  return events;
}

function isPending(request: Json): boolean {
  if (request['isCanceled'] === true || isObject(request['result'])) return false;
  const state = request['modelState'];
  return isObject(state)
    ? state['value'] === 0 || state['value'] === 4
    : !Array.isArray(request['response']) || request['response'].length === 0;
}

type Add = (of: unknown, parts: readonly RecordPart[]) => void;

function addAnswer(request: Json, toolNames: Map<string, string>, add: Add): void {
  const model = textOf(request['modelId'])?.replace(/^copilot\//, '') ?? 'unknown';
  const context = { role: 'assistant', toolNames, provider: 'github-copilot', model } as const;
  const result = isObject(request['result']) ? request['result'] : {};
  const metadata = isObject(result['metadata']) ? result['metadata'] : {};
  const rounds = Array.isArray(metadata['toolCallRounds']) ? metadata['toolCallRounds'].filter(isObject) : [];
  const results = isObject(metadata['toolCallResults']) ? metadata['toolCallResults'] : {};
  const calls = rounds.flatMap((round) => (Array.isArray(round['toolCalls']) ? round['toolCalls'].filter(isObject) : []));
  if (calls.length > 0) {
    for (const round of rounds) {
      const text = textOf(round['response']) ?? '';
      if (text !== '') add(text, messageParts(text, context));
      for (const call of Array.isArray(round['toolCalls']) ? round['toolCalls'].filter(isObject) : []) {
        const given = call['arguments'];
        const input = typeof given === 'string' ? (parseForeign(given)?.value ?? given) : given;
        add(call, messageParts([{ type: 'tool_use', id: call['id'], name: call['name'], input }], context));
        const answer = results[textOf(call['id']) ?? ''];
        if (answer !== undefined) add(answer, toolResultParts(textOf(call['id']) ?? '', toolNames, resultText(answer), false, flags));
      }
    }
    return;
  }
  const response = Array.isArray(request['response']) ? (request['response'] as unknown[]) : [];
  let text = '';
  const flush = () => {
    if (text.trim() !== '') add(text, messageParts(text, context));
    text = '';
  };
  for (const part of response) {
    if (!isObject(part)) continue;
    const value = isObject(part['value']) ? part['value']['value'] : part['value'];
    const { kind } = part;
    if (kind === undefined || kind === 'markdownContent') {
      const content = isObject(part['content']) ? part['content']['value'] : value;
      text += textOf(content) ?? '';
    } else if (kind === 'inlineReference') text += textOf(part['name']) ?? '';
    else if (kind === 'thinking') {
      flush();
      const thought = textOf(value) ?? joinedText(part['value']);
      if (thought !== '') add(part, [said({ type: 'thinking', text: thought })]);
    } else if (kind === 'toolInvocationSerialized') {
      flush();
      const callId = textOf(part['toolCallId']) ?? '';
      add(part, [
        ...messageParts([{ type: 'tool_use', id: callId, name: part['toolId'], input: {} }], context),
        ...toolResultParts(callId, toolNames, messageOf(part['pastTenseMessage']), false, flags),
      ]);
    } else if (kind === 'textEditGroup') {
      flush();
      add(part, [kept(unreadable('textEditGroup', part))]);
    }
  }
  flush();
  const error = isObject(result['errorDetails']) ? textOf(result['errorDetails']['message']) : undefined;
  if (error !== undefined) add(error, [kept(unreadable('error', error))]);
}

function messageOf(value: unknown): string {
  return textOf(isObject(value) ? value['value'] : value) ?? '';
}

/** `{content: [{value}]}`, where a value may be a tree that was drawn for the model. */
function resultText(answer: unknown): string {
  const content = isObject(answer) && Array.isArray(answer['content']) ? answer['content'].filter(isObject) : [];
  return content.map((part) => textOf(part['value']) ?? textsIn(part['value'], 0).join('')).join('\n');
}

function textsIn(node: unknown, depth: number): string[] {
  if (depth > mostSteps) return [];
  if (Array.isArray(node)) return node.flatMap((one) => textsIn(one, depth + 1));
  if (!isObject(node)) return [];
  const own = typeof node['text'] === 'string' ? [node['text']] : [];
  return [...own, ...textsIn(node['node'] ?? node['children'], depth + 1)];
}

function stateOf(text: string): Json | null {
  const trimmed = text.trimStart();
  if (!/^\{\s*"kind"\s*:\s*\d/.test(trimmed)) {
    const whole = parseForeign(trimmed)?.value;
    return isObject(whole) && Array.isArray(whole['requests']) ? whole : null;
  }
  let state: unknown;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const change = parseForeign(line)?.value;
    // The rest of the last one is still to come; nothing can be built on one that is broken.
    if (!isObject(change)) break;
    if (change['kind'] === 0) state = change['v'];
    else if (Array.isArray(change['k'])) apply(state, change['k'] as unknown[], change);
  }
  return isObject(state) ? state : null;
}

/** Carries out one change; one that fits nothing that is there is passed over. */
function apply(state: unknown, path: readonly unknown[], change: Json): void {
  if (path.length === 0 || path.length > mostSteps) return;
  let at: unknown = state;
  for (const step of path.slice(0, -1)) at = member(at, step);
  const last = path.at(-1);
  if (change['kind'] === 1) set(at, last, change['v']);
  else if (change['kind'] === 3) {
    if (isObject(at) && typeof last === 'string' && Object.hasOwn(at, last)) delete (at as Record<string, unknown>)[last];
  } else if (change['kind'] === 2) {
    const list = member(at, last);
    if (!Array.isArray(list)) return;
    const cut = change['i'];
    if (typeof cut === 'number' && cut >= 0 && cut < list.length) list.length = Math.floor(cut);
    if (Array.isArray(change['v'])) for (const one of change['v'] as unknown[]) list.push(one);
  }
}

function member(of: unknown, step: unknown): unknown {
  if (Array.isArray(of)) return typeof step === 'number' ? (of[step] as unknown) : undefined;
  return isObject(of) && Object.hasOwn(of, wordOf(step)) ? of[wordOf(step)] : undefined;
}

function set(of: unknown, step: unknown, value: unknown): void {
  if (Array.isArray(of)) {
    if (typeof step === 'number' && step >= 0 && step <= of.length) of[step] = value;
  } else if (isObject(of) && typeof step === 'string' && !refused.has(step)) (of as Record<string, unknown>)[step] = value;
}
