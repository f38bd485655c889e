import assert from 'node:assert/strict';
import type { ModelBlock } from '../../../../src/core/models/modelRequest';
import { anthropicPrompt } from '../../../../src/node/models/anthropic/anthropicRequest';
import { OpenaiCompatibleClient, type OpenaiCompatibleOptions } from '../../../../src/node/models/openai/openaiCompatibleClient';
import { ResponsesAnswer } from '../../../../src/node/models/responses/responsesAnswer';
import { errorEvent, gatewayFault, httpFault, refusal, reply, thinking, toolCall } from '../../../support/messagesApi/messagesApiScript';
import { openaiModelId, startOpenaiServer } from '../../../support/servers/openaiServer';
import { responsesModelId, startResponsesServer, type ResponsesServerOptions } from '../../../support/servers/responsesServer';
import { assistant, blocksOf, collect, failureOf, never, request as anyRequest, user } from '../rig';
import { Recorder } from '../subjects';

type Server = Awaited<ReturnType<typeof startResponsesServer>>;
type Fields = Record<string, unknown>;

describe('the Responses API', () => {
  const log = new Recorder();
  let server: Server;
  afterEach(async () => {
    assert.deepEqual(server.errors, []);
    await server.close();
    log.lines.length = 0;
  });

  async function start(options: ResponsesServerOptions = {}): Promise<OpenaiCompatibleClient> {
    server = await startResponsesServer(options);
    return client();
  }

  function client(options: Partial<OpenaiCompatibleOptions> = {}): OpenaiCompatibleClient {
    return new OpenaiCompatibleClient({
      apiKey: server.apiKey ?? '',
      baseURL: `${server.url}/v1`,
      api: 'responses',
      contextTokens: null,
      logger: log.logger,
      ...options,
    });
  }

  const request = (change = {}) => anyRequest({ model: responsesModelId, ...change });
  const body = (at = -1) => server.chats.at(at)!.body;
  const ends = async (from: OpenaiCompatibleClient, change = {}) => (await collect(from.stream(request(change), never))).at(-1);

  it('gives reasoning, text and calls as blocks in their order, and sends them back with the reasoning sealed', async () => {
    const chat = await start();
    server.enqueue(
      reply(
        thinking('Which port?'),
        'I look it up.',
        toolCall('recall', { query: 'port' }, 'call_1'),
        thinking('And the host.'),
        toolCall('recall', { query: 'host' }, 'call_2'),
      ),
    );
    const events = await collect(chat.stream(request(), never));
    const blocks = blocksOf(events);
    const seals = blocks.flatMap((block) => (block.type === 'thinking' ? [block.signature!] : []));
    assert.deepEqual(blocks, [
      { type: 'thinking', text: 'Which port?', signature: seals[0] },
      { type: 'text', text: 'I look it up.' },
      { type: 'tool_use', callId: 'call_1', name: 'recall', input: { query: 'port' } },
      { type: 'thinking', text: 'And the host.', signature: seals[1] },
      { type: 'tool_use', callId: 'call_2', name: 'recall', input: { query: 'host' } },
    ]);
    assert.deepEqual(events.at(-1), { type: 'stopped', reason: 'tool_use' });
    const results = ['call_1', 'call_2'].map(
      (callId): ModelBlock => ({ type: 'tool_result', callId, text: 'nothing', isError: callId === 'call_2' }),
    );
    assert.equal((await ends(chat, { messages: [user('Hello'), assistant(...blocks), user(...results, 'And now?')] }))?.type, 'stopped');
    assert.deepEqual(
      (body()['input'] as Fields[]).map(({ type, role, encrypted_content: sealed, call_id: id, output }) => [
        type,
        role ?? sealed ?? id,
        ...(output === undefined ? [] : [output]),
      ]),
      [
        ['message', 'user'],
        ['reasoning', seals[0]!.replace('responses:', '')],
        ['message', 'assistant'],
        ['function_call', 'call_1'],
        ['reasoning', seals[1]!.replace('responses:', '')],
        ['function_call', 'call_2'],
        ['function_call_output', 'call_1', 'nothing'],
        ['function_call_output', 'call_2', 'Error: nothing'],
        ['message', 'user'],
      ],
    );
  });

  it('keeps nothing at the provider, and sends the system text, the limit, the effort and the schema by their names', async () => {
    const chat = await start();
    const tool = { name: 'recall', description: 'Finds.', inputSchema: { type: 'object', properties: { query: { type: 'string' } } } };
    await collect(
      chat.stream(
        request({
          system: 'Be brief.',
          systemSummary: 'Before.',
          maxOutputTokens: 9,
          thinking: 'high',
          tools: [tool],
          answerSchema: { type: 'object' },
        }),
        never,
      ),
    );
    assert.deepEqual(body(), {
      model: responsesModelId,
      instructions: 'Be brief.\n\nBefore.',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      stream: true,
      store: false,
      max_output_tokens: 16,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: { type: 'object' } } },
      tools: [{ type: 'function', name: 'recall', description: 'Finds.', parameters: tool.inputSchema, strict: false }],
    });
  });

  it('takes reasoning that is shown to nobody, and keeps it', async () => {
    const chat = await start({ isUnverified: true });
    server.enqueue(reply(thinking('secret'), 'Hello.'));
    const blocks = blocksOf(await collect(chat.stream(request(), never)));
    assert.deepEqual(
      blocks.map((block) => [block.type, 'text' in block && block.text, block.type === 'thinking' && block.signature !== undefined]),
      [
        ['thinking', '', true],
        ['text', 'Hello.', false],
      ],
    );
    assert.equal((await ends(chat, { messages: [user('Hello'), assistant(...blocks), user('And now?')] }))?.type, 'stopped');
    assert.deepEqual([server.chats.length, JSON.stringify(body()).includes('encrypted_content":"sealed-')], [3, true]);
  });

  it('leaves out reasoning that nothing follows, and what other providers or another account have sealed', async () => {
    const chat = await start();
    server.enqueue(reply(thinking('Hm.'), 'Hello.'));
    const [own] = blocksOf(await collect(chat.stream(request(), never)));
    const foreign: ModelBlock = { type: 'thinking', text: 'Elsewhere.', signature: 'EqQB' };
    assert.equal((await ends(chat, { messages: [user('Hello'), assistant(foreign, 'Hi.', own!), user('And now?')] }))?.type, 'stopped');
    assert.equal(JSON.stringify(body()['input']).includes('"reasoning"'), false);
    const unknown: ModelBlock = { type: 'thinking', text: 'Of another account.', signature: 'responses:gAAAA' };
    assert.equal((await ends(chat, { messages: [user('Hello'), assistant(unknown, 'Hi.'), user('And now?')] }))?.type, 'stopped');
    assert.equal(JSON.stringify(body()['input']).includes('"reasoning"'), false);
    const prompt = anthropicPrompt(anyRequest({ messages: [user('Hello'), assistant(own!, 'Hi.'), user('And now?')] }));
    assert.equal(JSON.stringify(prompt.messages).includes('thinking'), false);
  });

  it('asks a model that does not reason for no reasoning, once it has said so', async () => {
    const chat = await start({ isPlain: true });
    for (let i = 0; i < 2; i++) assert.equal((await ends(chat, { thinking: 'low' }))?.type, 'stopped');
    assert.deepEqual(
      ['include', 'reasoning'].filter((field) => field in body()),
      [],
    );
    assert.equal((await chat.describe(responsesModelId)).thinking, 'none');
    const asked = server.chats.length;
    await ends(chat);
    assert.equal(server.chats.length, asked + 1);
  });

  it('leaves out what a server has never heard of', async () => {
    const chat = await start({ knows: ['model', 'instructions', 'input', 'stream', 'store', 'max_output_tokens', 'tools'] });
    assert.equal((await ends(chat, { thinking: 'low' }))?.type, 'stopped');
    assert.deepEqual([server.chats.length, Object.keys(body()).sort()], [4, ['input', 'max_output_tokens', 'model', 'store', 'stream']]);
  });

  it('takes the least effort that there is for no thinking, and an answer without a schema from a server that has none', async () => {
    const chat = await start({ efforts: ['minimal', 'high'], isFree: true });
    assert.equal((await ends(chat, { thinking: 'off', answerSchema: { type: 'object' } }))?.type, 'stopped');
    assert.deepEqual([body()['reasoning'], body()['text']], [{ effort: 'minimal' }, undefined]);
  });

  it('sends images, and in words to a model that refuses them', async () => {
    const messages = [user('Look', { type: 'image', name: 'shot.png', mime: 'image/png', data: 'AAAA' })];
    await ends(await start(), { messages });
    assert.deepEqual(body()['input'], [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
    ]);
    await server.close();
    assert.equal((await ends(await start({ isBlind: true }), { messages }))?.type, 'stopped');
    assert.match(JSON.stringify(body()['input']), /shot\.png/);
  });

  it('says what it used, what of it was cached, and that an answer was cut off', async () => {
    const chat = await start();
    server.enqueue(reply('word '.repeat(100)));
    const events = await collect(chat.stream(request({ maxOutputTokens: 20 }), never));
    const usage = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    assert.deepEqual([usage.length, usage[0]!.output], [1, 20]);
    assert.ok(usage[0]!.cacheRead > 0 && usage[0]!.input > 0);
    assert.deepEqual(events.at(-1), { type: 'stopped', reason: 'max_tokens' });
  });

  it('takes what only a finished item says, and a response that was not streamed', async () => {
    const chat = await start({ isTerse: true });
    server.enqueue(reply(thinking('Hm.'), 'Hello.', toolCall('recall', { query: 'x' }, 'call_1')));
    const types = blocksOf(await collect(chat.stream(request(), never))).map((block) => [
      block.type,
      'text' in block ? block.text : 'input' in block ? block.input : '',
    ]);
    assert.deepEqual(types, [
      ['thinking', 'Hm.'],
      ['text', 'Hello.'],
      ['tool_use', { query: 'x' }],
    ]);
    const whole = {
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Whole.' }] }],
      usage: { input_tokens: 9, output_tokens: 2 },
    };
    const events = await collect(client({ fetch: (async () => Response.json(whole)) as typeof fetch }).stream(request(), never));
    assert.deepEqual(events.slice(1), [
      { type: 'block', index: 0, block: { type: 'text', text: 'Whole.' } },
      { type: 'usage', usage: { input: 9, output: 2, cacheRead: 0, cacheWrite: 0 } },
      { type: 'stopped', reason: 'end_turn' },
    ]);
  });

  it('parts the paragraphs of a summary, and takes an answer that says twice that it is done', () => {
    const answer = new ResponsesAnswer();
    const say = (event: Fields) => answer.read(`data: ${JSON.stringify(event)}`);
    const events = [
      { type: 'response.reasoning_summary_part.added', output_index: 0 },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'One.' },
      { type: 'response.reasoning_summary_part.added', output_index: 0 },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Two.' },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', encrypted_content: 'x' } },
      { type: 'response.completed', response: { status: 'completed' } },
    ].flatMap(say);
    assert.deepEqual(blocksOf([...events, ...answer.read('data: [DONE]')]), [
      { type: 'thinking', text: 'One.\n\nTwo.', signature: 'responses:x' },
    ]);
  });

  const failures = [
    ['a refused key', httpFault(401, 'invalid_api_key', 'Incorrect API key provided'), 'bad_key'],
    ['a rate limit', httpFault(429, 'rate_limit_exceeded', 'Rate limit reached'), 'rate_limited'],
    ['a quota that is used up', httpFault(429, 'insufficient_quota', 'You exceeded your current quota'), 'quota'],
    [
      'a prompt that breaks the rules',
      httpFault(400, 'invalid_prompt', 'Your prompt was flagged as potentially violating our usage policy.'),
      'refused',
    ],
    [
      'a prompt that is too long',
      httpFault(400, 'context_length_exceeded', 'Your input exceeds the context window of this model.'),
      'overflow',
    ],
    ['a route that is not there', gatewayFault(404, '<html>Not Found</html>'), 'invalid_request'],
    ['a failure in the middle of an answer', reply('Half', errorEvent('server_error', 'it broke')), 'server'],
    ['an overload in the middle of an answer', reply('Half', errorEvent('server_is_overloaded', 'busy')), 'overloaded'],
    [
      'an overflow in the middle of an answer',
      reply(errorEvent('context_length_exceeded', 'Your input exceeds the context window of this model.')),
      'overflow',
    ],
    ['an answer that was declined', refusal('', reply('I ')), 'refused'],
  ] as const;
  for (const [name, script, reason] of failures) {
    it(`names ${name}`, async () => {
      const chat = await start();
      server.enqueue(script);
      assert.equal(failureOf(await collect(chat.stream(request(), never))).reason, reason);
    });
  }

  it('names a response that has failed, and one that a filter has stopped', () => {
    const failed = new ResponsesAnswer();
    assert.throws(
      () =>
        failed.read(
          `data: ${JSON.stringify({ type: 'response.failed', response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Too fast.' } } })}`,
        ),
      /Too fast/,
    );
    const filtered = new ResponsesAnswer();
    filtered.read(
      `data: ${JSON.stringify({ type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } } })}`,
    );
    assert.deepEqual(filtered.ending()?.end, { type: 'failed', failure: { reason: 'refused', detail: 'content_filter' } });
  });

  it('finds out which interface a server has', async () => {
    await start();
    const newer = client({ api: 'detect' });
    assert.equal((await ends(newer))?.type, 'stopped');
    assert.equal(server.chats.length, 1);
    assert.equal(failureOf(await collect(newer.stream(request({ model: 'nobody' }), never))).reason, 'unknown_model');
    const old = await startOpenaiServer();
    const older = client({ api: 'detect', baseURL: old.url });
    for (let i = 0; i < 2; i++)
      assert.equal((await collect(older.stream(request({ model: openaiModelId }), never))).at(-1)?.type, 'stopped');
    assert.deepEqual(
      old.requests.map(({ path }) => path),
      ['/v1/responses', '/v1/chat/completions', '/v1/chat/completions'],
    );
    await old.close();
  });
});
