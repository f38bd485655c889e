import { HandoverLines, isoTime, type HandoverFile, type HandoverInput } from './handoverFile';

/** The version that has resumed files of this form. */
const version = '0.15.10';

/** A chat of Qwen Code: a chain like that of Claude Code, with messages in the shape of Google's API; each result is a line. */
export function qwenChat({ history, session, cwd, id }: HandoverInput): HandoverFile {
  const lines = new HandoverLines();
  let parentUuid: string | null = null;
  const add = (at: number, entry: string, record: object) => {
    const uuid = id();
    lines.add({ uuid, parentUuid, sessionId: session, timestamp: isoTime(at), cwd, version, ...record }, uuid, entry);
    parentUuid = uuid;
  };
  for (const { role, text, calls, entry, at, model } of history.steps) {
    if (role === 'user') {
      add(at, entry, { type: 'user', message: { role: 'user', parts: [{ text }] } });
      continue;
    }
    const parts = [
      ...(text === '' ? [] : [{ text }]),
      ...calls.map((call) => ({ functionCall: { id: call.id, name: call.name, args: call.input } })),
    ];
    add(at, calls.at(-1)?.entry ?? entry, { type: 'assistant', model: model ?? 'unknown', message: { role: 'model', parts } });
    for (const { id: callId, name, result, at: calledAt } of calls) {
      const response = result.isError ? { error: result.text } : { output: result.text };
      add(calledAt, result.entry, {
        type: 'tool_result',
        message: { role: 'user', parts: [{ functionResponse: { id: callId, name, response } }] },
        toolCallResult: { callId, status: result.isError ? 'error' : 'success' },
      });
    }
  }
  return { path: `${cwd.replace(/[^A-Za-z0-9]/g, '-')}/chats/${session}.jsonl`, text: lines.text, session, records: lines.records };
}
