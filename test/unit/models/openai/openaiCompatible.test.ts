import assert from 'node:assert/strict';
import { ModelError, type TokenUsage } from '../../../../src/core/models/modelEvent';
import { AnswerBlocks } from '../../../../src/node/models/answerBlocks';
import { chatCompletionBody } from '../../../../src/node/models/openai/chatCompletionRequest';
import { firstDialect, otherDialect } from '../../../../src/node/models/openai/openaiDialect';
import {
  OpenaiCompatibleClient,
  openaiModel,
  type OpenaiCompatibleOptions,
} from '../../../../src/node/models/openai/openaiCompatibleClient';
import { endEarly, gatewayFault, httpFault, refusal, reply, thinking, toolCall } from '../../../support/messagesApi/messagesApiScript';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { openaiModelId, startOpenaiServer, type OpenaiServerOptions } from '../../../support/servers/openaiServer';
import { assistant, blocksOf, collect, failureOf, never, request as anyRequest, user } from '../rig';
import { Recorder } from '../subjects';

type Server = Awaited<ReturnType<typeof startOpenaiServer>>;

describe('an OpenAI-compatible server', () => {
  const log = new Recorder();
  let server: Server;
  afterEach(async () => {
    await server.close();
    log.lines.length = 0;
  });

  async function start(options: OpenaiServerOptions = {}): Promise<OpenaiCompatibleClient> {
    server = await startOpenaiServer(options);
    return client();
  }

  function client(options: Partial<OpenaiCompatibleOptions> = {}): OpenaiCompatibleClient {
    return new OpenaiCompatibleClient({
      apiKey: server.apiKey ?? '',
      baseURL: `${server.url}/v1`,
      api: 'chat-completions',
      contextTokens: null,
      logger: log.logger,
      ...options,
    });
  }

  const request = (change = {}) => anyRequest({ model: openaiModelId, ...change });
  const usages = async (from: OpenaiCompatibleClient): Promise<TokenUsage[]> =>
    (await collect(from.stream(request(), never))).flatMap((event) => (event.type === 'usage' ? [event.usage] : []));

  it('gives thinking, text and calls as blocks, in the order in which they began', async () => {
    const chat = await start();
    server.enqueue(
      reply(
        thinking('Which port?'),
        'I look it up.',
        toolCall('recall', { query: 'port' }, 'call_1'),
        toolCall('recall', { query: 'host' }, 'call_2'),
      ),
    );
    const events = await collect(chat.stream(request(), never));
    assert.deepEqual(blocksOf(events), [
      { type: 'thinking', text: 'Which port?' },
      { type: 'text', text: 'I look it up.' },
      { type: 'tool_use', callId: 'call_1', name: 'recall', input: { query: 'port' } },
      { type: 'tool_use', callId: 'call_2', name: 'recall', input: { query: 'host' } },
    ]);
    assert.deepEqual(events.at(-1), { type: 'stopped', reason: 'tool_use' });
  });

  it('tells calls apart that come without an index', async () => {
    const chat = await start({ omitsIndex: true });
    server.enqueue(reply(toolCall('one', { a: 'first of two calls, long enough for pieces' }, 'call_1'), toolCall('two', {}, 'call_2')));
    const blocks = blocksOf(await collect(chat.stream(request(), never)));
    assert.deepEqual(
      blocks.map((block) => block.type === 'tool_use' && [block.callId, block.name, block.input]),
      [
        ['call_1', 'one', { a: 'first of two calls, long enough for pieces' }],
        ['call_2', 'two', {}],
      ],
    );
  });

  it('tells calls apart that all have the same index', async () => {
    const chat = await start({ repeatsIndex: true });
    server.enqueue(
      reply(toolCall('read', { path: 'the first of two files, long enough for pieces' }, 'c1'), toolCall('read', { path: 'b' }, 'c2')),
    );
    const blocks = blocksOf(await collect(chat.stream(request(), never)));
    assert.deepEqual(
      blocks.map((block) => block.type === 'tool_use' && [block.callId, block.input]),
      [
        ['c1', { path: 'the first of two files, long enough for pieces' }],
        ['c2', { path: 'b' }],
      ],
    );
  });

  it('takes an answer that breaks off for none, of a server whose reason for stopping is empty until it stops', async () => {
    const chat = await start({ hasEmptyReasons: true });
    assert.equal((await collect(chat.stream(request(), never))).at(-1)?.type, 'stopped');
    server.enqueue(reply('The first half of', endEarly));
    assert.equal((await collect(chat.stream(request(), never))).at(-1)?.type, 'failed');
  });

  it('takes the usage from wherever it stands, and none from a server that does not count', async () => {
    const final = await usages(await start({ usage: 'final' }));
    assert.equal(final.length, 1);
    await server.close();
    const every = await usages(await start({ usage: 'every' }));
    assert.deepEqual(every.at(-1), final[0]);
    assert.ok(final[0]!.cacheRead > 0 && final[0]!.input > 0 && final[0]!.output > 0);
    for (const usage of ['missing', 'zero'] as const) {
      await server.close();
      assert.deepEqual(await usages(await start({ usage })), []);
    }
  });

  it('asks again in other words when a server does not know a parameter, and remembers', async () => {
    const chat = await start({ isReasoning: true, isOld: true });
    for (let i = 0; i < 2; i++) assert.equal((await collect(chat.stream(request(), never))).at(-1)?.type, 'stopped');
    const [, , third, fourth] = server.chats.map(({ body }) => [
      'max_tokens' in body,
      'max_completion_tokens' in body,
      'stream_options' in body,
    ]);
    assert.deepEqual([server.chats.length, third, fourth], [4, [false, true, false], [false, true, false]]);
  });

  it('gives up a server that takes neither name of the limit', async () => {
    const chat = await start({ isUnlimited: true });
    assert.equal((await collect(chat.stream(request(), never))).at(-1)?.type, 'failed');
    assert.equal(server.chats.length, 2);
  });

  it('uses the newer name of the limit for reasoning models from the start', async () => {
    const chat = await start();
    await collect(chat.stream(request({ model: 'o4-mini' }), never));
    assert.equal(server.chats[0]!.body['max_completion_tokens'], 1_000);
    assert.equal('max_tokens' in server.chats[0]!.body, false);
  });

  it('learns the window from the refusal of a prompt that is too long', async () => {
    const chat = await start({ window: 300, listed: { max_model_len: 9_000 } });
    assert.equal((await chat.describe(openaiModelId)).window, 9_000);
    const failure = failureOf(await collect(chat.stream(request({ messages: [user('word '.repeat(1_000))] }), never)));
    assert.deepEqual([failure.reason, failure.window], ['overflow', 300]);
    assert.equal((await chat.describe(openaiModelId)).window, 300);
  });

  it('does not guess how much a server reads that is down or busy, only of one that does not tell', async () => {
    await start();
    const baseURL = server.url;
    const answering = (status: number) => (async () => new Response('{"error":{"message":"no"}}', { status })) as typeof fetch;
    const described = (options: Partial<OpenaiCompatibleOptions>) =>
      new OpenaiCompatibleClient({ apiKey: '', baseURL, api: 'chat-completions', contextTokens: null, logger: log.logger, ...options })
        .describe('any')
        .then(
          ({ window }) => window,
          (error) => ModelError.is(error) && error.failure.reason,
        );
    const told = async (options: Partial<OpenaiCompatibleOptions> = {}) =>
      Promise.all([
        ...[429, 529, 502, 503, 504, 500, 404, 405, 501].map((status) => described({ ...options, fetch: answering(status) })),
        described(options),
      ]);
    await server.close();
    const unknown = 32_768;
    assert.deepEqual(await told(), [
      ...['rate_limited', 'overloaded', 'server', 'server', 'server'],
      ...[unknown, unknown, unknown, unknown],
      'network',
    ]);
    assert.deepEqual(await told({ contextTokens: 64_000 }), Array(10).fill(64_000));
    await start();
  });

  it('folds nothing of a long session while its server is down', async () => {
    let asked = await start({ window: 300_000, listed: { context_length: 200_000 } });
    const rig = await ConversationRig.create({
      binding: async () => ({ client: asked, info: await asked.describe(openaiModelId), summarizer: null }),
    });
    for (let i = 0; i < 12; i++) assert.equal((await rig.conversation.send('word '.repeat(4_000), `m${i}`)).ok, true);
    asked = client();
    await server.close();
    const { ok, error } = await rig.conversation.send('and now?', 'last');
    assert.deepEqual([ok, error?.reason, rig.compactions()], [false, 'network', []]);
    assert.match(error?.message ?? '', /Your message is saved\.$/);
    assert.equal((await rig.texts()).at(-1), 'and now?');
    await rig.dispose();
    await start();
  });

  it('joins what templates want joined, and puts results behind their calls', async () => {
    const chat = await start();
    const messages = [
      user('One'),
      user('Two'),
      assistant({ type: 'thinking', text: 'hm' }, { type: 'tool_use', callId: 'c1', name: 'recall', input: { q: 1 } }),
      user({ type: 'tool_result', callId: 'c1', text: 'nothing', isError: true }, 'And now?'),
    ];
    await collect(chat.stream(request({ system: 'Be brief.', systemSummary: 'Before.', messages }), never));
    assert.deepEqual(server.chats[0]!.body['messages'], [
      { role: 'system', content: 'Be brief.\n\nBefore.' },
      { role: 'user', content: 'One\n\nTwo' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'recall', arguments: '{"q":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Error: nothing' },
      { role: 'user', content: 'And now?' },
    ]);
    assert.deepEqual(server.errors, []);
  });

  for (const wantsThinking of [
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
    'Missing reasoning_content field in the assistant message at message index 2.',
  ])
    it(`sends something for the thinking of earlier answers where it is told: ${wantsThinking}`, async () => {
      const chat = await start({ wantsThinking });
      const messages = [
        user('One'),
        assistant({ type: 'tool_use', callId: 'c1', name: 'recall', input: {} }),
        user({ type: 'tool_result', callId: 'c1', text: 'found', isError: false }),
        assistant('Yes.'),
        user('Two'),
      ];
      const sent = async (before: typeof messages) => {
        assert.equal((await collect(chat.stream(request({ messages: before }), never))).at(-1)?.type, 'stopped');
        return server.chats.at(-1)!.body['messages'];
      };
      assert.deepEqual(await sent([user('One')]), [{ role: 'user', content: 'One' }]);
      for (let i = 0; i < 2; i++)
        assert.deepEqual(await sent(messages), [
          { role: 'user', content: 'One' },
          {
            role: 'assistant',
            content: '',
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'recall', arguments: '{}' } }],
            reasoning_content: ' ',
          },
          { role: 'tool', tool_call_id: 'c1', content: 'found' },
          { role: 'assistant', content: 'Yes.', reasoning_content: ' ' },
          { role: 'user', content: 'Two' },
        ]);
      assert.equal(server.chats.length, 4, 'a refusal is remembered');
    });

  it('signs calls for a server that refuses them without a signature, pictures or not', async () => {
    const chat = await start({ wantsSignatures: true });
    const call = (callId: string) => ({ type: 'tool_use', callId, name: 'view_image', input: {} }) as const;
    const result = (callId: string) => ({ type: 'tool_result', callId, text: 'seen', isError: false }) as const;
    const image = { type: 'image', name: 'shot.png', mime: 'image/png', data: 'AAAA' } as const;
    const messages = [user('Look', image), assistant(call('c1'), call('c2')), user(result('c1'), result('c2'))];
    for (let i = 0; i < 2; i++) assert.equal((await collect(chat.stream(request({ messages }), never))).at(-1)?.type, 'stopped');
    const signed = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'view_image', arguments: '{}' },
      extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } },
    });
    assert.deepEqual(server.chats.at(-1)!.body['messages'], [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [signed('c1'), signed('c2')] },
      { role: 'tool', tool_call_id: 'c1', content: 'seen' },
      { role: 'tool', tool_call_id: 'c2', content: 'seen' },
    ]);
    assert.equal(server.chats.length, 3, 'a refusal is remembered');
  });

  it('keeps ids of calls as short as OpenAI takes them, whoever made them', async () => {
    const chat = await start();
    const long = `call_${'x'.repeat(40)}_1`;
    await collect(
      chat.stream(
        request({
          messages: [
            user('One'),
            assistant({ type: 'tool_use', callId: long, name: 'recall', input: {} }),
            user({ type: 'tool_result', callId: long, text: 'ok', isError: false }),
          ],
        }),
        never,
      ),
    );
    const [, asked, answered] = server.chats[0]!.body['messages'] as Record<string, unknown>[];
    const id = long.slice(-40);
    assert.deepEqual([(asked!['tool_calls'] as { id: string }[])[0]?.id, answered!['tool_call_id']], [id, id]);
    const blocks = new AnswerBlocks();
    blocks.call('0', { name: 'recall', input: {} });
    const [made] = blocks.finish();
    assert.ok(made?.type === 'block' && made.block.type === 'tool_use' && made.block.callId.length <= 40);
  });

  it('tells a model how much to think, with the least effort it takes for off, and not at all where that is refused', async () => {
    const cases: readonly (readonly [OpenaiServerOptions, readonly unknown[], string | undefined])[] = [
      [{}, ['none', 'high'], undefined],
      [{ efforts: ['none', 'low', 'high'] }, ['none', 'high'], undefined],
      [{ efforts: ['minimal', 'low', 'medium', 'high'] }, ['none', 'minimal', 'high'], undefined],
      [{ efforts: ['low', 'high'] }, ['none', 'minimal', 'low', 'high'], undefined],
      [{ efforts: null }, ['none', undefined, undefined], 'none'],
      [{ listed: { supported_parameters: ['tools'] } }, ['none', 'high'], 'none'],
      [{ listed: { supported_parameters: ['tools', 'reasoning'] } }, ['none', 'high'], undefined],
    ];
    for (const [options, sent, control] of cases) {
      const chat = await start(options);
      for (const thinking of [undefined, 'off', 'high'] as const)
        assert.equal((await collect(chat.stream(request(thinking && { thinking }), never))).at(-1)?.type, 'stopped');
      assert.deepEqual(
        server.chats.map(({ body }) => body['reasoning_effort']),
        [undefined, ...sent],
      );
      assert.equal((await chat.describe(openaiModelId)).thinking, control);
      await server.close();
    }
    await start();
  });

  it('takes thinking out of the text of a server that does not know the tags', async () => {
    const chat = await start();
    server.enqueue(reply('<think>Which port?</think>\n\nI look it up.', toolCall('recall', { query: 'port' }, 'call_1')));
    assert.deepEqual(blocksOf(await collect(chat.stream(request(), never))), [
      { type: 'thinking', text: 'Which port?' },
      { type: 'text', text: 'I look it up.' },
      { type: 'tool_use', callId: 'call_1', name: 'recall', input: { query: 'port' } },
    ]);
  });

  it('sends images, and in words to a model that refuses them', async () => {
    const messages = [user('Look', { type: 'image', name: 'shot.png', mime: 'image/png', data: 'AAAA' })];
    await collect((await start()).stream(request({ messages }), never));
    assert.deepEqual(server.chats[0]!.body['messages'], [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ]);
    await server.close();
    const blind = await start({ isBlind: true });
    assert.equal((await collect(blind.stream(request({ messages }), never))).at(-1)?.type, 'stopped');
    assert.match(JSON.stringify(server.chats.at(-1)!.body['messages']), /shot\.png/);
  });

  it('goes on sending pictures to a model that has refused a single one', () => {
    const messages = [user('Look', { type: 'image', name: 'shot.png', mime: 'image/png', data: 'AAAA' })];
    const dialect = firstDialect('gpt-5', 'chat-completions');
    const after = (detail: string) =>
      otherDialect(dialect, { reason: 'invalid_request', status: 400, detail }, request({ messages }))?.images;
    assert.deepEqual(
      [
        'You uploaded an unsupported image. Please make sure your image is a png.',
        'The image data you provided does not represent a valid image.',
        'Image size exceeds the maximum of 20 MB',
        'This model does not support image input.',
        'Unsupported image input for this model.',
      ].map(after),
      [undefined, undefined, undefined, false, false],
    );
  });

  it('gives calls from elsewhere names that the API takes', () => {
    const messages = [
      user('x'),
      assistant({ type: 'tool_use', callId: 'functions.read_file:0', name: 'functions.read_file', input: {} }),
      user({ type: 'tool_result', callId: 'functions.read_file:0', text: 'ok', isError: false }),
    ];
    const body = chatCompletionBody(request({ messages }), firstDialect('gpt-5', 'chat-completions'));
    const [, asked] = body['messages'] as { tool_calls?: { function: { name: string } }[] }[];
    assert.match(asked!.tool_calls![0]!.function.name, /^[\w-]{1,64}$/);
  });

  const answers = [
    ['a refused key', httpFault(401, 'invalid_api_key', 'Incorrect API key provided'), 'bad_key'],
    ['a quota that is used up', httpFault(429, 'insufficient_quota', 'You exceeded your current quota'), 'quota'],
    ['a rate limit', httpFault(429, 'rate_limit_exceeded', 'Rate limit reached; maximum context length'), 'rate_limited'],
    ['an unknown model', httpFault(404, 'model_not_found', 'The model does not exist'), 'unknown_model'],
    ['a route that is not there', gatewayFault(404, '<html>Not Found</html>'), 'invalid_request'],
    ['a model that fell over', gatewayFault(500, '{"error":"llama runner process has terminated"}', 'application/json'), 'server'],
    [
      'an overflow in the words of llama.cpp',
      gatewayFault(
        400,
        '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}',
        'application/json',
      ),
      'overflow',
    ],
    [
      'an overflow in the words of LM Studio',
      gatewayFault(
        400,
        '{"error":"Trying to keep the first 5200 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}',
        'application/json',
      ),
      'overflow',
    ],
    ['an answer that a filter stopped', refusal('', reply('I ')), 'refused'],
  ] as const;
  for (const [name, script, reason] of answers) {
    it(`names ${name}`, async () => {
      const chat = await start();
      server.enqueue(script);
      const failure = failureOf(await collect(chat.stream(request(), never)));
      assert.equal(failure.reason, reason);
      if (reason === 'overflow') assert.equal(failure.window, 4_096);
    });
  }

  it('takes a message that was not streamed', async () => {
    server = await startOpenaiServer();
    const whole = (async () =>
      Response.json({
        choices: [{ message: { role: 'assistant', content: 'Whole.' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 9, completion_tokens: 2 },
      })) as typeof fetch;
    const events = await collect(client({ fetch: whole }).stream(request(), never));
    assert.deepEqual(events, [
      { type: 'text_delta', index: 0, text: 'Whole.' },
      { type: 'usage', usage: { input: 9, output: 2, cacheRead: 0, cacheWrite: 0 } },
      { type: 'block', index: 0, block: { type: 'text', text: 'Whole.' } },
      { type: 'stopped', reason: 'end_turn' },
    ]);
  });

  it('lists models with the limits that servers tell under their names, the user’s word first', () => {
    const window = (fields: object, own: number | null = null) => openaiModel('p', { id: 'm', ...fields }, own)?.window;
    assert.deepEqual(
      [
        window({ context_length: 64_000 }),
        window({ max_model_len: 32_000 }),
        window({ loaded_context_length: 8_192, max_context_length: 131_072 }),
        window({ meta: { n_ctx: 16_384 } }),
        window({}),
        window({ context_length: 64_000 }, 20_000),
      ],
      [64_000, 32_000, 8_192, 16_384, 32_768, 20_000],
    );
    assert.equal(openaiModel('p', { name: 'no id' }, null), undefined);
  });

  it('sends the key to nobody who has none, and shows it to nobody', async () => {
    const chat = await start();
    server.enqueue(httpFault(401, 'invalid_api_key', `Incorrect API key provided: ${server.apiKey}`));
    const { detail } = failureOf(await collect(chat.stream(request(), never)));
    assert.ok(!detail.includes(server.apiKey!) && !JSON.stringify(log.lines).includes(server.apiKey!));
    assert.throws(
      () => client({ apiKey: 'sk ключ' }),
      (error) => ModelError.is(error) && error.failure.reason === 'bad_key',
    );
    await server.close();
    const open = await start({ apiKey: null });
    assert.equal((await collect(open.stream(request(), never))).at(-1)?.type, 'stopped');
  });

  it('takes an address with and without version and path, and works without a list of models', async () => {
    await start({ listed: null });
    for (const baseURL of [server.url, `${server.url}/`, `${server.url}/v1/`, `${server.url}/v1/chat/completions`]) {
      assert.equal((await collect(client({ baseURL }).stream(request(), never))).at(-1)?.type, 'stopped');
    }
    assert.deepEqual(await client({ contextTokens: 12_000 }).describe('any'), {
      provider: 'openai-compatible',
      id: 'any',
      name: 'any',
      window: 12_000,
      maxOutput: 8_192,
      source: 'provider',
    });
    assert.throws(() => client({ baseURL: 'ftp://x' }), ModelError.is);
  });
});
