import type { LanguageModelChat, LanguageModelChatMessage, LanguageModelChatTool } from 'vscode';
import type * as vscode from 'vscode';
import { imageInWords, type ModelBlock, type ModelRequest } from '../../core/models/modelRequest';
import { ModelError, type ModelEvent, type ModelFailure } from '../../core/models/modelEvent';
import { errorText } from '../../core/errors';
import { english, t } from '../../core/l10n';
import type { Logger } from '../../core/ports';
import type { ModelInfo } from '../../core/models/modelInfo';
import { AnswerBlocks } from '../../node/models/answerBlocks';
import { logFailure } from '../../node/models/streamAnswer';
import { asToolInput, wellFormed } from '../../node/models/requestParts';
import { isContextOverflow, longestDetail } from '../../node/models/failureText';
import { redactedHead } from '../../core/redaction/redactText';
import type { HostedModels } from '../../node/runtime/modelBindings';

/** What is used of the API. */
export type LmApi = Pick<
  typeof vscode,
  | 'CancellationTokenSource'
  | 'LanguageModelChatMessage'
  | 'LanguageModelError'
  | 'LanguageModelTextPart'
  | 'LanguageModelToolCallPart'
  | 'LanguageModelToolResultPart'
> & {
  readonly lm: Pick<typeof vscode.lm, 'selectChatModels'>;
  /** Newer than the oldest VS Code that is supported, and its types. */
  readonly LanguageModelDataPart?: { image(data: Uint8Array, mime: string): object };
};

export interface LmModelsOptions {
  readonly api: LmApi;
  /** Undefined: the user has not been asked yet. */
  readonly canSend: (model: LanguageModelChat) => boolean | undefined;
  readonly log: Logger;
}

type Part = vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart | vscode.LanguageModelToolResultPart;
/** How an image stands in a request: as itself, or in words. */
type Draw = (block: Extract<ModelBlock, { type: 'image' }>) => object | null;

const lmProvider = 'vscode';

/** The API does not tell how long an answer may be. */
const longestOutput = 4_096;

/**
 * The language models that VS Code offers (`vscode.lm`): GitHub Copilot's and those of other extensions. There is no role for the
 * system text, which goes first in the user's first message; there is no usage, and `countTokens` is wrong for some vendors (a
 * constant 4 per message; 0 outside of a request), so sizes stay estimates.
 */
export class LmModels implements HostedModels {
  readonly provider = lmProvider;
  readonly generates = true;
  private readonly consent = new Map<string, LanguageModelChat>();
  /** Models that have refused an image although they are said to see. */
  private readonly blind = new Set<string>();

  constructor(private readonly options: LmModelsOptions) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const { api, log } = this.options;
    const source = new api.CancellationTokenSource();
    let abort = () => {};
    const aborted = new Promise<'aborted'>((resolve) => (abort = () => resolve('aborted')));
    const onAbort = () => {
      source.cancel();
      abort();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) source.cancel();
    const blocks = new AnswerBlocks();
    let called = false;
    try {
      const model = await this.find(request.model);
      const tools: LanguageModelChatTool[] = request.tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema,
      }));
      const options = { justification: justification(), ...(tools.length > 0 ? { tools } : {}) };
      // Asks the user for consent the first time; a provider that does not listen to its token must not hold anybody.
      const send = (draw: Draw) => Promise.race([model.sendRequest(this.messages(request, draw), options, source.token), aborted]);
      const draw = this.drawing(model, request);
      const response = await send(draw ?? inWords).catch((error: unknown) => {
        if (!draw || !/\b(image|vision|picture|proposal)/i.test(errorText(error))) throw error;
        this.blind.add(idOf(model));
        return send(inWords);
      });
      if (response === 'aborted') throw new Error('aborted');
      const parts = response.stream[Symbol.asyncIterator]();
      for (;;) {
        const next = await Promise.race([parts.next(), aborted]);
        if (next === 'aborted') throw new Error('aborted');
        if (next.done) break;
        if (next.value instanceof api.LanguageModelTextPart) yield* blocks.add('text', next.value.value);
        else if (next.value instanceof api.LanguageModelToolCallPart) {
          called = true;
          const { callId, name, input } = next.value;
          yield* blocks.call(callId, { id: callId, name, input });
          // A call comes whole.
          yield* blocks.finish();
        }
      }
      yield* blocks.finish();
      yield { type: 'stopped', reason: called ? 'tool_use' : 'end_turn' };
    } catch (error) {
      const failure: ModelFailure = signal.aborted
        ? { reason: 'cancelled', detail: '' }
        : ModelError.is(error)
          ? error.failure
          : this.failureOf(error);
      logFailure(log, request.model, failure);
      yield { type: 'failed', failure };
    } finally {
      signal.removeEventListener('abort', onAbort);
      source.dispose();
    }
  }

  async listModels(): Promise<ModelInfo[]> {
    try {
      const models = await this.options.api.lm.selectChatModels();
      for (const model of models) this.consent.set(idOf(model), model);
      return models.map((model) => infoOf(model));
    } catch (error) {
      throw new ModelError(this.failureOf(error));
    }
  }

  async describe(model: string): Promise<ModelInfo> {
    return infoOf(await this.find(model));
  }

  needsConsent(model: string): boolean {
    const found = this.consent.get(model);
    return found === undefined || this.options.canSend(found) !== true;
  }

  private async find(id: string): Promise<LanguageModelChat> {
    const models = await this.options.api.lm.selectChatModels();
    const found = models.find((model) => idOf(model) === id || model.id === id);
    if (!found)
      throw new ModelError({
        reason: 'unknown_model',
        detail:
          models.length === 0
            ? english(
                'VS Code offers no language model at the moment: sign in to GitHub Copilot, or install an extension that brings models.',
              )
            : english('VS Code does not offer {0} at the moment.', id),
      });
    this.consent.set(id, found);
    return found;
  }

  /** Null: in words, because there is no image, or the model or this VS Code takes none. */
  private drawing(model: LanguageModelChat, { messages }: ModelRequest): Draw | null {
    const { LanguageModelDataPart: Data } = this.options.api;
    const { capabilities } = model as { readonly capabilities?: { readonly supportsImageToText?: boolean } };
    if (!Data || capabilities?.supportsImageToText !== true || this.blind.has(idOf(model))) return null;
    if (!messages.some(({ blocks }) => blocks.some(({ type }) => type === 'image'))) return null;
    return ({ data, mime }) => Data.image(Buffer.from(data, 'base64'), mime);
  }

  private messages({ system, systemSummary, messages }: ModelRequest, draw: Draw): LanguageModelChatMessage[] {
    const {
      LanguageModelChatMessage: Message,
      LanguageModelTextPart: Text,
      LanguageModelToolCallPart: Call,
      LanguageModelToolResultPart: Result,
    } = this.options.api;
    const head = [system, systemSummary ?? ''].filter((part) => part.trim() !== '').join('\n\n');
    const all: LanguageModelChatMessage[] = [];
    const said = (text: string) => new Text(wellFormed(text));
    const partOf = (block: ModelBlock): readonly Part[] => {
      if (block.type === 'text') return block.text.trim() === '' ? [] : [said(block.text)];
      if (block.type === 'image') return [(draw(block) as Part | null) ?? said(imageInWords(block))];
      if (block.type === 'tool_use') return [new Call(block.callId, block.name, asToolInput(block.input))];
      if (block.type === 'tool_result')
        return [new Result(block.callId, [said(block.isError && !/^error\b/i.test(block.text) ? `Error: ${block.text}` : block.text)])];
      return [];
    };
    for (const [at, { role, blocks }] of messages.entries()) {
      const parts = blocks.flatMap(partOf);
      if (role === 'assistant') {
        if (parts.length > 0) all.push(Message.Assistant(parts as (vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart)[]));
        continue;
      }
      const first = at === 0 && head !== '' ? [said(head)] : [];
      if (first.length + parts.length > 0)
        all.push(Message.User([...first, ...parts] as (vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart)[]));
    }
    return all;
  }

  /** Vendors put what matters into the text: the API has codes for three cases only. */
  private failureOf(error: unknown): ModelFailure {
    const detail = redactedHead(
      [errorText(error), ...(error instanceof Error && error.cause ? [errorText(error.cause)] : [])]
        .filter((text) => text !== '')
        .join(' '),
      longestDetail,
    );
    const code = error instanceof this.options.api.LanguageModelError ? error.code : '';
    if (code === 'NoPermissions')
      return {
        reason: 'invalid_request',
        detail: english(
          'Threadkeeper may not use this model. Allow it in the Accounts menu under “Manage Language Model Access…”, or choose another. {0}',
          detail,
        ).trim(),
      };
    if (code === 'NotFound') return { reason: 'unknown_model', detail };
    if (/\b(quota|premium requests?|allowance|billing|credits?)\b/i.test(detail)) return { reason: 'quota', detail };
    if (code === 'Blocked' || /\brate.?limit|too many requests|\b429\b/i.test(detail)) return { reason: 'rate_limited', detail };
    if (isContextOverflow(detail) || /\b(token limit|too many tokens)\b/i.test(detail)) return { reason: 'overflow', detail };
    if (/\b(content.?filter|responsible ai|filtered|off.?topic)\b/i.test(detail)) return { reason: 'refused', detail };
    if (/\b529\b|\boverloaded\b/i.test(detail)) return { reason: 'overloaded', detail };
    if (/\bnet::ERR_|\bE(CONN|NOTFOUND|PIPE|AI_AGAIN|TIMEDOUT)|\bfetch failed\b|\bsocket hang up\b/.test(detail))
      return { reason: 'network', detail };
    // Asking again would not help.
    if (/\b(request failed|status)\b\D{0,8}4(?!08)\d\d\b/i.test(detail)) return { reason: 'invalid_request', detail };
    return { reason: 'server', detail };
  }
}

const inWords: Draw = () => null;

const justification = () => t('Threadkeeper sends your conversation to the model that you chose.');

/** Ids are unique within a vendor only. */
function idOf({ vendor, id }: LanguageModelChat): string {
  return `${vendor}/${id}`;
}

function infoOf(model: LanguageModelChat): ModelInfo {
  const window = model.maxInputTokens > 0 ? model.maxInputTokens : 8_192;
  // The limit is on the input alone.
  return {
    provider: lmProvider,
    id: idOf(model),
    name: model.name || model.id,
    window: window + longestOutput,
    maxOutput: longestOutput,
    source: 'provider',
    thinking: 'none',
  };
}
