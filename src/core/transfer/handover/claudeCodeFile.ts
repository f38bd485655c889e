import type { HandedCall, HandedStep } from './handedStep';
import { HandoverLines, isoTime, type HandoverFile, type HandoverInput } from './handoverFile';

/** The version that has resumed files of this form. */
const version = '2.1.330';
const usage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
/** Another name than one of its own only brings up a notice. */
const someModel = 'claude-sonnet-4-5';

/**
 * A session of Claude Code: a chain of lines, one for every block of an answer, and one with all results of its calls. Its name stands
 * behind the rest, where the program writes it too.
 */
export function claudeCodeFile({ history, session, cwd, title, id }: HandoverInput): HandoverFile {
  const lines = new HandoverLines();
  let parent: string | null = null;
  const add = (type: 'user' | 'assistant', message: object, at: number, entry: string) => {
    const uuid = id();
    lines.add(
      {
        parentUuid: parent,
        isSidechain: false,
        userType: 'external',
        cwd,
        sessionId: session,
        version,
        type,
        message,
        uuid,
        timestamp: isoTime(at),
      },
      uuid,
      entry,
    );
    parent = uuid;
  };
  for (const step of history.steps) {
    if (step.role === 'user') {
      add('user', { role: 'user', content: step.text }, step.at, step.entry);
      continue;
    }
    const message = `msg_${id().replaceAll('-', '')}`;
    for (const block of blocksOf(step)) {
      const content = {
        id: message,
        type: 'message',
        role: 'assistant',
        model: step.model?.startsWith('claude-') ? step.model : someModel,
        content: [block.value],
        stop_reason: step.calls.length > 0 ? 'tool_use' : 'end_turn',
        stop_sequence: null,
        usage,
      };
      add('assistant', content, block.at, block.entry);
    }
    const last = step.calls.at(-1);
    if (last) add('user', { role: 'user', content: step.calls.map(resultOf) }, last.at, last.result.entry);
  }
  const end = history.steps.at(-1);
  if (title !== '' && end) lines.add({ type: 'custom-title', customTitle: title, sessionId: session }, `L${lines.count}`, end.entry);
  return { path: `${cwd.replace(/[^A-Za-z0-9]/g, '-')}/${session}.jsonl`, text: lines.text, session, records: lines.records };
}

function blocksOf({ text, calls, entry, at }: HandedStep): { readonly value: object; readonly entry: string; readonly at: number }[] {
  return [
    ...(text === '' ? [] : [{ value: { type: 'text', text }, entry, at }]),
    ...calls.map((call) => ({
      value: { type: 'tool_use', id: call.id, name: call.name, input: call.input },
      entry: call.entry,
      at: call.at,
    })),
  ];
}

function resultOf({ id, result }: HandedCall): object {
  return { type: 'tool_result', tool_use_id: id, content: result.text, is_error: result.isError };
}
