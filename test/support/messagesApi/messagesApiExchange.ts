import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Step } from './messagesApiScript';
import type { WireBlock, WireUsage } from './messagesApiWire';

/** Without the key. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As parsed from JSON; null when there was none. */
  readonly body: unknown;
  readonly at: number;
  /** What an accepted request for an answer was told to have used; the output is 0 until the answer has been sent whole. */
  usage: WireUsage | null;
  /** How the exchange ended; `aborted`: before the response was complete. */
  readonly closed: Promise<'finished' | 'aborted'>;
}

const secretHeaders = new Set(['authorization', 'x-api-key', 'cookie']);

/** One request and its response, on the wire. Nothing here throws when the other side is gone. */
export class Exchange {
  private readonly closed: Promise<'finished' | 'aborted'>;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly paceMs: number,
    private readonly now: () => number,
  ) {
    this.closed = new Promise((resolve) => response.once('close', () => resolve(response.writableFinished ? 'finished' : 'aborted')));
    response.on('error', () => {});
  }

  get ended(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  /** Undefined when the other side went away before it had sent everything. */
  async body(): Promise<string | undefined> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of this.request) chunks.push(chunk as Buffer);
    } catch {
      return undefined;
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  record(raw: string): RecordedRequest {
    const url = new URL(this.request.url ?? '/', 'http://double');
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.request.headers)) headers[name] = secretHeaders.has(name) ? '…' : String(value);
    return {
      method: this.request.method ?? '',
      path: url.pathname,
      query: url.search.slice(1),
      headers,
      body: parsedOrNull(raw),
      at: this.now(),
      usage: null,
      closed: this.closed,
    };
  }

  /** As a bearer token (API version 2026-10-21) or in `x-api-key` (before); in both places, both must be right. */
  hasKey(expected: string): boolean {
    const { authorization, 'x-api-key': key } = this.request.headers;
    const given = [authorization?.replace(/^Bearer /, ''), key].filter((value) => value !== undefined);
    return given.length > 0 && given.every((value) => value === expected);
  }

  respond(status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
    if (this.ended) return;
    this.response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_double', ...headers }).end(text);
  }

  beginStream(): void {
    if (this.ended) return;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'request-id': 'req_double',
    });
    this.response.flushHeaders();
  }

  /** Resolves when the event is on its way. */
  async send(data: WireBlock): Promise<void> {
    await this.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    if (this.paceMs > 0 && data.type === 'content_block_delta') await this.sleep(this.paceMs);
  }

  async step(step: Step): Promise<void> {
    if (this.ended) return;
    if (step.kind === 'delay') return this.sleep(step.ms);
    if (step.kind === 'hold') {
      step.reach();
      // As the provider does while nothing comes: a client takes one that is silent for a minute for gone.
      const pings = setInterval(() => this.response.headersSent && void this.send({ type: 'ping' }), 10_000);
      await Promise.race([step.released, this.closed]);
      clearInterval(pings);
      return;
    }
    switch (step.how) {
      case 'disconnect':
        return this.drop();
      case 'half_event':
        await this.write('event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_del');
        return this.end();
      case 'end':
        return this.end();
      case 'error':
        await this.send({ type: 'error', error: step.error });
        return this.end();
      case 'stall':
        await this.closed;
    }
  }

  end(): void {
    if (!this.ended) this.response.end();
  }

  drop(): void {
    this.response.destroy();
  }

  private write(text: string): Promise<void> {
    if (this.ended) return Promise.resolve();
    return new Promise((resolve) => this.response.write(text, () => resolve()));
  }

  private async sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([new Promise((resolve) => (timer = setTimeout(resolve, ms))), this.closed]);
    clearTimeout(timer);
  }
}

function parsedOrNull(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}
