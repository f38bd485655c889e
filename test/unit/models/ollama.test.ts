import assert from 'node:assert/strict';
import { ModelError } from '../../../src/core/models/modelEvent';
import { OllamaClient, TruncationDetector, type OllamaClientOptions } from '../../../src/node/models/ollama/ollamaClient';
import { reply, thinking, toolCall } from '../../support/messagesApi/messagesApiScript';
import { ollamaModelId, startOllamaServer, type OllamaServerOptions } from '../../support/servers/ollamaServer';
import { assistant, blocksOf, collect, failureOf, never, request as anyRequest, user } from './rig';
import { Recorder } from './subjects';

type Server = Awaited<ReturnType<typeof startOllamaServer>>;

describe('Ollama', () => {
  const log = new Recorder();
  let server: Server;
  afterEach(async () => {
    await server.close();
    log.lines.length = 0;
  });

  async function start(options: OllamaServerOptions = {}, own: Partial<OllamaClientOptions> = {}): Promise<OllamaClient> {
    server = await startOllamaServer(options);
    return new OllamaClient({ baseURL: server.url, contextTokens: null, logger: log.logger, ...own });
  }

  const request = (change = {}) => anyRequest({ model: ollamaModelId, ...change });
  const recall = { name: 'recall', description: 'finds', inputSchema: { type: 'object' } };

  it('asks for the context that the window is said to have', async () => {
    const client = await start();
    const info = await client.describe(ollamaModelId);
    const events = await collect(client.stream(request({ tools: [recall] }), never));
    assert.deepEqual([info.window, events.at(-1)], [32_768, { type: 'stopped', reason: 'end_turn' }]);
    const { options, tools } = server.chats[0]!.body as { options: unknown; tools: unknown[] };
    assert.deepEqual([options, tools.length], [{ num_ctx: 32_768, num_predict: 1_000 }, 1]);
  });

  it('knows that what calls were given is part of the prompt, and takes no whole answer for one to a prompt that was cut', async () => {
    const client = await start();
    const words = (characters: number) => 'the quick brown fox jumps over the lazy dog and '.repeat(Math.ceil(characters / 48));
    const tools = [recall];
    const called = [
      user(words(20_000)),
      assistant({ type: 'tool_use', callId: 'c1', name: 'recall', input: { content: words(24_000) } }),
      user({ type: 'tool_result', callId: 'c1', text: 'ok', isError: false }),
    ];
    for (const messages of [called, [user(words(72_000))]])
      assert.deepEqual((await collect(client.stream(request({ tools, messages }), never))).at(-1), { type: 'stopped', reason: 'end_turn' });
  });

  it('takes the window from the user, the loaded model or a size that machines hold, and never more than the model has', async () => {
    const cases: readonly (readonly [OllamaServerOptions, number | null, number])[] = [
      [{}, 100_000, 100_000],
      [{ modelContext: 8_192 }, 100_000, 8_192],
      [{ loaded: 65_536 }, null, 65_536],
      [{ loaded: 4_096 }, null, 32_768],
      [{ modelContext: 2_048 }, null, 2_048],
    ];
    for (const [options, contextTokens, expected] of cases) {
      assert.equal((await (await start(options, { contextTokens })).describe(ollamaModelId)).window, expected);
      await server.close();
    }
    await start();
  });

  it('lists models to talk to, and says which there are not', async () => {
    const client = await start();
    assert.deepEqual(
      (await client.listModels()).map(({ id }) => id),
      [ollamaModelId],
    );
    await assert.rejects(client.describe('missing'), (error) => ModelError.is(error) && error.failure.reason === 'unknown_model');
    await assert.rejects(client.describe('embed:latest'), (error) => ModelError.is(error) && /not a model to talk to/.test(error.message));
  });

  it('leaves out tools that the model cannot call', async () => {
    const client = await start({ tools: false });
    assert.equal((await collect(client.stream(request({ tools: [recall] }), never))).at(-1)?.type, 'stopped');
    assert.equal('tools' in server.chats[0]!.body, false);
  });

  it('tells a model how much to think as far as it can be told', async () => {
    const cases: readonly (readonly [OllamaServerOptions, string, readonly unknown[]])[] = [
      [{}, 'none', [undefined, undefined]],
      [{ thinks: [false] }, 'none', [false, undefined]],
      [{ thinks: [true, false] }, 'switch', [false, true]],
      [{ thinks: ['low', 'medium', 'high'] }, 'always', ['low', 'high']],
      [{ thinks: [false, 'low', 'high'] }, 'levels', [false, 'high']],
      [{ thinks: { family: 'qwen3' } }, 'switch', [false, true]],
      [{ thinks: { family: 'gptoss' } }, 'always', ['low', 'high']],
    ];
    for (const [options, control, sent] of cases) {
      const client = await start(options);
      for (const thinking of [undefined, 'off', 'high'] as const) await collect(client.stream(request(thinking && { thinking }), never));
      assert.equal((await client.describe(ollamaModelId)).thinking, control);
      assert.deepEqual(
        server.chats.map(({ body }) => body['think']),
        [undefined, ...sent],
      );
      await server.close();
    }
    await start();
  });

  it('takes thinking out of the text of a model whose template nobody knows', async () => {
    const client = await start();
    server.enqueue(reply('<think>\nWhich port?\n</think>\n\nPort 5173.'));
    assert.deepEqual(blocksOf(await collect(client.stream(request(), never))), [
      { type: 'thinking', text: 'Which port?\n' },
      { type: 'text', text: 'Port 5173.' },
    ]);
  });

  it('gives thinking, text and calls as blocks, and sends results by the name of the tool', async () => {
    const client = await start();
    server.enqueue(reply(thinking('Which?'), 'Looking.', toolCall('recall', { q: 'port' })));
    const blocks = blocksOf(await collect(client.stream(request({ tools: [recall] }), never)));
    const call = blocks[2]!;
    assert.ok(call.type === 'tool_use' && call.callId !== '');
    assert.deepEqual(blocks, [
      { type: 'thinking', text: 'Which?' },
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', callId: call.callId, name: 'recall', input: { q: 'port' } },
    ]);
    const messages = [
      user('Find it'),
      assistant(...blocks),
      user({ type: 'tool_result', callId: call.callId, text: '5173', isError: false }),
    ];
    await collect(client.stream(request({ messages }), never));
    assert.deepEqual(server.chats[1]!.body['messages'], [
      { role: 'user', content: 'Find it' },
      { role: 'assistant', content: 'Looking.', tool_calls: [{ function: { name: 'recall', arguments: { q: 'port' } } }] },
      { role: 'tool', tool_name: 'recall', content: '5173' },
    ]);
  });

  it('sends images to a model that sees, and words to one that does not', async () => {
    const messages = [user('Look', { type: 'image', name: 'shot.png', mime: 'image/png', data: 'AAAA' })];
    await collect((await start({ sees: true })).stream(request({ messages }), never));
    assert.deepEqual(server.chats[0]!.body['messages'], [{ role: 'user', content: 'Look', images: ['AAAA'] }]);
    await server.close();
    await collect((await start()).stream(request({ messages }), never));
    const [sent] = server.chats[0]!.body['messages'] as { content: string; images?: unknown }[];
    assert.deepEqual([/shot\.png/.test(sent!.content), sent!.images], [true, undefined]);
  });

  it('notices that a prompt was cut without a word, says how much is missing, and takes the window to be that small', async () => {
    const client = await start({ holds: 2_048, hidesContext: true }, { contextTokens: 16_384 });
    const failure = failureOf(
      await collect(client.stream(request({ messages: [user('the window holds what was said until it is full '.repeat(800))] }), never)),
    );
    assert.equal(failure.reason, 'overflow');
    assert.match(failure.detail, /cut the prompt without saying so: it read 2,048 of about [\d,]+ tokens/);
    assert.equal((await client.describe(ollamaModelId)).window, 2_048);
    await collect(client.stream(request(), never));
    assert.deepEqual((server.chats[1]!.body['options'] as { num_ctx: number }).num_ctx, 2_048);
  });

  it('learns from what is loaded that the server holds less than it was asked to', async () => {
    const client = await start({ holds: 4_096 }, { contextTokens: 16_384 });
    await collect(client.stream(request(), never));
    while ((await client.describe(ollamaModelId)).window !== 4_096) await new Promise((resolve) => setImmediate(resolve));
  });

  it('calls nothing cut that is only made of long tokens', () => {
    const detector = new TruncationDetector();
    const text = 'implementation '.repeat(2_000);
    for (let i = 0; i < 20; i++) assert.equal(detector.check(text.repeat(i + 1), Math.round((text.length * (i + 1)) / 6.2)), null);
    assert.notEqual(detector.check(text.repeat(21), Math.round((text.length * 16) / 6.2)), null);
  });

  it('says what to do when the server is not there', async () => {
    const client = await start();
    await server.close();
    assert.equal(failureOf(await collect(client.stream(request(), never))).reason, 'network');
    await start();
  });
});
