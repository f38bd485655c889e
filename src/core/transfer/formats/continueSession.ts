import { kept, noted, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { messageParts, toolResultParts, foreignCompaction } from './messageBlocks';
import { parseForeign, tooDeep, joinedText, textOf, timeOf, wordOf } from './foreignJson';
import { isObject, type Json } from '../../base/json';

/** What it calls sessions that have no title. */
const untitled = new Set(['', 'Untitled Session', 'New Session']);

/**
 * A session file of Continue: one object with a `history`. An item may carry the summary of everything up to it. Results of calls stand in
 * messages of their own, or, since its command line, only in the state of the call beside the message that made it.
 */
export function continueEvents(session: Json, fallbackId: string, hashOf: (value: unknown) => string): SourceEvent[] {
  const id = textOf(session['sessionId']) ?? fallbackId;
  const title = textOf(session['title']) ?? '';
  const createdAt = timeOf(session['dateCreated']);
  const toolNames = new Map<string, string>();
  const history: readonly unknown[] = Array.isArray(session['history']) ? session['history'] : [];
  const answered = new Set(history.flatMap(resultsIn));
  return [
    {
      type: 'session',
      session: {
        id,
        cwd: textOf(session['workspaceDirectory'])?.replace(/^file:\/\//, '') ?? null,
        ...(createdAt === null ? {} : { createdAt }),
      },
    },
    ...(untitled.has(title) ? [] : [{ type: 'title', title, rank: 2 } as const]),
    ...history.flatMap((item, i): SourceEvent[] => {
      const cut: SourceEvent[] = [];
      const all = isObject(item) ? item : {};
      const { message: value, conversationSummary, contextItems, toolCallStates } = all;
      const message = isObject(value) ? value : null;
      const summary = textOf(conversationSummary) ?? '';
      // What stands beside the message goes on changing while the session is followed; what was said does not.
      const hash = hashOf(message ?? item);
      const former = formerHashes(item, hashOf);
      const parts = [
        ...(message === null
          ? [kept(unreadable('item', item))]
          : messageOf(message, toolNames, () => cut.push({ type: 'repaired', kind: tooDeep() }))),
        ...(Array.isArray(contextItems) && contextItems.length > 0 ? [kept(unreadable('contextItems', contextItems))] : []),
      ];
      // The summary comes to a message that stands there already.
      const folds = (summary === '' ? [] : [hashOf(summary)]).map((of) => {
        const part = noted(foreignCompaction(`${id}/m${i}/${of}`, summary, null, 0));
        return { id: `m${i}/summary`, parent: undefined, at: null, hash: of, parts: [part] };
      });
      const names = (part: number) => former.map((one) => ({ id: `m${i}`, hash: one, part }));
      return [
        ...cut,
        { type: 'record', record: { id: `m${i}`, parent: undefined, at: null, hash, parts, former: names(0) } },
        ...statesOf(toolCallStates)
          .filter(({ id: call }) => !answered.has(call))
          .map(
            ({ id: call, output, isError }): SourceEvent => ({
              type: 'record',
              record: {
                id: `m${i}/${call}`,
                parent: undefined,
                at: null,
                hash: hashOf([output, isError]),
                parts: toolResultParts(call, toolNames, output, isError, { display: true, modelFacing: true }),
              },
            }),
          ),
        ...folds.map((fold): SourceEvent => ({ type: 'record', record: { ...fold, former: names(parts.length) } })),
      ];
    }),
  ];
}

/** Up to 1.0 a message had the hash of its whole item, then that without the states: imported so, it is known again. */
function formerHashes(item: unknown, hashOf: (value: unknown) => string): string[] {
  if (!isObject(item)) return [];
  const { toolCallStates: _states, ...still } = item;
  const { conversationSummary: _summary, ...unfolded } = item;
  const { toolCallStates: _both, ...neither } = unfolded;
  return [...new Set([still, item, neither, unfolded].map(hashOf))];
}

function resultsIn(item: unknown): string[] {
  const message = isObject(item) && isObject(item['message']) ? item['message'] : {};
  return message['role'] === 'tool' ? [textOf(message['toolCallId']) ?? ''] : [];
}

/** Calls that have come to an end, and what came of them. */
function statesOf(states: unknown): { readonly id: string; readonly output: string; readonly isError: boolean }[] {
  return (Array.isArray(states) ? states : []).filter(isObject).flatMap((state) => {
    const status = state['status'];
    if (status !== 'done' && status !== 'errored' && status !== 'canceled') return [];
    const items: readonly unknown[] = Array.isArray(state['output']) ? state['output'] : [];
    const output = items.flatMap((one) => (isObject(one) ? (textOf(one['content']) ?? []) : [])).join('\n');
    return [{ id: textOf(state['toolCallId']) ?? '', output, isError: status !== 'done' }];
  });
}

function messageOf(message: Json, toolNames: Map<string, string>, onCut: () => void): RecordPart[] {
  switch (message['role']) {
    case 'user':
      return messageParts(message['content'], { role: 'user', toolNames });
    case 'assistant': {
      const calls = Array.isArray(message['toolCalls']) ? (message['toolCalls'] as unknown[]) : [];
      return [
        ...messageParts(message['content'], { role: 'assistant', toolNames }).filter(
          ({ content }) => content.type !== 'message' || content.text !== '',
        ),
        ...messageParts(
          calls.map((call) => callOf(call, onCut)),
          { role: 'assistant', toolNames },
        ),
      ];
    }
    case 'thinking':
      return [said({ type: 'thinking', text: joinedText(message['content']) })];
    case 'tool':
      return toolResultParts(textOf(message['toolCallId']) ?? '', toolNames, message['content'], false, {
        display: true,
        modelFacing: true,
      });
    default:
      return [kept(unreadable(`role:${wordOf(message['role'])}`, message))];
  }
}

function callOf(call: unknown, onCut: () => void): unknown {
  const named = isObject(call) && isObject(call['function']) ? call['function'] : {};
  const given = textOf(named['arguments']) ?? '{}';
  const parsed = parseForeign(given);
  if (parsed && parsed.cut > 0) onCut();
  // A call that was cut off stays as it was written.
  return { type: 'tool_use', id: isObject(call) ? call['id'] : '', name: named['name'], input: parsed ? parsed.value : given };
}
