import type * as vscode from 'vscode';
import type { LmApi } from '../../../src/vscode/models/lmModels';
import { reply, type Script } from '../messagesApi/messagesApiScript';
import { textTokens } from '../messagesApi/messagesApiTokens';

class TextPart {
  constructor(readonly value: string) {}
}
class CallPart {
  constructor(
    readonly callId: string,
    readonly name: string,
    readonly input: object,
  ) {}
}
class ResultPart {
  constructor(
    readonly callId: string,
    readonly content: readonly unknown[],
  ) {}
}
class DataPart {
  private constructor(
    readonly data: Uint8Array,
    readonly mimeType: string,
  ) {}
  static image(data: Uint8Array, mime: string): DataPart {
    return new DataPart(data, mime);
  }
}
class LmError extends Error {
  constructor(
    message: string,
    readonly code = '',
  ) {
    super(message);
  }
}

export interface LmMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly unknown[];
}

/** The part of VS Code's API that offers language models, with one model behind it. */
export class LmDouble {
  readonly requests: { readonly messages: readonly LmMessage[]; readonly options: unknown; readonly released: Promise<void> }[] = [];
  models: vscode.LanguageModelChat[];
  /** Whether this VS Code has parts for images. */
  hasDataParts = false;
  private readonly queue: (Script | Error)[] = [];

  constructor(
    readonly maxInputTokens: number,
    /** What it really takes. */
    private readonly window = maxInputTokens,
  ) {
    const double = {
      id: 'double',
      vendor: 'acme',
      family: 'double',
      version: '1',
      name: 'Acme Double',
      maxInputTokens,
      countTokens: async () => 4,
      sendRequest: (messages: LmMessage[], options: unknown, token: vscode.CancellationToken) => this.answer(messages, options, token),
    };
    this.models = [double as unknown as vscode.LanguageModelChat];
  }

  enqueue(...scripts: readonly (Script | Error)[]): void {
    this.queue.push(...scripts);
  }

  error(message: string, code?: string): Error {
    return new LmError(message, code);
  }

  get api(): LmApi {
    return {
      lm: { selectChatModels: async () => this.models },
      LanguageModelTextPart: TextPart,
      LanguageModelToolCallPart: CallPart,
      LanguageModelToolResultPart: ResultPart,
      ...(this.hasDataParts ? { LanguageModelDataPart: DataPart } : {}),
      LanguageModelError: LmError,
      LanguageModelChatMessage: {
        User: (parts: unknown[]): LmMessage => ({ role: 'user', parts }),
        Assistant: (parts: unknown[]): LmMessage => ({ role: 'assistant', parts }),
      },
      CancellationTokenSource: class {
        private listeners: (() => void)[] = [];
        readonly token = {
          isCancellationRequested: false,
          onCancellationRequested: (listener: () => void) => void this.listeners.push(listener),
        };
        cancel() {
          this.token.isCancellationRequested = true;
          for (const listener of this.listeners) listener();
        }
        dispose() {}
      },
    } as unknown as LmApi;
  }

  private async answer(messages: readonly LmMessage[], options: unknown, token: vscode.CancellationToken): Promise<unknown> {
    const cancelled = new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()));
    this.requests.push({ messages, options, released: cancelled });
    checkTurns(messages);
    if (textTokens(JSON.stringify(messages)) > this.window) throw new LmError('Message exceeds token limit.');
    const script = this.queue.shift() ?? reply('You said something.');
    if (script instanceof Error) throw script;
    if (script.kind === 'drop') throw new LmError('net::ERR_CONNECTION_CLOSED');
    // As GitHub Copilot puts it.
    if (script.kind === 'fault')
      throw new LmError(`Request Failed: ${script.status} ${JSON.stringify({ error: { message: script.message, code: script.type } })}`);
    return { stream: play(script, cancelled), text: (async function* () {})() };
  }
}

async function* play(script: Extract<Script, { kind: 'reply' }>, cancelled: Promise<void>): AsyncGenerator<unknown> {
  for (const block of script.blocks) {
    if (block.type === 'redacted_thinking') continue;
    if (block.type === 'tool_use') {
      yield new CallPart(block.id, block.name, parsed(block.json));
      continue;
    }
    for (const piece of block.pieces) {
      if (typeof piece === 'string') yield new TextPart(piece);
      else if (piece.kind === 'hold') {
        piece.reach();
        await Promise.race([piece.released, cancelled]);
      } else throw new LmError(piece.kind === 'cut' && piece.error ? piece.error.message : 'net::ERR_CONNECTION_CLOSED');
    }
  }
  if (script.stopReason === 'refusal') throw new LmError('Response got filtered by content filter.');
}

/** As vendors demand it: every call is answered in the very next message, and nothing else is. */
function checkTurns(messages: readonly LmMessage[]): void {
  let open = new Set<string>();
  for (const { parts } of messages) {
    for (const part of parts) if (part instanceof ResultPart && !open.delete(part.callId)) throw new LmError(`No call ${part.callId}`);
    if (open.size > 0) throw new LmError('A call has no result.');
    open = new Set(parts.flatMap((part) => (part instanceof CallPart ? [part.callId] : [])));
  }
  if (open.size > 0) throw new LmError('A call has no result.');
}

/** Providers parse the input; what they cannot read they leave out. */
function parsed(json: string): object {
  try {
    return JSON.parse(json) as object;
  } catch {
    return {};
  }
}
