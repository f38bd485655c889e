import { untilAborted } from '../../../src/core/base/untilAborted';
import type { ModelClient } from '../../../src/core/ports';
import type { ModelEvent, ModelFailure, TokenUsage } from '../../../src/core/models/modelEvent';
import type { ModelInfo } from '../../../src/core/models/modelInfo';
import type { ModelRequest } from '../../../src/core/models/modelRequest';

/** One answer: what the client yields. A function sees the request first; `hold` waits until the test lets go. */
export type Script =
  | readonly (ModelEvent | { readonly hold: Promise<void> })[]
  | ((request: ModelRequest) => readonly (ModelEvent | { readonly hold: Promise<void> })[]);

export function says(text: string, usage?: Partial<TokenUsage>, pieces = 3): ModelEvent[] {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  const deltas: ModelEvent[] = [];
  for (let i = 0; i < text.length; i += size) deltas.push({ type: 'text_delta', index: 0, text: text.slice(i, i + size) });
  return [
    ...deltas,
    { type: 'block', index: 0, block: { type: 'text', text } },
    ...(usage ? [{ type: 'usage' as const, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...usage } }] : []),
    { type: 'stopped', reason: 'end_turn' },
  ];
}

export function calls(name: string, input: unknown, callId: string): ModelEvent[] {
  return [
    { type: 'block', index: 0, block: { type: 'tool_use', callId, name, input } },
    { type: 'stopped', reason: 'tool_use' },
  ];
}

export function fails(reason: ModelFailure['reason'], over: Partial<ModelFailure> = {}): ModelEvent[] {
  return [{ type: 'failed', failure: { reason, detail: `${reason} by script`, ...over } }];
}

/** A model client that plays scripts in order and remembers what it was asked. Honours the abort signal. */
export class ScriptedModel implements ModelClient {
  readonly provider = 'scripted';
  readonly requests: ModelRequest[] = [];
  /** Absent, as for a provider of whose cache nothing is known, unless a test sets it. */
  cacheRules?: NonNullable<ModelClient['cacheRules']>;
  /** Absent, as for a provider that cannot count, unless a test sets it. */
  countTokens?: NonNullable<ModelClient['countTokens']>;

  constructor(
    readonly info: Pick<ModelInfo, 'window' | 'maxOutput'>,
    readonly scripts: Script[] = [],
    readonly generates = true,
  ) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    this.requests.push(request);
    const script = this.scripts.shift();
    if (!script) {
      yield { type: 'failed', failure: { reason: 'invalid_request', detail: 'the script has no more answers' } };
      return;
    }
    for (const event of typeof script === 'function' ? script(request) : script) {
      if ('hold' in event) await untilAborted(event.hold, signal, () => undefined);
      else if (!signal.aborted) yield event;
      if (signal.aborted) {
        yield { type: 'failed', failure: { reason: 'cancelled', detail: '' } };
        return;
      }
    }
  }

  async listModels(): Promise<ModelInfo[]> {
    return [await this.describe('scripted-1')];
  }

  async describe(model: string): Promise<ModelInfo> {
    return { provider: this.provider, id: model, name: model, ...this.info, source: 'provider' };
  }
}
