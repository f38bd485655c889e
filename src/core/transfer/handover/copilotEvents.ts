import { HandoverLines, isoTime, type HandoverFile, type HandoverInput } from './handoverFile';

/** The version that has resumed files of this form. */
const version = '1.0.102';

/** The events of a session of Copilot CLI: a chain of what was said, called and returned. */
export function copilotEvents({ history, session, cwd, now, id }: HandoverInput): HandoverFile {
  const lines = new HandoverLines();
  let parentId: string | null = null;
  const first = history.steps[0]?.entry;
  const add = (type: string, data: object, at: number, entry: string | undefined) => {
    const own = id();
    lines.add({ type, data, id: own, timestamp: isoTime(at), parentId }, own, entry);
    parentId = own;
  };
  add(
    'session.start',
    { sessionId: session, version: 1, producer: 'copilot-agent', copilotVersion: version, startTime: isoTime(now), context: { cwd } },
    now,
    first,
  );
  for (const { role, text, calls, entry, at, model } of history.steps) {
    if (role === 'user') {
      add('user.message', { content: text, transformedContent: text, attachments: [] }, at, entry);
      continue;
    }
    const toolRequests = calls.map((call) => ({ toolCallId: call.id, name: call.name, arguments: call.input, type: 'function' }));
    add(
      'assistant.message',
      { messageId: id(), content: text, toolRequests, ...(model === null ? {} : { model }) },
      at,
      calls.at(-1)?.entry ?? entry,
    );
    for (const call of calls) {
      add('tool.execution_start', { toolCallId: call.id, toolName: call.name, arguments: call.input }, call.at, call.entry);
      add(
        'tool.execution_complete',
        {
          toolCallId: call.id,
          success: !call.result.isError,
          ...(call.result.isError ? { error: { message: call.result.text } } : { result: { content: call.result.text } }),
        },
        call.at,
        call.result.entry,
      );
    }
  }
  return { path: `${session}/events.jsonl`, text: lines.text, session, records: lines.records };
}
