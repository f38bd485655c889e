import type { ModelBinding } from '../context/engine';
import type { TokenUsage } from '../models/modelEvent';
import { english } from '../l10n';
import { modelTurnError, wholeError } from './turn/turnError';

export interface SingleAnswer {
  /** What arrived, also of an answer that broke off. */
  readonly text: string;
  /** Why it is not complete, in words for the user; null when it is. */
  readonly problem: string | null;
  /** The provider has reported this so far; null when it has not. */
  readonly usage: TokenUsage | null;
}

const system =
  'Answer the question in Markdown, directly. It stands alone: there is no conversation before it, and none follows. Say what you do not know.';
/** Tokens: the default room for an answer (`outputTokens` of the policies). */
const longestAnswer = 8_192;

/** One question to a model, without any history: nothing is loaded, stored or nudged, and no tool is offered. Never rejects. */
export async function askOnce(
  { client, info }: ModelBinding,
  question: string,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<SingleAnswer> {
  let text = '';
  let usage: TokenUsage | null = null;
  const request = {
    model: info.id,
    system,
    tools: [],
    messages: [{ role: 'user' as const, blocks: [{ type: 'text' as const, text: question }] }],
    maxOutputTokens: Math.min(info.maxOutput, longestAnswer),
  };
  for await (const event of client.stream(request, signal)) {
    if (event.type === 'text_delta') onText((text += event.text));
    else if (event.type === 'failed') return { text, usage, problem: wholeError(modelTurnError(event.failure, info.id)) };
    else if (event.type === 'usage') usage = event.usage;
    else if (event.type === 'stopped') return { text, usage, problem: whyNotWhole(event.reason, text) };
  }
  return { text, usage, problem: null };
}

function whyNotWhole(reason: string, text: string): string | null {
  if (reason === 'max_tokens') return english('The answer reached the length limit and was cut.');
  if (reason === 'model_context_window_exceeded') return english('The answer was cut because the window is full.');
  return text.trim() === '' ? english('The model gave no answer. Try again, or rephrase the message.') : null;
}
