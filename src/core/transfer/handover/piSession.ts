import { HandoverLines, isoTime, type HandoverFile, type HandoverInput } from './handoverFile';

const usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** A session of pi, version 3: a header, and messages that follow each other; each result is one. */
export function piSession({ history, session, cwd, title, now, id }: HandoverInput): HandoverFile {
  const lines = new HandoverLines();
  lines.add({ type: 'session', version: 3, id: session, timestamp: isoTime(now), cwd });
  let parentId: string | null = null;
  const add = (at: number, entry: string, record: object) => {
    // Ids of its own have 8 digits; the end of a UUID is what differs.
    const own = id().slice(-8);
    lines.add({ ...record, id: own, parentId, timestamp: isoTime(at) }, own, entry);
    parentId = own;
  };
  if (title !== '' && history.steps[0]) add(now, history.steps[0].entry, { type: 'session_info', name: title });
  for (const { role, text, calls, entry, at, model } of history.steps) {
    const content = [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map((call) => ({ type: 'toolCall', id: call.id, name: call.name, arguments: call.input })),
    ];
    add(at, calls.at(-1)?.entry ?? entry, {
      type: 'message',
      message:
        role === 'user'
          ? { role, content, timestamp: at }
          : {
              role,
              content,
              api: 'anthropic-messages',
              provider: 'anthropic',
              model: model ?? 'unknown',
              usage,
              stopReason: calls.length > 0 ? 'toolUse' : 'stop',
              timestamp: at,
            },
    });
    for (const call of calls)
      add(call.at, call.result.entry, {
        type: 'message',
        message: {
          role: 'toolResult',
          toolCallId: call.id,
          toolName: call.name,
          content: [{ type: 'text', text: call.result.text }],
          isError: call.result.isError,
          timestamp: call.at,
        },
      });
  }
  const folder = `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`;
  return { path: `${folder}/${isoTime(now).replace(/[:.]/g, '-')}_${session}.jsonl`, text: lines.text, session, records: lines.records };
}
