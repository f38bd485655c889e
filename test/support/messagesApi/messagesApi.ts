import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asked, defaultReply, type Asked } from './messagesApiDefault';
import { Exchange, type RecordedRequest } from './messagesApiExchange';
import { defaultModels, findModel, modelPage, wireModel } from './messagesApiModels';
import { play, type PlayedMessage, type Stage } from './messagesApiPlay';
import { PrefixCache } from './messagesApiCache';
import { checkedThinking, prefixHashes } from './messagesApiPrefix';
import { promptTooLong, type HttpFault, type Reply, type Script } from './messagesApiScript';
import { promptParts, totalTokens } from './messagesApiTokens';
import { tooLarge, validated } from './messagesApiValidate';
import { ApiError, badRequest, type DoubleModel } from './messagesApiWire';

export type Responder = (request: Asked) => Script | Promise<Script>;

export interface MessagesApiOptions {
  /** 0: any free port. */
  readonly port?: number;
  /** The only key that is let in. */
  readonly apiKey?: string;
  readonly models?: readonly DoubleModel[];
  readonly respond?: Responder;
  /** `absent`: like a gateway that only passes messages on. */
  readonly modelsEndpoint?: 'present' | 'absent';
  readonly modelsPageSize?: number;
  readonly maxBodyBytes?: number;
  /** The time that what is cached lives by, in milliseconds; omitted: the real one. */
  readonly now?: () => number;
  /** Between two deltas of every answer; for looking at it by hand. */
  readonly paceMs?: number;
}

/**
 * A Messages API on the loopback interface, as strict as the provider's: wire format, validation, thinking signatures, token
 * counts, cache accounting and limits. Answers come from, in this order: `at`, `enqueue`, `respond`, a built-in echo. A request
 * that is refused uses up no script.
 */
export class MessagesApi {
  readonly requests: RecordedRequest[] = [];
  /** What a responder threw; the request was answered with status 500. Empty after a test that went well. */
  readonly errors: unknown[] = [];
  respond: Responder;
  private readonly models: DoubleModel[];
  private readonly cache = new PrefixCache();
  private readonly queue: Script[] = [];
  private readonly byTurn = new Map<number, Script>();
  private readonly faults = new Map<'models' | 'count_tokens', HttpFault>();
  private readonly waiting: { readonly count: number; readonly resolve: (request: RecordedRequest) => void }[] = [];
  private turns = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: MessagesApiOptions,
  ) {
    this.models = [...(options.models ?? defaultModels)];
    this.respond = options.respond ?? defaultReply;
    server.on('request', (request, response) => void this.serve(request, response));
  }

  static async start(options: MessagesApiOptions = {}): Promise<MessagesApi> {
    const server = createServer();
    // On a busy machine a request may be sent just as a connection is ended for its idleness: that is not the fault a test asks for.
    server.keepAliveTimeout = 0;
    const api = new MessagesApi(server, options);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get apiKey(): string {
    return this.options.apiKey ?? 'sk-ant-double-0123456789';
  }

  /** Requests for an answer, refused ones included, in order. */
  get messages(): RecordedRequest[] {
    return this.requests.filter(({ path }) => path === '/v1/messages');
  }

  /** The next answers, first come first served. */
  enqueue(...scripts: readonly Script[]): void {
    this.queue.push(...scripts);
  }

  /** The answer to the n-th accepted request (1 is the first), whatever stands in the queue. */
  at(turn: number, script: Script): void {
    this.byTurn.set(turn, script);
  }

  /** Every request to that endpoint fails, until null. */
  fail(endpoint: 'models' | 'count_tokens', fault: HttpFault | null): void {
    if (fault) this.faults.set(endpoint, fault);
    else this.faults.delete(endpoint);
  }

  /** Changes or adds a model; what is left out stays, or is that of a small test model. */
  setModel(id: string, change: Partial<DoubleModel>): void {
    const index = this.models.findIndex((model) => model.id === id);
    const base = this.models[index] ?? { id, name: id, window: 8_000, maxOutput: 2_000, minCacheTokens: 64, omitsThinking: false };
    this.models.splice(index < 0 ? this.models.length : index, index < 0 ? 0 : 1, { ...base, ...change, id });
  }

  /** Resolves with the n-th request for an answer (1 is the first) as soon as it has arrived. */
  received(count: number): Promise<RecordedRequest> {
    const request = this.messages[count - 1];
    return request ? Promise.resolve(request) : new Promise((resolve) => this.waiting.push({ count, resolve }));
  }

  /** Breaks all connections. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = new Exchange(request, response, this.options.paceMs ?? 0, this.options.now ?? Date.now);
    const raw = await exchange.body();
    if (raw === undefined) return;
    try {
      const record = exchange.record(raw);
      this.requests.push(record);
      if (record.path === '/v1/messages') this.announce(record);
      if (!exchange.hasKey(this.apiKey)) throw new ApiError(401, 'authentication_error', 'invalid x-api-key');
      const limit = this.options.maxBodyBytes ?? 32 * 1024 * 1024;
      if (Buffer.byteLength(raw) > limit) throw tooLarge(limit);
      await this.route(exchange, record, raw);
    } catch (error) {
      if (!(error instanceof ApiError)) this.errors.push(error);
      const answer = error instanceof ApiError ? error : new ApiError(500, 'api_error', `The double failed: ${String(error)}`);
      exchange.respond(answer.status, answer.text, answer.headers);
    }
  }

  private announce(record: RecordedRequest): void {
    const count = this.messages.length;
    for (const waiter of this.waiting) if (waiter.count === count) waiter.resolve(record);
  }

  private async route(exchange: Exchange, record: RecordedRequest, raw: string): Promise<void> {
    const { method, path } = record;
    if (record.headers['anthropic-version'] === undefined) throw badRequest('anthropic-version: header is required');
    if (method === 'POST' && path === '/v1/messages') return this.answer(exchange, record, raw);
    if (method === 'POST' && path === '/v1/messages/count_tokens') {
      this.failIfTold('count_tokens');
      const prompt = validated(raw, this.models, true);
      return ok(exchange, { input_tokens: totalTokens(checkedThinking(prompt, promptParts(prompt))) });
    }
    if (method === 'GET' && this.options.modelsEndpoint !== 'absent' && /^\/v1\/models(\/|$)/.test(path)) {
      this.failIfTold('models');
      const id = decodeURIComponent(path.slice('/v1/models/'.length));
      if (id === '') return ok(exchange, modelPage(this.models, new URLSearchParams(record.query), this.options.modelsPageSize ?? 1000));
      return ok(exchange, wireModel(findModel(this.models, id)));
    }
    exchange.respond(404, '{"detail":"Not Found"}');
  }

  private failIfTold(endpoint: 'models' | 'count_tokens'): void {
    const fault = this.faults.get(endpoint);
    if (fault) throw new ToldFault(fault);
  }

  private async answer(exchange: Exchange, record: RecordedRequest, raw: string): Promise<void> {
    const prompt = validated(raw, this.models, false, record.headers['anthropic-beta']);
    const parts = checkedThinking(prompt, promptParts(prompt));
    const tokens = totalTokens(parts);
    if (tokens > prompt.model.window) throw new ToldFault(promptTooLong(tokens, prompt.model.window));
    const turn = ++this.turns;
    const script = this.byTurn.get(turn) ?? this.queue.shift() ?? (await this.respond(asked(prompt, turn, tokens)));
    if (script.kind === 'drop') return exchange.drop();
    if (script.kind === 'fault') throw new ToldFault(script);
    const usage = this.cache.use(prompt.model, parts, prompt.cacheAll, tokens, record.at);
    record.usage = { ...usage, output_tokens: 0 };
    const message = await perform(exchange, script, { prompt, usage, id: `msg_double_${turn}`, prefix: prefixHashes(parts).at(-1) ?? '' });
    if (message) record.usage = { ...usage, output_tokens: message.usage.output_tokens };
  }
}

/** Carries the script out; undefined when the other side has gone. */
async function perform(exchange: Exchange, script: Reply, stage: Stage): Promise<PlayedMessage | undefined> {
  const { stream } = stage.prompt;
  for (const step of script.before) await exchange.step(step);
  if (stream) exchange.beginStream();
  const actions = play(script, stage);
  for (let action = actions.next(); !exchange.ended; action = actions.next()) {
    if (action.done) {
      if (stream) exchange.end();
      else ok(exchange, action.value);
      return action.value;
    }
    if (action.value.kind !== 'event') await exchange.step(action.value);
    else if (stream) await exchange.send(action.value.data);
  }
  return undefined;
}

function ok(exchange: Exchange, body: object): void {
  exchange.respond(200, JSON.stringify(body));
}

/** A scripted error answer; gateways do not use the provider's format. */
class ToldFault extends ApiError {
  constructor(private readonly fault: HttpFault) {
    super(fault.status, fault.type, fault.message, fault.headers);
  }

  override get text(): string {
    return this.fault.rawBody ?? super.text;
  }
}
