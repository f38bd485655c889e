import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ModelError, type ModelFailure } from '../../../src/core/models/modelEvent';
import { modelTurnError } from '../../../src/core/chat/turn/turnError';
import type { ModelClient } from '../../../src/core/ports';
import type { AnthropicClient } from '../../../src/node/models/anthropic/anthropicClient';
import { createClient, type ProviderAccess } from '../../../src/node/models/providerAccess';
import { collect, failureOf, never, request } from './rig';
import { Recorder } from './subjects';

const key = 'sk-quay-0123456789';
const prompt = 'the lamp of the lighthouse is white';
const asked = request({ model: 'quay-1', messages: [{ role: 'user', blocks: [{ type: 'text', text: prompt }] }] });

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that writes down all that it gets, connections too. */
class RecordingServer {
  readonly received: Received[] = [];
  connections = 0;

  private constructor(private readonly server: Server) {}

  static async start(answer: (request: Received, response: ServerResponse) => void): Promise<RecordingServer> {
    const server = createServer();
    const recording = new RecordingServer(server);
    server.on('connection', () => void recording.connections++);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const received = { method, url, headers, body };
        recording.received.push(received);
        answer(received, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return recording;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

type Provider = Exclude<ProviderAccess['provider'], 'vscode'>;

const settings: Readonly<Record<Provider, string>> = {
  anthropic: 'threadkeeper.anthropic.baseUrl',
  'openai-compatible': 'threadkeeper.openaiCompatible.baseUrl',
  ollama: 'threadkeeper.ollama.baseUrl',
};

const calls: Readonly<Record<string, (client: ModelClient) => Promise<ModelFailure>>> = {
  stream: async (client) => failureOf(await collect(client.stream(asked, never))),
  listModels: (client) => rejection(client.listModels()),
  describe: (client) => rejection(client.describe('quay-1')),
  countTokens: (client) => rejection((client as AnthropicClient).countTokens(asked)),
};

async function rejection(promise: Promise<unknown>): Promise<ModelFailure> {
  try {
    await promise;
  } catch (error) {
    if (ModelError.is(error)) return error.failure;
    throw error;
  }
  throw new Error('It did not fail.');
}

describe('a redirect', () => {
  const servers: RecordingServer[] = [];
  const start = async (answer: (request: Received, response: ServerResponse) => void) => {
    const server = await RecordingServer.start(answer);
    servers.push(server);
    return server;
  };
  const clientOf = (provider: Provider, baseURL: string) =>
    createClient({ provider, apiKey: key, baseURL, api: 'chat-completions', contextTokens: null }, new Recorder().logger);

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  for (const provider of Object.keys(settings) as Provider[]) {
    for (const [name, call] of Object.entries(calls)) {
      if (name === 'countTokens' && provider !== 'anthropic') continue;
      it(`to another server is not followed by ${name} of ${provider}`, async () => {
        const second = await start((_, response) => void response.end('{}'));
        for (const status of [301, 302, 303, 307, 308]) {
          for (const location of [
            `${second.url}/v1/x?secret=1`,
            `//127.0.0.1:${second.port}/v1/x`,
            `http://ada:pw@127.0.0.1:${second.port}/v1/x`,
          ]) {
            const first = await start((_, response) => void response.writeHead(status, { location }).end());
            const client = await clientOf(provider, first.url);
            const failure = await call(client);
            assert.equal(failure.reason, 'redirected', JSON.stringify(failure));
            for (const part of [first.url, `${second.url}/v1/x`, settings[provider]])
              assert.ok(failure.detail.includes(part), `${part} in ${failure.detail}`);
            assert.doesNotMatch(failure.detail, /secret=1|ada:pw/);
            assert.equal(modelTurnError(failure, 'quay-1').message, failure.detail);
            assert.ok(first.received.length > 0);
          }
        }
        assert.deepEqual([second.received, second.connections], [[], 0]);
      });
    }

    it(`within the server is followed, with method and body where the status says so, for ${provider}`, async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        const server = await start(({ url }, response) => {
          if (url.startsWith('/moved'))
            response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"arrived"}}');
          else response.writeHead(status, { location: `/moved${url}` }).end('see there');
        });
        const failure = failureOf(await collect((await clientOf(provider, server.url)).stream(asked, never)));
        assert.match(failure.detail, /arrived/);
        const [first, moved] = server.received;
        assert.ok(first && moved && first.body.includes('quay-1'));
        const keeps = status >= 307;
        assert.deepEqual(
          [moved.method, moved.body, moved.headers['content-type']],
          keeps ? ['POST', first.body, 'application/json'] : ['GET', '', undefined],
          String(status),
        );
        assert.deepEqual(
          [moved.headers.authorization, moved.headers['x-api-key']],
          [first.headers.authorization, first.headers['x-api-key']],
        );
      }
    });

    it(`without end is given up for ${provider}`, async () => {
      const server = await start(({ url }, response) => void response.writeHead(308, { location: `${url}x` }).end());
      const failure = failureOf(await collect((await clientOf(provider, server.url)).stream(asked, never)));
      assert.equal(failure.reason, 'redirected');
      assert.match(failure.detail, /again and again/);
      assert.ok(server.received.length <= 12, `${server.received.length} requests`);
    });
  }

  it('from a server within itself and then to another one is not followed', async () => {
    const second = await start((_, response) => void response.end('{}'));
    const first = await start(
      ({ url }, response) => void response.writeHead(307, { location: url.startsWith('/moved') ? second.url : `/moved${url}` }).end(),
    );
    const failure = failureOf(await collect((await clientOf('anthropic', first.url)).stream(asked, never)));
    assert.match(failure.detail, new RegExp(`${first.url}/moved.*${second.url}`));
    assert.deepEqual([second.received, second.connections], [[], 0]);
  });

  it('to what is no web address is not followed', async () => {
    for (const location of ['file:///etc/passwd', 'data:text/plain,x', 'http://', 'ftp://127.0.0.1/']) {
      const server = await start((_, response) => void response.writeHead(307, { location }).end());
      assert.equal((await rejection((await clientOf('openai-compatible', server.url)).listModels())).reason, 'redirected', location);
    }
  });
});
