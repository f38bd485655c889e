import assert from 'node:assert/strict';
import { formatOf } from '../../../src/core/compaction/summary/summaryFormat';
import { summaryFormats } from '../../../src/core/context/policy/policy';
import type { ModelClient } from '../../../src/core/ports';
import { AnthropicClient } from '../../../src/node/models/anthropic/anthropicClient';
import { ModelSummarizer } from '../../../src/node/models/modelSummarizer';
import { OllamaClient } from '../../../src/node/models/ollama/ollamaClient';
import { OpenaiCompatibleClient } from '../../../src/node/models/openai/openaiCompatibleClient';
import { MessagesApi } from '../../support/messagesApi/messagesApi';
import { reply } from '../../support/messagesApi/messagesApiScript';
import { ollamaModelId, startOllamaServer } from '../../support/servers/ollamaServer';
import { openaiModelId, startOpenaiServer, type OpenaiServerOptions } from '../../support/servers/openaiServer';
import { never } from './rig';
import { Recorder } from './subjects';

const { logger } = new Recorder();
const { schema } = formatOf('session-state');
const ask = { system: 'Summarise.', prompt: 'All of it.', maxTokens: 500, schema: schema! };

function summary(client: ModelClient, model: string, change = {}) {
  return new ModelSummarizer({ client, model, contextTokens: 8_000 }).summarize({ ...ask, ...change }, never);
}

describe('an answer in a form', () => {
  it('is demanded of Claude where the provider says that it can be, and never behind a cached conversation', async () => {
    const api = await MessagesApi.start();
    api.setModel('claude-formal', { structured: true, window: 8_000, maxOutput: 2_000 });
    api.setModel('claude-free', { structured: false, window: 8_000, maxOutput: 2_000 });
    const client = new AnthropicClient({ apiKey: api.apiKey, baseURL: api.url, logger });
    const sent = () => (api.messages.at(-1)!.body as { output_config?: unknown }).output_config;
    await summary(client, 'claude-formal');
    assert.deepEqual(sent(), { format: { type: 'json_schema', schema } });
    for (const model of ['claude-free', 'claude-tiny-8k']) {
      await summary(client, model);
      assert.equal(sent(), undefined, model);
    }
    assert.deepEqual(api.errors, []);
    await api.close();
  });

  it('is demanded of an OpenAI-compatible server until it refuses', async () => {
    const bodies = async (options: OpenaiServerOptions) => {
      const server = await startOpenaiServer(options);
      const client = new OpenaiCompatibleClient({
        apiKey: server.apiKey!,
        baseURL: server.url,
        api: 'chat-completions',
        contextTokens: null,
        logger,
      });
      for (let i = 0; i < 2; i++) {
        server.enqueue(reply('{}'));
        assert.equal((await summary(client, openaiModelId)).text, '{}');
      }
      await server.close();
      return server.chats.map(({ body }) => body['response_format']);
    };
    const form = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };
    assert.deepEqual(await bodies({}), [form, form]);
    assert.deepEqual(await bodies({ isFree: true }), [form, undefined, undefined]);
  });

  it('is demanded of Ollama, unless it is too old for that', async () => {
    for (const [isOld, expected] of [
      [false, [schema, schema]],
      [true, [schema, undefined, undefined]],
    ] as const) {
      const server = await startOllamaServer({ isOld });
      const client = new OllamaClient({ baseURL: server.url, contextTokens: 8_000, logger });
      for (let i = 0; i < 2; i++) {
        server.enqueue(reply('{}'));
        assert.equal((await summary(client, ollamaModelId)).text, '{}');
      }
      assert.deepEqual(
        server.chats.map(({ body }) => body['format']),
        expected,
      );
      await server.close();
    }
  });

  it('has all that its format reads, and can be held to strictly', () => {
    for (const name of summaryFormats) {
      const { schema: form, read } = formatOf(name);
      if (!form) {
        assert.equal(name, 'narrative');
        continue;
      }
      const { properties, required, additionalProperties } = form as {
        properties: Record<string, { type: string }>;
        required: string[];
        additionalProperties: boolean;
      };
      assert.deepEqual([required, additionalProperties], [Object.keys(properties), false]);
      const answer = Object.fromEntries(
        Object.entries(properties).map(([key, { type }]) => [key, type === 'array' ? [`a line of ${key} (#1)`] : `the ${key}`]),
      );
      const { flaws, inForm, usable } = read(JSON.stringify(answer));
      assert.deepEqual({ flaws, inForm, usable }, { flaws: [], inForm: true, usable: true }, name);
    }
  });
});
