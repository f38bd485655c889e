import assert from 'node:assert/strict';
import {
  disconnect,
  dropConnection,
  endEarly,
  errorEvent,
  gatewayFault,
  halfEvent,
  httpFault,
  overloaded,
  promptTooLong,
  rateLimited,
  reply,
  serverError,
  type Script,
} from '../../../support/messagesApi/messagesApiScript';
import { AnthropicClient } from '../../../../src/node/models/anthropic/anthropicClient';
import { ModelError, type ModelFailure } from '../../../../src/core/models/modelEvent';
import { blocksOf, collect, failureOf, never, request, Rig, user } from '../rig';

describe('AnthropicClient failures', () => {
  const rig = new Rig();
  beforeEach(() => rig.start());
  afterEach(() => rig.close());

  async function failing(script: Script): Promise<ModelFailure> {
    rig.api.enqueue(script);
    return failureOf(await collect(rig.client().stream(request(), never)));
  }

  it('asks without a time where a gateway does not know of an hour in its cache, and from then on', async () => {
    const hour = { ...request(), messages: [{ ...user('Hello'), cacheBreakpoint: true }], cacheTime: '1h' as const };
    const refused = httpFault(400, 'invalid_request_error', 'messages.0.content.0.cache_control.ttl: Extra inputs are not permitted');
    const client = rig.client();
    rig.api.enqueue(refused, reply('Hi.'), reply('Again.'));
    for (const _ of [1, 2]) assert.equal((await collect(client.stream(hour, never))).at(-1)?.type, 'stopped');
    assert.deepEqual(
      rig.api.messages.map(({ body }) => JSON.stringify(body).includes('"ttl":"1h"')),
      [true, false, false],
    );
  });

  const answers: readonly (readonly [string, Script, Partial<ModelFailure>])[] = [
    [
      'a refused key',
      httpFault(401, 'authentication_error', 'invalid x-api-key'),
      { reason: 'bad_key', status: 401, detail: 'invalid x-api-key' },
    ],
    ['a forbidden resource', httpFault(403, 'permission_error', 'No access'), { reason: 'bad_key', status: 403 }],
    [
      'an unknown model',
      httpFault(404, 'not_found_error', 'model: claude-9'),
      { reason: 'unknown_model', status: 404, detail: 'model: claude-9' },
    ],
    [
      'a route that a gateway lacks',
      gatewayFault(404, '{"detail":"Not Found"}', 'application/json'),
      { reason: 'invalid_request', detail: 'Not Found' },
    ],
    ['overload', overloaded(), { reason: 'overloaded', status: 529 }],
    ['overload under another status', httpFault(503, 'overloaded_error', 'Overloaded'), { reason: 'overloaded', status: 503 }],
    ['an internal error', serverError(), { reason: 'server', status: 500 }],
    ['a gateway timeout', httpFault(504, 'timeout_error', 'Timed out'), { reason: 'server', status: 504 }],
    [
      'an error page',
      gatewayFault(502, '<html><title>502</title><body><h1>Bad Gateway</h1></body></html>'),
      { reason: 'server', status: 502, detail: '502 502 Bad Gateway' },
    ],
    ['a body without anything', gatewayFault(500, ''), { reason: 'server', detail: '500 status code (no body)' }],
    [
      'a prompt that is too long',
      promptTooLong(201_000, 200_000),
      { reason: 'overflow', status: 400, detail: 'prompt is too long: 201000 tokens > 200000 maximum', window: 200_000 },
    ],
    [
      'input and output that do not fit together',
      httpFault(400, 'invalid_request_error', 'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000'),
      { reason: 'overflow' },
    ],
    [
      'a body that is too large',
      httpFault(413, 'request_too_large', 'Request exceeds the maximum size'),
      { reason: 'overflow', status: 413 },
    ],
    [
      'a rate limit that talks of context',
      httpFault(429, 'rate_limit_error', 'Your prompt is too long for this tier'),
      { reason: 'rate_limited', status: 429 },
    ],
    ['an invalid request', httpFault(400, 'invalid_request_error', 'tools.0.name: too long'), { reason: 'invalid_request', status: 400 }],
    ['an unpaid bill', httpFault(402, 'billing_error', 'Add credits'), { reason: 'quota', status: 402, detail: 'Add credits' }],
    [
      'used up credit',
      httpFault(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
      { reason: 'quota', status: 400 },
    ],
  ];
  for (const [name, script, expected] of answers) {
    it(`names ${name}`, async () => {
      const failure = await failing(script);
      assert.deepEqual({ ...failure, ...expected }, failure);
    });
  }

  it('makes exactly one request, whatever happens', async () => {
    await failing(overloaded());
    assert.equal(rig.api.requests.length, 1);
  });

  it('reads retry-after in seconds, as a date and in milliseconds', async () => {
    assert.equal((await failing(rateLimited(7))).retryAfterMs, 7_000);
    assert.equal((await failing(rateLimited())).retryAfterMs, undefined);
    const wait = (await failing(rateLimited(new Date(Date.now() + 3_600_000).toUTCString()))).retryAfterMs ?? 0;
    assert.ok(wait > 3_000_000 && wait <= 3_600_000);
    assert.equal((await failing(httpFault(529, 'overloaded_error', 'Overloaded', { 'retry-after-ms': '250' }))).retryAfterMs, 250);
  });

  it('names errors that arrive in the middle of an answer', async () => {
    const events: readonly (readonly [string, ModelFailure['reason']])[] = [
      ['overloaded_error', 'overloaded'],
      ['rate_limit_error', 'rate_limited'],
      ['api_error', 'server'],
      ['authentication_error', 'bad_key'],
      ['invalid_request_error', 'invalid_request'],
    ];
    for (const [type, reason] of events) {
      rig.api.enqueue(reply('Partial ', errorEvent(type, 'As the provider puts it')));
      const seen = await collect(rig.client().stream(request(), never));
      assert.deepEqual(failureOf(seen), { reason, detail: 'As the provider puts it' });
      assert.ok(seen.some((event) => event.type === 'text_delta' && event.text === 'Partial '));
      assert.deepEqual(blocksOf(seen), []);
    }
  });

  const breaks: readonly (readonly [string, Script])[] = [
    ['before the response', dropConnection],
    ['in the middle of an answer', reply('Partial ', disconnect)],
    ['in the middle of an event', reply('Partial ', halfEvent)],
    ['between two events', reply('Partial ', endEarly)],
  ];
  for (const [where, script] of breaks) {
    it(`calls a connection that ends ${where} a network failure`, async () => {
      const failure = await failing(script);
      assert.equal(failure.reason, 'network');
      assert.notEqual(failure.detail, '');
    });
  }

  it('keeps the blocks that were complete before the connection broke', async () => {
    rig.api.enqueue(reply('Whole.', { type: 'thinking', pieces: ['half', disconnect] }));
    const events = await collect(rig.client().stream(request(), never));
    assert.deepEqual(blocksOf(events), [{ type: 'text', text: 'Whole.' }]);
    assert.equal(failureOf(events).reason, 'network');
  });

  it('says what the network said: refused, unknown host', async () => {
    const { host, port } = new URL(rig.api.url);
    const client = rig.client();
    const elsewhere = rig.client({ baseURL: 'http://no-such-host.invalid' });
    const silent = rig.client({
      fetch: () => Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) })),
    });
    await rig.api.close();
    const refused = failureOf(await collect(client.stream(request(), never)));
    assert.deepEqual([refused.reason, refused.detail.includes('ECONNREFUSED')], ['network', true]);
    assert.ok(refused.detail.includes(port));
    const lost = await collect(elsewhere.stream(request(), never));
    assert.equal(failureOf(lost).reason, 'network');
    assert.equal(failureOf(await collect(silent.stream(request(), never))).detail, `${host}: ECONNREFUSED: fetch failed`);
  });

  it('does not take a page for an answer', async () => {
    const page = (async () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } })) as typeof fetch;
    assert.equal(failureOf(await collect(rig.client({ fetch: page }).stream(request(), never))).reason, 'network');
  });

  it('fails with an event when the request cannot even be built', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const call = { type: 'tool_use', callId: 'toolu_1', name: 'x', input: circular } as const;
    const events = await collect(rig.client().stream(request({ messages: [user('x'), { role: 'assistant', blocks: [call] }] }), never));
    assert.equal(failureOf(events).reason, 'invalid_request');
  });

  it('takes the key out of what it reports and logs', async () => {
    const key = rig.api.apiKey;
    rig.api.enqueue(httpFault(401, 'authentication_error', `Key ${key} is not valid; sent as Bearer abcdefghijkl`));
    const { detail } = failureOf(await collect(rig.client().stream(request(), never)));
    assert.equal(detail, 'Key [secret] is not valid; sent as Bearer [token]');
    assert.ok(!JSON.stringify(rig.logged).includes(key));
    assert.deepEqual(
      rig.logged.map(({ event }) => event),
      ['model_request_failed'],
    );
  });

  it('is not made without a usable key and address', () => {
    const make =
      (apiKey: string, baseURL = '') =>
      () =>
        new AnthropicClient({ apiKey, baseURL, logger: rig.logger });
    const reason = (expected: string) => (error: unknown) => ModelError.is(error) && error.failure.reason === expected;
    assert.throws(make(' '), reason('no_key'));
    assert.throws(make('sk-ant-ключ'), reason('bad_key'));
    assert.throws(make('sk-ant-1234567', 'ftp://x'), reason('invalid_request'));
    assert.throws(make('sk-ant-1234567', 'not an address'), reason('invalid_request'));
  });

  it('takes an address with or without a slash and version at its end', async () => {
    for (const baseURL of [`${rig.api.url}/`, `${rig.api.url}/v1`, `${rig.api.url}/v1/`]) {
      const events = await collect(rig.client({ baseURL, apiKey: ` ${rig.api.apiKey}\n` }).stream(request(), never));
      assert.equal(events.at(-1)?.type, 'stopped');
    }
  });
});
