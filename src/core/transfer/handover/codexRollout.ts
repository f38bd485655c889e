import { HandoverLines, isoTime, type HandoverFile, type HandoverInput } from './handoverFile';

/** The version that has resumed files of this form. */
const version = '0.169.0';

/**
 * A rollout of Codex: what the model sees (`response_item`), and beside each message what is shown of it (`event_msg`). Its importer
 * names records by their lines, and reads the first kind only.
 */
export function codexRollout({ history, session, cwd, now }: HandoverInput): HandoverFile {
  const lines = new HandoverLines();
  const add = (at: number, type: string, payload: object, entry?: string) =>
    lines.add({ timestamp: isoTime(at), type, payload }, entry === undefined ? undefined : `L${lines.count}`, entry);
  add(now, 'session_meta', { id: session, timestamp: isoTime(now), cwd, originator: 'codex_cli_rs', cli_version: version, source: 'cli' });
  for (const { role, text, calls, entry, at } of history.steps) {
    if (text !== '') {
      const isUser = role === 'user';
      add(at, 'response_item', { type: 'message', role, content: [{ type: isUser ? 'input_text' : 'output_text', text }] }, entry);
      add(at, 'event_msg', { type: isUser ? 'user_message' : 'agent_message', message: text });
    }
    for (const call of calls)
      add(
        call.at,
        'response_item',
        { type: 'function_call', name: call.name, arguments: JSON.stringify(call.input), call_id: call.id },
        call.entry,
      );
    for (const { id, result, at: calledAt } of calls)
      add(calledAt, 'response_item', { type: 'function_call_output', call_id: id, output: result.text }, result.entry);
  }
  const [date = '', time = ''] = isoTime(now).split('T');
  const name = `rollout-${date}T${time.slice(0, 8).replaceAll(':', '-')}-${session}.jsonl`;
  return { path: `${date.replaceAll('-', '/')}/${name}`, text: lines.text, session, records: lines.records };
}
