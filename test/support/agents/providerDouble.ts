import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wires, type AskedModel, type Fields, type ModelAnswer } from './providerWires';

/**
 * One provider for all programs, on the loopback interface: the Messages, Responses, Chat Completions and Gemini formats by their paths.
 * It is as lenient as the strict doubles of our own clients are not: what a program's version sends is not for us to judge.
 */
export class ProviderDouble {
  /** Requests for an answer, in order. */
  readonly asked: AskedModel[] = [];
  /** All others, as `METHOD /path`. */
  readonly others: string[] = [];
  respond: (asked: AskedModel) => ModelAnswer = () => ({ text: 'Done.' });

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.serve(request, response));
  }

  static async start(): Promise<ProviderDouble> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return new ProviderDouble(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://double').pathname);
    const wire = request.method === 'POST' ? wires.find((one) => one.path.test(path)) : undefined;
    if (!wire) {
      this.others.push(`${request.method} ${path}`);
      const isCount = /count_tokens$|:countTokens$/.test(path);
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(isCount ? '{"input_tokens":1000,"totalTokens":1000}' : '{"object":"list","data":[],"models":[]}');
    }
    const asked = wire.asked(path, JSON.parse(Buffer.concat(chunks).toString('utf8')) as Fields);
    this.asked.push(asked);
    const { type, body } = wire.answered(this.respond(asked), asked, this.asked.length);
    response.writeHead(200, { 'content-type': type }).end(body);
  }
}
