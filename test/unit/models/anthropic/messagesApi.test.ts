import assert from 'node:assert/strict';
import { MessagesApi } from '../../../support/messagesApi/messagesApi';
import { reply, toolCall } from '../../../support/messagesApi/messagesApiScript';

const call = (id: string) => ({ type: 'tool_use', id, name: 'recall', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
const says = (role: string, ...content: unknown[]) => ({ role, content });
const hello = says('user', { type: 'text', text: 'Hello' });
const mark = { type: 'ephemeral' };

describe('The Messages API double refuses what the provider refuses', () => {
  let api: MessagesApi;
  beforeEach(async () => void (api = await MessagesApi.start()));
  afterEach(() => api.close());

  const post = (body: unknown, headers: Record<string, string> = {}, path = '/v1/messages') =>
    fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2026-10-21', 'x-api-key': api.apiKey, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const valid = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [hello] };

  async function refused(body: unknown, status: number, words: string, path?: string): Promise<void> {
    const response = await post(body, {}, path);
    const text = await response.text();
    assert.deepEqual([response.status, text.includes(words)], [status, true], text);
  }

  it('accepts a valid request, with a stream and without', async () => {
    const plain = await post(valid);
    assert.equal(plain.status, 200);
    const message = (await plain.json()) as { content: { type: string }[]; usage: { input_tokens: number; output_tokens: number } };
    assert.equal(message.content[0]?.type, 'text');
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0);
    const stream = await (await post({ ...valid, stream: true })).text();
    const events = [...stream.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(
      { firstEvents: events[0], secondEvents: events[1], events: events.at(-2), lastEvents: events.at(-1) },
      { firstEvents: 'message_start', secondEvents: 'ping', events: 'message_delta', lastEvents: 'message_stop' },
    );
    assert.deepEqual(
      api.requests.map(({ usage }) => usage?.output_tokens),
      [message.usage.output_tokens, message.usage.output_tokens],
    );
  });

  it('wants the key, in either header and the same in both', async () => {
    const withKey = (headers: Record<string, string>) =>
      fetch(`${api.url}/v1/messages`, {
        method: 'POST',
        headers: { 'anthropic-version': '2026-10-21', ...headers },
        body: JSON.stringify(valid),
      });
    assert.equal((await withKey({})).status, 401);
    assert.equal((await withKey({ 'x-api-key': 'wrong' })).status, 401);
    assert.equal((await withKey({ authorization: 'Bearer wrong', 'x-api-key': api.apiKey })).status, 401);
    assert.equal((await withKey({ authorization: `Bearer ${api.apiKey}` })).status, 200);
    assert.ok(!JSON.stringify(api.requests).includes(api.apiKey));
  });

  it('wants a version', async () => {
    const response = await fetch(`${api.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': api.apiKey },
      body: JSON.stringify(valid),
    });
    assert.equal(response.status, 400);
  });

  const bad: readonly (readonly [string, unknown, string])[] = [
    ['no JSON', '{', 'not valid JSON'],
    ['half a surrogate pair', JSON.stringify({ ...valid, system: 'x\ud800' }), 'no low surrogate'],
    ['unknown fields', { ...valid, temperature: 1 }, 'temperature: Extra inputs are not permitted'],
    ['no model', { ...valid, model: undefined }, 'model: Field required'],
    ['no max_tokens', { ...valid, max_tokens: undefined }, 'max_tokens: Field required'],
    ['max_tokens of nothing', { ...valid, max_tokens: 0 }, 'max_tokens: Input should be greater'],
    ['more output than the model has', { ...valid, max_tokens: 64_001 }, '64001 > 64000'],
    ['no messages', { ...valid, messages: [] }, 'at least one message is required'],
    ['another role', { ...valid, messages: [says('system', { type: 'text', text: 'x' })] }, "Input should be 'user' or 'assistant'"],
    [
      'an answer first',
      { ...valid, messages: [says('assistant', { type: 'text', text: 'x' }), hello] },
      'first message must use the \\"user\\" role',
    ],
    ['an answer last', { ...valid, messages: [hello, says('assistant', { type: 'text', text: 'x' })] }, 'must end with a user message'],
    ['an empty message', { ...valid, messages: [says('user')] }, 'non-empty content'],
    ['an empty string', { ...valid, messages: [{ role: 'user', content: '' }] }, 'non-empty content'],
    ['empty text', { ...valid, messages: [says('user', { type: 'text', text: '' })] }, 'text content blocks must be non-empty'],
    ['blank text', { ...valid, messages: [says('user', { type: 'text', text: ' \n' })] }, 'non-whitespace'],
    ['an empty system block', { ...valid, system: [{ type: 'text', text: '' }] }, 'system.0: text content blocks must be non-empty'],
    [
      'an empty block in a result',
      {
        ...valid,
        messages: [hello, says('assistant', call('a')), says('user', { ...result('a'), content: [{ type: 'text', text: '' }] })],
      },
      'must be non-empty',
    ],
    [
      'a call without a result',
      { ...valid, messages: [hello, says('assistant', call('a'), call('b')), says('user', result('a'))] },
      'without `tool_result` blocks immediately after: b.',
    ],
    ['a call without anything after it', { ...valid, messages: [hello, says('assistant', call('a'))] }, 'without `tool_result` blocks'],
    [
      'a result after text',
      { ...valid, messages: [hello, says('assistant', call('a')), says('user', { type: 'text', text: 'x' }, result('a'))] },
      'without `tool_result` blocks',
    ],
    ['a result without a call', { ...valid, messages: [says('user', result('a'))] }, 'unexpected `tool_use_id`'],
    [
      'a result two messages later',
      {
        ...valid,
        messages: [
          hello,
          says('assistant', call('a')),
          says('user', result('a')),
          says('assistant', { type: 'text', text: 'x' }),
          says('user', result('a')),
        ],
      },
      'messages.4.content.0: unexpected `tool_use_id`',
    ],
    [
      'two results for a call',
      { ...valid, messages: [hello, says('assistant', call('a')), says('user', result('a'), result('a'))] },
      'single result',
    ],
    [
      'two calls with one id',
      {
        ...valid,
        messages: [hello, says('assistant', call('a')), says('user', result('a')), says('assistant', call('a')), says('user', result('a'))],
      },
      'ids must be unique',
    ],
    ['a call by the user', { ...valid, messages: [says('user', call('a'))] }, 'not allowed in `user`'],
    [
      'a call with a list as input',
      { ...valid, messages: [hello, says('assistant', { ...call('a'), input: [] }), says('user', result('a'))] },
      'valid dictionary',
    ],
    [
      'thinking without proof',
      {
        ...valid,
        messages: [hello, says('assistant', { type: 'thinking', thinking: 'x', signature: 'y' }, { type: 'text', text: 'Yes' }), hello],
      },
      'Invalid `signature`',
    ],
    [
      'thinking at the end of an answer',
      {
        ...valid,
        messages: [hello, says('assistant', { type: 'text', text: 'Yes' }, { type: 'thinking', thinking: 'x', signature: 'y' }), hello],
      },
      'The final block in an assistant message cannot be `thinking`',
    ],
    [
      'a mark on thinking',
      { ...valid, messages: [hello, says('assistant', { type: 'thinking', thinking: 'x', signature: 'y', cache_control: mark }), hello] },
      'cache_control',
    ],
    [
      'five marks',
      { ...valid, messages: [1, 2, 3, 4, 5].map((n) => says('user', { type: 'text', text: `${n}`, cache_control: mark })) },
      'Found 5',
    ],
    [
      'a mark of another kind',
      { ...valid, system: [{ type: 'text', text: 'x', cache_control: { type: 'for ever' } }] },
      "should be 'ephemeral'",
    ],
    ['a tool without a schema', { ...valid, tools: [{ name: 'x' }] }, 'input_schema'],
    ['a tool with a bad name', { ...valid, tools: [{ name: 'a b', input_schema: { type: 'object' } }] }, 'tools.0.custom.name'],
    [
      'two tools with one name',
      { ...valid, tools: ['x', 'x'].map((name) => ({ name, input_schema: { type: 'object' } })) },
      'must be unique',
    ],
    ['an unknown kind of thinking', { ...valid, thinking: { type: 'hard' } }, 'does not match any of the expected tags'],
    [
      'a prompt that is too long',
      { ...valid, model: 'claude-tiny-4k', messages: [says('user', { type: 'text', text: 'word '.repeat(4_000) })] },
      'tokens > 4000 maximum',
    ],
  ];
  for (const [name, body, words] of bad) it(`400 for ${name}`, () => refused(body, 400, words));

  it('404 for an unknown model, 413 for a body that is too large', async () => {
    await refused({ ...valid, model: 'gpt' }, 404, 'model: gpt');
    await api.close();
    api = await MessagesApi.start({ maxBodyBytes: 50 });
    await refused(valid, 413, 'request_too_large');
  });

  it('joins messages of one role that stand next to each other', async () => {
    const messages = [
      hello,
      hello,
      says('assistant', { type: 'text', text: 'x' }),
      says('assistant', call('a')),
      says('user', result('a')),
      hello,
    ];
    assert.equal((await post({ ...valid, messages })).status, 200);
  });

  it('counts with the same rules and without max_tokens', async () => {
    const { model, messages } = valid;
    assert.equal((await post({ model, messages }, {}, '/v1/messages/count_tokens')).status, 200);
    await refused({ model, messages: [] }, 400, 'at least one message', '/v1/messages/count_tokens');
    await refused(valid, 400, 'max_tokens: Extra inputs', '/v1/messages/count_tokens');
  });

  it('uses no script for a request that it refuses, and scripts by turn before those of the queue', async () => {
    api.enqueue(reply('first'), reply('second'));
    api.at(2, reply(toolCall('x', {})));
    await refused({ ...valid, messages: [] }, 400, 'at least one message');
    const seen = [];
    for (let i = 0; i < 3; i++) seen.push(((await (await post(valid)).json()) as { content: { text?: string }[] }).content[0]?.text);
    assert.deepEqual(seen, ['first', undefined, 'second']);
  });

  it('answers what a responder decides, and keeps what it throws', async () => {
    api.respond = ({ last, turn }) => {
      if (turn === 2) throw new Error('on purpose');
      return reply(`${turn}: ${last}`);
    };
    assert.ok((await (await post(valid)).text()).includes('1: Hello'));
    assert.equal((await post(valid)).status, 500);
    assert.deepEqual(api.errors.map(String), ['Error: on purpose']);
  });
});
