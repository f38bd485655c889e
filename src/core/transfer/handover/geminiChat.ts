import { HandoverLines, isoTime, type HandoverFile, type HandoverInput } from './handoverFile';

/** A chat of Gemini CLI: a header, then messages; results stand within the calls of an answer. */
export function geminiChat({ history, session, now, project, id }: HandoverInput): HandoverFile {
  const lines = new HandoverLines();
  lines.add({ sessionId: session, projectHash: project.hash, startTime: isoTime(now), lastUpdated: isoTime(now), kind: 'main' });
  for (const { role, text, calls, entry, at, model } of history.steps) {
    const own = id();
    const frame = { id: own, timestamp: isoTime(at) };
    if (role === 'user') {
      lines.add({ ...frame, type: 'user', content: [{ text }] }, own, entry);
      continue;
    }
    const toolCalls = calls.map((call) => ({
      id: call.id,
      name: call.name,
      args: call.input,
      result: [
        {
          functionResponse: {
            id: call.id,
            name: call.name,
            response: call.result.isError ? { error: call.result.text } : { output: call.result.text },
          },
        },
      ],
      status: call.result.isError ? 'error' : 'success',
      timestamp: isoTime(call.at),
    }));
    const isOwnModel = model?.startsWith('gemini-') === true;
    lines.add(
      {
        ...frame,
        type: 'gemini',
        content: text,
        thoughts: [],
        ...(isOwnModel ? { model } : {}),
        ...(calls.length > 0 ? { toolCalls } : {}),
      },
      own,
      entry,
    );
    for (const [i, call] of calls.entries()) {
      lines.records[`${own}/c${i}`] = call.entry;
      lines.records[`${own}/r${i}`] = call.result.entry;
    }
  }
  const minute = isoTime(now).slice(0, 16).replace(':', '-');
  return {
    path: `${project.slug}/chats/session-${minute}-${session.slice(0, 8)}.jsonl`,
    text: lines.text,
    session,
    records: lines.records,
  };
}
