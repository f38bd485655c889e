import { askOnce, type SingleAnswer } from '../../../core/chat/askOnce';
import { ModelError } from '../../../core/models/modelEvent';
import { modelTurnError, wholeError } from '../../../core/chat/turn/turnError';
import type { ModelBinding } from '../../../core/context/engine';
import { costOf, priceOf } from '../../../core/cost/prices';
import { ModelBindings, offlineModelId } from '../../runtime/modelBindings';
import { UsageError, type Flags } from '../flags';
import { parseProviderFlags } from '../providerFlags';
import { inputLines, parseRunCommand, type OutputLine } from './runLines';
import { stderrLogger } from '../terminal';

/** The model that the flags name, without a history beside it. Throws `UsageError`. */
export async function modelAlone(flags: Flags): Promise<ModelBinding> {
  const { choice, reach, secrets } = parseProviderFlags(flags, process.env);
  if (choice.provider === 'offline')
    throw new UsageError(`--model ${offlineModelId} answers from the history, which is to be left out. Name a model.`);
  return new ModelBindings({ offline: null, log: stderrLogger(secrets), reach }).resolve(choice).catch((error: unknown) => {
    if (ModelError.is(error)) throw new UsageError(wholeError(modelTurnError(error.failure, flags['model']!)));
    throw error;
  });
}

/** The usage of an answer with what it has cost; null where the provider has said nothing. */
export function billed({ client, info }: ModelBinding, { usage }: SingleAnswer): Readonly<Record<string, unknown>> | null {
  return usage && { model: info.id, ...usage, cost: costOf(priceOf({}, client.provider, info.id), usage) };
}

/** `run --no-history`: every line is a question that stands alone. Nothing is loaded, and nothing is stored. */
export async function converseWithoutHistory(flags: Flags, write: (line: OutputLine) => void): Promise<number> {
  const binding = await modelAlone(flags);
  let abort = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const answer = async (id: unknown, text: string, { signal }: AbortController) => {
    write({ type: 'turn_started', id });
    let told = 0;
    const said = await askOnce(
      binding,
      text,
      (whole) => {
        write({ type: 'text_delta', text: whole.slice(told) });
        told = whole.length;
      },
      signal,
    );
    const usage = billed(binding, said);
    if (usage) write({ type: 'usage', kind: 'ask', ...usage });
    write({
      type: 'done',
      id,
      ok: said.problem === null,
      text: said.text,
      ...(said.problem === null ? {} : { error: { message: said.problem } }),
    });
  };
  write({ type: 'ready', sessionId: null, uuid: null, resumed: false });
  let count = 0;
  for await (const line of inputLines(process.stdin)) {
    if (line.trim() === '') continue;
    const parsed = parseRunCommand(line);
    if ('error' in parsed) write({ type: 'error', ...(parsed.id === undefined ? {} : { id: parsed.id }), message: parsed.error });
    else if (parsed.command.cmd === 'send') {
      const { id = ++count, text } = parsed.command;
      const own = abort;
      last = last.then(() => answer(id, text, own));
    } else if (parsed.command.cmd === 'stop') {
      abort.abort();
      abort = new AbortController();
    } else
      write({
        type: 'error',
        ...(parsed.command.id === undefined ? {} : { id: parsed.command.id }),
        message: `"${parsed.command.cmd}" needs a history; this runs with --no-history.`,
      });
  }
  await last;
  return 0;
}
