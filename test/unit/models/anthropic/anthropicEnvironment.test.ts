import assert from 'node:assert/strict';
import { httpFault } from '../../../support/messagesApi/messagesApiScript';
import { MessagesApi } from '../../../support/messagesApi/messagesApi';
import { anthropicBaseURL } from '../../../../src/node/models/anthropic/anthropicBaseURL';
import { collect, never, request, Rig } from '../rig';

const poison = {
  ANTHROPIC_API_KEY: 'sk-ant-from-the-environment',
  ANTHROPIC_AUTH_TOKEN: 'token-from-the-environment',
  ANTHROPIC_CUSTOM_HEADERS:
    'Authorization: Bearer stolen\nX-Api-Key: stolen\nanthropic-version: 1999-01-01\nanthropic-beta: evil\nX-Spy: yes\nX Broken: yes',
  ANTHROPIC_LOG: 'debug',
  ANTHROPIC_PROFILE: 'nobody',
  ANTHROPIC_CONFIG_DIR: '/nowhere',
  ANTHROPIC_WEBHOOK_SIGNING_KEY: 'whsec_evil',
  ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE: 'content',
};

describe('AnthropicClient and its surroundings', () => {
  const rig = new Rig();
  let decoy: MessagesApi;
  let kept: NodeJS.ProcessEnv;
  beforeEach(async () => {
    await rig.start();
    decoy = await MessagesApi.start();
    kept = { ...process.env };
    Object.assign(process.env, poison, { ANTHROPIC_BASE_URL: decoy.url });
  });
  afterEach(async () => {
    for (const name of [...Object.keys(poison), 'ANTHROPIC_BASE_URL']) {
      if (kept[name] === undefined) delete process.env[name];
      else process.env[name] = kept[name];
    }
    await rig.close();
    await decoy.close();
  });

  it('takes nothing from the environment, and leaves the environment as it was', async () => {
    const written: unknown[] = [];
    const { debug, info, warn, error, log } = console;
    for (const name of ['debug', 'info', 'warn', 'error', 'log'] as const) console[name] = (...line: unknown[]) => void written.push(line);
    try {
      const client = rig.client();
      const before = JSON.stringify(process.env);
      assert.equal((await collect(client.stream(request(), never))).at(-1)?.type, 'stopped');
      await client.listModels();
      await client.countTokens(request());
      assert.equal(JSON.stringify(process.env), before);
    } finally {
      Object.assign(console, { debug, info, warn, error, log });
    }
    assert.deepEqual(written, []);
    assert.equal(decoy.requests.length, 0);
    assert.equal(rig.api.requests.length, 3);
    for (const { headers } of rig.api.requests) {
      assert.equal(headers['anthropic-version'], '2026-10-21');
      assert.equal(headers['user-agent'], 'Threadkeeper');
      for (const name of ['x-spy', 'anthropic-beta', 'traceparent']) assert.equal(headers[name], undefined, name);
    }
  });

  it('sends its own key, also in the header that older gateways read', async () => {
    const requests: Headers[] = [];
    const spy = (async (_url: unknown, init?: RequestInit) => {
      requests.push(new Headers(init?.headers));
      return new Response('{}', { status: 500 });
    }) as typeof fetch;
    await collect(rig.client({ fetch: spy }).stream(request(), never));
    await collect(rig.client({ fetch: spy, baseURL: '' }).stream(request(), never));
    assert.deepEqual(
      requests.map((headers) => [headers.get('authorization'), headers.get('x-api-key')]),
      [
        [`Bearer ${rig.api.apiKey}`, rig.api.apiKey],
        [`Bearer ${rig.api.apiKey}`, null],
      ],
    );
  });

  it('goes to the provider when no address is set, not where the environment says', async () => {
    const urls: string[] = [];
    const spy = (async (url: unknown) => {
      urls.push(String(url));
      return new Response('{}', { status: 500 });
    }) as typeof fetch;
    await collect(rig.client({ fetch: spy, baseURL: '' }).stream(request(), never));
    assert.deepEqual(urls, [`${anthropicBaseURL}/v1/messages`]);
  });

  it('does not try again by itself, even when told to', async () => {
    rig.api.enqueue(httpFault(500, 'api_error', 'Try again', { 'x-should-retry': 'true' }));
    await collect(rig.client().stream(request(), never));
    assert.equal(rig.api.requests.length, 1);
  });

  it('uses the fetch that is there when it asks, as VS Code exchanges it', async () => {
    const client = rig.client();
    const original = globalThis.fetch;
    let used = 0;
    globalThis.fetch = (...args) => {
      used++;
      return original(...args);
    };
    try {
      await collect(client.stream(request(), never));
    } finally {
      globalThis.fetch = original;
    }
    assert.equal(used, 1);
  });
});
