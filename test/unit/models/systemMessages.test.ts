import assert from 'node:assert/strict';
import type { ModelBlock, ModelMessage } from '../../../src/core/models/modelRequest';
import { anthropicPrompt } from '../../../src/node/models/anthropic/anthropicRequest';
import { ollamaBody } from '../../../src/node/models/ollama/ollamaRequest';
import { OpenaiCompatibleClient } from '../../../src/node/models/openai/openaiCompatibleClient';
import { gatewayFault, httpFault, reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { openaiModelId, startOpenaiServer } from '../../support/servers/openaiServer';
import { ConversationRig } from '../../support/chat/conversationRig';
import { responsesModelId, startResponsesServer } from '../../support/servers/responsesServer';
import { assistant, collect, never, request, Rig, sent, user } from './rig';
import { Recorder } from './subjects';

type Fields = Record<string, unknown>;

const notice = (text: string): ModelBlock => ({ type: 'text', text, as: 'system' });
const call: ModelBlock = { type: 'tool_use', callId: 'c1', name: 'recall', input: {} };
const result: ModelBlock = { type: 'tool_result', callId: 'c1', text: 'found', isError: false };
const conversation: readonly ModelMessage[] = [
  user('One', notice('Write notes.')),
  assistant('Yes.', call),
  user(result, notice('Soon full.'), 'Two', notice('A.'), notice('B.')),
];

describe('what the program says as the system', () => {
  const log = new Recorder();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    log.lines.length = 0;
  });

  it('is a system message in the place where it was said, for Chat Completions', async () => {
    const server = await startOpenaiServer();
    closing.push(() => server.close());
    const client = new OpenaiCompatibleClient({
      apiKey: server.apiKey!,
      baseURL: server.url,
      api: 'chat-completions',
      contextTokens: null,
      logger: log.logger,
    });
    assert.equal((await collect(client.stream(request({ model: openaiModelId, messages: conversation }), never))).at(-1)?.type, 'stopped');
    assert.deepEqual(
      (server.chats[0]!.body['messages'] as Fields[]).map(({ role, content }) => [role, content]),
      [
        ['user', 'One'],
        ['system', 'Write notes.'],
        ['assistant', 'Yes.'],
        ['tool', 'found'],
        ['system', 'Soon full.'],
        ['user', 'Two'],
        ['system', 'A.\n\nB.'],
      ],
    );
  });

  for (const [name, fault] of [
    [
      'a template that wants it in front',
      gatewayFault(
        500,
        '{"error":{"code":500,"message":"Jinja Exception: System message must be at the beginning.","type":"server_error"}}',
        'application/json',
      ),
    ],
    [
      'a template that wants turns',
      httpFault(400, 'invalid_request_error', 'Conversation roles must alternate user/assistant/user/assistant/...'),
    ],
  ] as const) {
    it(`becomes a block of the user's for ${name}, once it has said so`, async () => {
      const server = await startOpenaiServer();
      closing.push(() => server.close());
      const client = new OpenaiCompatibleClient({
        apiKey: server.apiKey!,
        baseURL: server.url,
        api: 'chat-completions',
        contextTokens: null,
        logger: log.logger,
      });
      server.enqueue(fault);
      for (let i = 0; i < 2; i++)
        assert.equal(
          (await collect(client.stream(request({ model: openaiModelId, messages: conversation }), never))).at(-1)?.type,
          'stopped',
        );
      assert.deepEqual(
        server.chats.map(({ body }) => JSON.stringify(body['messages']).includes('"system"')),
        [true, false, false],
      );
      assert.deepEqual((server.chats[1]!.body['messages'] as Fields[]).at(-1), { role: 'user', content: 'Soon full.\n\nTwo\n\nA.\n\nB.' });
    });
  }

  it('is no reason to ask again where nothing was said as the system', async () => {
    const server = await startOpenaiServer();
    closing.push(() => server.close());
    const client = new OpenaiCompatibleClient({
      apiKey: server.apiKey!,
      baseURL: server.url,
      api: 'chat-completions',
      contextTokens: null,
      logger: log.logger,
    });
    server.enqueue(httpFault(400, 'invalid_request_error', 'The system is down.'));
    assert.equal((await collect(client.stream(request({ model: openaiModelId }), never))).at(-1)?.type, 'failed');
    assert.equal(server.chats.length, 1);
  });

  it('is a system message in its place for the Responses API', async () => {
    const server = await startResponsesServer();
    closing.push(() => server.close());
    const client = new OpenaiCompatibleClient({
      apiKey: server.apiKey!,
      baseURL: server.url,
      api: 'responses',
      contextTokens: null,
      logger: log.logger,
    });
    assert.equal(
      (await collect(client.stream(request({ model: responsesModelId, messages: conversation }), never))).at(-1)?.type,
      'stopped',
    );
    assert.deepEqual(
      (server.chats[0]!.body['input'] as Fields[]).map(({ type, role }) => role ?? type),
      ['user', 'system', 'assistant', 'function_call', 'function_call_output', 'system', 'user', 'system'],
    );
  });

  it('stays a block of the user for Ollama, whose templates would move it in front of everything', () => {
    const body = ollamaBody(request({ messages: conversation }), { contextTokens: 8_000, tools: true, images: false, thinks: [] });
    assert.deepEqual(
      (body['messages'] as Fields[]).map(({ role }) => role),
      ['user', 'assistant', 'tool', 'user'],
    );
    assert.match(JSON.stringify(body['messages']), /Soon full/);
  });

  describe('for Claude', () => {
    const rig = new Rig();
    afterEach(() => rig.close());
    const model = 'claude-sonnet-5-5';
    const roles = (messages: readonly ModelMessage[], of = model) =>
      anthropicPrompt(request({ model: of, messages })).messages.map(({ role }) => role);

    it('is a system message at the end of what the user has said, with its mark for the cache', async () => {
      await rig.start();
      const marked = conversation.map((message) => ({ ...message, cacheBreakpoint: message.role === 'user' }));
      assert.equal((await collect(rig.client().stream(request({ model, messages: marked }), never))).at(-1)?.type, 'stopped');
      const messages = sent(rig.api).messages;
      assert.deepEqual(
        messages.map(({ role, content }) => [role, content.map(({ type, text }) => text ?? type)]),
        [
          ['user', ['One']],
          ['system', ['Write notes.']],
          ['assistant', ['Yes.', 'tool_use']],
          ['user', ['tool_result', 'Soon full.', 'Two']],
          ['system', ['A.', 'B.']],
        ],
      );
      assert.deepEqual(
        messages.map(({ content }) => content.filter(({ cache_control: mark }) => mark !== undefined).length),
        [0, 1, 0, 0, 1],
      );
    });

    it('stays a block for models that do not take it, with nothing of the user’s in front, and in front of more from the user', () => {
      assert.deepEqual(roles(conversation, 'claude-sonnet-4-5'), ['user', 'assistant', 'user']);
      assert.deepEqual(roles(conversation, 'claude-of-the-future'), ['user', 'assistant', 'user']);
      assert.deepEqual(roles(conversation, 'claude-opus-4-8'), ['user', 'system', 'assistant', 'user', 'system']);
      assert.deepEqual(roles([user(notice('Alone.'))]), ['user']);
      assert.deepEqual(roles([user('One', notice('A.')), user('Two')]), ['user', 'user']);
    });

    it('becomes a block where a gateway refuses it, once it has said so', async () => {
      await rig.start();
      const client = rig.client();
      rig.api.enqueue(httpFault(400, 'invalid_request_error', "messages.1.role: Input should be 'user' or 'assistant'"));
      for (let i = 0; i < 2; i++)
        assert.equal((await collect(client.stream(request({ model, messages: conversation }), never))).at(-1)?.type, 'stopped');
      assert.deepEqual(
        rig.api.messages.map(({ body }) => JSON.stringify(body).includes('"role":"system"')),
        [true, false, false],
      );
      assert.deepEqual(rig.logged.filter(({ event }) => event === 'model_dialect_changed').length, 1);
    });

    it('leaves the cached prompt as it was, from the turn that carries it to the next', async () => {
      await rig.start();
      rig.api.setModel(model, { window: 20_000, maxOutput: 1_000 });
      const client = rig.client();
      const talk = await ConversationRig.create({
        binding: async () => ({ client, info: await client.describe(model), summarizer: null }),
      });
      closing.push(() => talk.dispose());
      talk.overrides = {
        'memoryFlush.thresholds': [{ percent: 20, prompt: 'Write notes.', injectAs: 'system' }],
        'compaction.automatic': false,
        'checkpoint.enabled': false,
      };
      await talk.conversation.send(`One ${'word '.repeat(4_000)}`, 'm1');
      rig.api.enqueue(reply('I look.', toolCall('echo', { text: 'x' })), reply('Done.'));
      for (const id of ['m2', 'm3']) assert.equal((await talk.conversation.send('And now?', id)).ok, true);
      const bodies = rig.api.messages.map(({ body }) => body as unknown as { messages: { role: string }[] });
      assert.equal(bodies.at(-1)!.messages.filter(({ role }) => role === 'system').length, 1);
      for (const [at, { messages }] of bodies.slice(1).entries()) {
        const before = withoutMarks(bodies[at]!.messages);
        assert.deepEqual(withoutMarks(messages).slice(0, before.length), before);
      }
      assert.deepEqual(rig.api.errors, []);
    });
  });
});

function withoutMarks(messages: unknown): unknown[] {
  return JSON.parse(JSON.stringify(messages, (key, value: unknown) => (key === 'cache_control' ? undefined : value))) as unknown[];
}
