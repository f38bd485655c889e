import { unreadable } from '../rawEntry';
import { kept, type SourceEvent } from '../sourceRecord';
import { isObject, timeOf } from './jsonShape';
import { messageParts } from './messageBlocks';

/**
 * `api_conversation_history.json` of Cline and Roo: messages of the Messages API, in order. What Roo has condensed or cut off is
 * marked on the messages, and its summary is one of them: so they are kept out of the prompt one by one.
 */
export function taskEvents(id: string, messages: readonly unknown[], hashOf: (value: unknown) => string): SourceEvent[] {
  const toolNames = new Map<string, string>();
  const first = messages.find(isObject);
  const createdAt = timeOf(first?.['ts']) ?? timeOf(Number(id));
  return [
    { type: 'session', session: { id, ...(createdAt === null ? {} : { createdAt }) } },
    ...messages.map((message, i): SourceEvent => {
      const record = { id: `m${i}`, parent: undefined, hash: hashOf(message) };
      if (!isObject(message) || (message['role'] !== 'user' && message['role'] !== 'assistant'))
        return { type: 'record', record: { ...record, at: null, parts: [kept(unreadable('message', message))] } };
      const modelFacing =
        message['condenseParent'] === undefined && message['truncationParent'] === undefined && message['isTruncationMarker'] !== true;
      return {
        type: 'record',
        record: {
          ...record,
          at: timeOf(message['ts']),
          parts: messageParts(message['content'], { role: message['role'], toolNames, modelFacing, display: true }),
        },
      };
    }),
  ];
}
