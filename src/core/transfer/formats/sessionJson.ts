import { noted, type SourceEvent } from '../sourceRecord';
import { chatMessageParts, field, list } from './chatCompletion';
import { foreignCompaction } from './foldRecord';
import { isObject, textOf, timeOf, type Json } from './jsonShape';

/**
 * One JSON file for each session: `key` (`telegram:123456`), `messages`, `summary`, `created`, `updated`. The summary stands for messages
 * that the program has cut off. It cuts from the front, so a message is known by its content, not by its place.
 */
export function sessionJsonEvents(session: Json, fallbackId: string, hashOf: (value: unknown) => string): SourceEvent[] {
  const key = textOf(field(session, 'key')) ?? fallbackId;
  const createdAt = timeOf(field(session, 'created'));
  const updatedAt = timeOf(field(session, 'updated'));
  const summary = textOf(field(session, 'summary')) ?? '';
  const toolNames = new Map<string, string>();
  const open: string[] = [];
  const counts = new Map<string, number>();
  const records = list(field(session, 'messages')).map((message): Extract<SourceEvent, { type: 'record' }> => {
    const hash = hashOf(message);
    const count = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, count);
    return {
      type: 'record',
      record: {
        id: `${hash}~${count}`,
        parent: undefined,
        at: null,
        hash,
        parts: chatMessageParts(isObject(message) ? message : {}, toolNames, open),
      },
    };
  });
  const fold = foreignCompaction(`${key}/${hashOf(summary)}`, summary, records[0]?.record.id ?? null, 0);
  return [
    { type: 'session', session: { id: key, ...(createdAt === null ? {} : { createdAt }), metadata: { sessionKey: key } } },
    ...records,
    ...(summary === ''
      ? []
      : [
          {
            type: 'record',
            record: { id: `summary~${hashOf(summary)}`, parent: undefined, at: updatedAt, hash: hashOf(summary), parts: [noted(fold)] },
          } as const,
        ]),
  ];
}
