import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reply, type HttpFault, type Piece, type Reply, type Script, type Step } from '../messagesApi/messagesApiScript';
import { firstTokens, textTokens } from '../messagesApi/messagesApiTokens';
import { holdsHalf } from '../messagesApi/messagesApiValidate';

export interface ServerRequest {
  readonly method: string;
  readonly path: string;
  /** Without the key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly closed: Promise<'finished' | 'aborted'>;
}

/** An answer other than 200. */
export class WireError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: string | null = null,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly rawBody?: string,
  ) {
    super(message);
  }
}

/** A request that was found valid. */
export interface AcceptedChat {
  readonly model: string;
  readonly inputTokens: number;
  readonly maxTokens: number;
  /** Text of the last message. */
  readonly last: string;
  readonly system: string;
  readonly hasTools: boolean;
}

export interface CallPart {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly json: string;
  /** Nothing of the call has been sent before. */
  readonly first: boolean;
}

/** How one kind of server says things; every method returns what goes over the wire. */
export interface ChatWire<C extends AcceptedChat> {
  readonly chatPath: string;
  readonly contentType: string;
  /** Begins an event and does not end it. */
  readonly half: string;
  /** Throws `WireError` for what the server refuses. */
  accept(body: Readonly<Record<string, unknown>>): C;
  text(chat: C, delta: string): string;
  thinking(chat: C, delta: string): string;
  /** `whole`: a server that sends calls in one piece ignores the others. */
  call(chat: C, part: CallPart, whole: boolean): string;
  /** `reason`: `stop`, `length`, `tool_calls` or `content_filter`. */
  end(chat: C, reason: string, outputTokens: number): string;
  error(error: WireError): string;
  /** An error in the middle of an answer, where it is worded otherwise. */
  broken?(error: WireError): string;
  /** Other routes: a JSON value, or undefined when there is no such route. */
  get(path: string, body: Readonly<Record<string, unknown>>): unknown;
}

/** Characters per delta. */
const deltaChars = 24;

/**
 * A model server on the loopback interface that speaks one wire format. Answers come from `enqueue`, then `respond`. A request that
 * is refused uses up no script.
 */
export class ChatServer<C extends AcceptedChat = AcceptedChat> {
  /** Lists of models wait for it. */
  listing: Promise<void> = Promise.resolve();
  readonly requests: ServerRequest[] = [];
  /** What the double itself threw. Empty after a test that went well. */
  readonly errors: unknown[] = [];
  respond: (chat: C) => Script = (chat) => reply(`You said: ${chat.last.slice(0, 120)}`);
  private readonly queue: Script[] = [];

  private constructor(
    private readonly server: Server,
    readonly wire: ChatWire<C>,
    readonly apiKey: string | null,
  ) {
    server.on('request', (request, response) => void this.serve(request, response));
  }

  static async start<C extends AcceptedChat>(wire: ChatWire<C>, apiKey: string | null = null): Promise<ChatServer<C>> {
    const server = createServer();
    // On a busy machine a request may be sent just as a connection is ended for its idleness: that is not the fault a test asks for.
    server.keepAliveTimeout = 0;
    const double = new ChatServer(server, wire, apiKey);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Requests for an answer, whatever became of them. */
  get chats(): readonly ServerRequest[] {
    return this.requests.filter(({ path }) => path === this.wire.chatPath);
  }

  enqueue(...scripts: readonly Script[]): void {
    this.queue.push(...scripts);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<'finished' | 'aborted'>((resolve) =>
      response.once('close', () => resolve(response.writableFinished ? 'finished' : 'aborted')),
    );
    response.on('error', () => undefined);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const raw = Buffer.concat(chunks).toString('utf8');
      const body = (raw === '' ? {} : JSON.parse(raw)) as Record<string, unknown>;
      // As strict as the strictest of them, which read the input of calls as well.
      const isHalf = holdsHalf(raw, body) || callInputs(body).some((input) => holdsHalf(input, JSON.parse(input)));
      const path = new URL(request.url ?? '/', 'http://double').pathname;
      const { authorization, ...others } = request.headers;
      const headers = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)]));
      this.requests.push({ method: request.method ?? '', path, headers, body, closed });
      if (isHalf) throw new WireError(400, 'Failed to parse the request body as JSON: lone leading surrogate in hex escape');
      if (this.apiKey !== null && authorization !== `Bearer ${this.apiKey}`)
        throw new WireError(401, `Incorrect API key provided: ${authorization?.slice(7) ?? ''}.`, 'invalid_api_key');
      if (path === this.wire.chatPath && request.method === 'POST') return await this.answer(body, response, closed);
      await this.listing;
      const found = this.wire.get(path, body);
      if (found === undefined) throw new WireError(404, 'Not Found');
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
    } catch (error) {
      if (!(error instanceof WireError)) this.errors.push(error);
      const fault = error instanceof WireError ? error : new WireError(500, String(error));
      if (!response.headersSent) response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(fault.rawBody ?? this.wire.error(fault));
    }
  }

  private async answer(body: Readonly<Record<string, unknown>>, response: ServerResponse, closed: Promise<unknown>): Promise<void> {
    const chat = this.wire.accept(body);
    const script = this.queue.shift() ?? this.respond(chat);
    if (script.kind === 'drop') return void response.destroy();
    if (script.kind === 'fault') throw wireFault(script);
    const step = (one: Step) => this.step(one, response, closed);
    for (const one of script.before) await step(one);
    response.writeHead(200, { 'content-type': this.wire.contentType }).flushHeaders();
    const output = await this.play(script, chat, response, step);
    if (response.writableEnded || response.destroyed) return;
    const called = script.blocks.some(({ type }) => type === 'tool_use');
    const reason =
      output >= chat.maxTokens
        ? 'length'
        : script.stopReason === 'refusal'
          ? 'content_filter'
          : (script.stopReason ?? (called ? 'tool_calls' : 'stop'));
    response.end(this.wire.end(chat, reason, output));
  }

  /** Tokens of the answer, cut off at the most there may be. */
  private async play(script: Reply, chat: C, response: ServerResponse, step: (one: Step) => Promise<void>): Promise<number> {
    let output = 0;
    for (const [index, block] of script.blocks.entries()) {
      if (block.type === 'redacted_thinking') continue;
      const pieces: readonly Piece[] = block.type === 'tool_use' ? [block.json, ...block.pieces] : block.pieces;
      let first = true;
      for (const piece of pieces) {
        if (response.writableEnded || response.destroyed) return output;
        if (typeof piece !== 'string') {
          await step(piece);
          continue;
        }
        const allowed = firstTokens(piece, chat.maxTokens - output);
        const text = textTokens(piece) > chat.maxTokens - output ? allowed : piece;
        output += textTokens(text);
        const deltas = text.match(new RegExp(`[\\s\\S]{1,${deltaChars}}`, 'gu')) ?? [];
        if (block.type === 'tool_use') await write(response, this.wire.call(chat, { ...block, index, json: text, first: true }, true));
        for (const delta of deltas) {
          await write(
            response,
            block.type === 'tool_use'
              ? this.wire.call(chat, { ...block, index, json: delta, first }, false)
              : block.type === 'thinking'
                ? this.wire.thinking(chat, delta)
                : this.wire.text(chat, delta),
          );
          first = false;
        }
        if (text !== piece) return chat.maxTokens;
      }
    }
    return output;
  }

  private async step(step: Step, response: ServerResponse, closed: Promise<unknown>): Promise<void> {
    if (step.kind === 'delay') return void (await Promise.race([new Promise((resolve) => setTimeout(resolve, step.ms)), closed]));
    if (step.kind === 'hold') {
      step.reach();
      return void (await Promise.race([step.released, closed]));
    }
    switch (step.how) {
      case 'disconnect':
        return void response.destroy();
      case 'half_event':
        return void response.end(this.wire.half);
      case 'end':
        return void response.end();
      case 'error': {
        const error = new WireError(500, step.error?.message ?? '', step.error?.type ?? null);
        if (this.wire.broken) return void response.end(this.wire.broken(error));
        return void response.end(`${this.wire.contentType === 'text/event-stream' ? 'data: ' : ''}${this.wire.error(error)}\n\n`);
      }
      case 'stall':
        await closed;
    }
  }
}

/** The inputs of calls that are told as JSON texts. */
function callInputs(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => (name === 'arguments' && typeof item === 'string' ? [item] : callInputs(item)));
}

function write(response: ServerResponse, text: string): Promise<void> {
  if (text === '' || response.destroyed || response.writableEnded) return Promise.resolve();
  return new Promise((resolve) => response.write(text, () => resolve()));
}

function wireFault({ status, type, message, headers, rawBody }: HttpFault): WireError {
  return new WireError(status, message, type, headers, rawBody);
}
