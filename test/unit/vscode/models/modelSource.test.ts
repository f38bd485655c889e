import { deepStrictEqual, equal, ok, rejects } from 'node:assert/strict';
import { askOnce } from '../../../../src/core/chat/askOnce';
import { ModelError } from '../../../../src/core/models/modelEvent';
import { OfflineModel } from '../../../../src/core/offline/offlineModel';
import type { SessionStore } from '../../../../src/core/ports';
import type { BudgetGate } from '../../../../src/core/cost/budgetedClient';
import type { OpenaiApi } from '../../../../src/node/models/openai/openaiDialect';
import { ModelBindings } from '../../../../src/node/runtime/modelBindings';
import { endpointOf, type Endpoint } from '../../../../src/vscode/models/endpoint';
import { LmModels } from '../../../../src/vscode/models/lmModels';
import { ModelNames } from '../../../../src/vscode/models/modelNames';
import { ModelSource } from '../../../../src/vscode/models/modelSource';
import { LmDouble } from '../../../support/vscode/lmDouble';
import { MessagesApi } from '../../../support/messagesApi/messagesApi';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { ollamaModelId, startOllamaServer } from '../../../support/servers/ollamaServer';
import { openaiModelId, startOpenaiServer } from '../../../support/servers/openaiServer';
import { resolvePolicy } from '../../../../src/core/context/policy/resolvePolicy';
import { Recorder } from '../../models/subjects';

describe('ModelSource', () => {
  const closing: (() => Promise<void>)[] = [];
  const log = new Recorder();
  const keys = new Map<string, string>();
  let settings: {
    anthropicUrl: string;
    openaiUrl: string;
    openaiApi: OpenaiApi;
    openaiContext: number;
    ollamaUrl: string;
    ollamaContext: number;
    model: string;
  };

  beforeEach(() => {
    settings = {
      anthropicUrl: '',
      openaiUrl: '',
      openaiApi: 'chat-completions',
      openaiContext: 0,
      ollamaUrl: '',
      ollamaContext: 0,
      model: '',
    };
    keys.clear();
    log.lines.length = 0;
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  function source(double = new LmDouble(10_000), canSend = true, budget?: BudgetGate): ModelSource {
    const hosted = new LmModels({ api: double.api, canSend: () => canSend, log: log.logger });
    const offline = new OfflineModel({ store: {} as SessionStore, notes: null as never, files: null });
    const find = async ({ origin }: Endpoint) => (keys.has(origin) ? { key: keys.get(origin)!, source: 'stored' as const } : undefined);
    const models: ModelSource = new ModelSource({
      keys: { find, expected: ({ origin }) => (keys.has(origin) ? 'stored' : undefined) },
      bindings: async () => bindings,
      endpoint: () => endpointOf(settings.anthropicUrl),
      others: () => settings,
      setting: () => settings.model,
      offlineChosen: () => false,
      names: new ModelNames({ modelNames: () => [], setModelNames: async () => undefined }),
      log: log.logger,
    });
    const bindings = new ModelBindings({
      offline,
      log: log.logger,
      reach: (...way) => models.reach(...way),
      hosted,
      ...(budget ? { budget } : {}),
    });
    return models;
  }

  it('finds the model of a session at its provider', async () => {
    const openai = await startOpenaiServer({ listed: { context_length: 50_000 } });
    const ollama = await startOllamaServer();
    closing.push(
      () => openai.close(),
      () => ollama.close(),
    );
    Object.assign(settings, { openaiUrl: `${openai.url}/v1`, ollamaUrl: ollama.url, ollamaContext: 9_000 });
    keys.set(openai.url, openai.apiKey!);
    const models = source();
    const found = async (session: string | null) => {
      const { client, info } = await models.resolve(session);
      return [client.provider, info.id, info.window, models.connection(info).key];
    };
    deepStrictEqual(await found(`openai-compatible/${openaiModelId}`), ['openai-compatible', openaiModelId, 50_000, 'not_needed']);
    deepStrictEqual(await found(`ollama/${ollamaModelId}`), ['ollama', ollamaModelId, 9_000, 'not_needed']);
    deepStrictEqual(await found('vscode/acme/double'), ['vscode', 'acme/double', 14_096, 'not_needed']);
    // No key for Claude, but a server: that is who answers.
    deepStrictEqual(await found(null), ['openai-compatible', openaiModelId, 50_000, 'not_needed']);
    settings.openaiUrl = '';
    deepStrictEqual(await found(null), ['offline', 'offline', 200_000, 'missing']);
    await rejects(
      models.resolve('openai-compatible/x'),
      (error) => ModelError.is(error) && /openaiCompatible\.baseUrl/.test(error.message),
    );
    await rejects(models.resolve('anthropic/claude-x'), (error) => ModelError.is(error) && error.failure.reason === 'no_key');
  });

  it('sends a key to no other origin than its own', async () => {
    const openai = await startOpenaiServer();
    closing.push(() => openai.close());
    keys.set('https://api.anthropic.com', 'sk-ant-secret-0123456789');
    settings.openaiUrl = openai.url;
    const access = await source().reach('openai-compatible', undefined);
    ok('apiKey' in access && access.apiKey === '');
    await rejects(source().reach('anthropic', openai.url), (error) => ModelError.is(error) && error.failure.reason === 'no_key');
    await rejects(source().list('openai-compatible'), (error) => ModelError.is(error) && error.failure.reason === 'bad_key');
    ok(!JSON.stringify([openai.requests, log.lines]).includes('sk-ant-secret'));
  });

  it('asks once with a key that is refused, until another one is there', async () => {
    const api = await MessagesApi.start();
    closing.push(() => api.close());
    settings.anthropicUrl = api.url;
    keys.set(api.url, 'sk-ant-wrong-0123456789');
    const models = source();
    for (let i = 0; i < 3; i++) await rejects(models.resolve(null), (error) => ModelError.is(error) && error.failure.reason === 'bad_key');
    await rejects(models.list('anthropic'), (error) => ModelError.is(error) && error.failure.reason === 'bad_key');
    equal(api.requests.length, 1);
    settings.model = 'claude-sonnet-4-5';
    keys.set(api.url, api.apiKey);
    equal((await models.resolve(null)).info.id, 'claude-sonnet-4-5');
  });

  it('asks the budget before the request of a single question, too', async () => {
    const openai = await startOpenaiServer();
    closing.push(() => openai.close());
    settings.openaiUrl = openai.url;
    keys.set(openai.url, openai.apiKey!);
    const binding = await source(undefined, undefined, async (mayAsk) => (mayAsk ? 'Spent.' : null)).resolve(
      `openai-compatible/${openaiModelId}`,
    );
    const sent = openai.requests.length;
    const { text, problem } = await askOnce(binding, 'What is a tide?', () => {}, new AbortController().signal);
    equal(text, '');
    ok(problem?.includes('Spent.'), problem ?? 'no problem');
    equal(openai.requests.length, sent);
  });

  it('has summaries written by every provider of the list, and leaves out what cannot be had', async () => {
    const openai = await startOpenaiServer();
    const ollama = await startOllamaServer();
    closing.push(
      () => openai.close(),
      () => ollama.close(),
    );
    settings.openaiUrl = openai.url;
    keys.set(openai.url, openai.apiKey!);
    const chain = [
      { provider: 'session', model: 'session' },
      { provider: 'ollama', model: ollamaModelId, url: ollama.url },
      { provider: 'anthropic', model: 'claude-sonnet-4-5' },
      { provider: 'nobody', model: 'x' },
      { provider: 'vscode', model: 'acme/double', contextTokens: 5_000 },
      { provider: 'openai-compatible', model: openaiModelId, url: openai.url, timeoutSeconds: 5 },
    ];
    const { policy, problems } = resolvePolicy('balanced', { 'summarizer.chain': chain });
    deepStrictEqual(problems, []);
    const binding = await source(undefined, false).resolve(`openai-compatible/${openaiModelId}`);
    const found = await binding.chain!(policy.summarizer.chain);
    deepStrictEqual(
      found.map(({ provider, model, contextTokens, needsConsent, continuesFrom }) => ({
        provider,
        model,
        contextTokens,
        needsConsent,
        continuesFrom,
      })),
      [
        {
          provider: 'openai-compatible',
          model: openaiModelId,
          contextTokens: 32_768,
          needsConsent: false,
          continuesFrom: `openai-compatible/${openaiModelId}`,
        },
        { provider: 'ollama', model: ollamaModelId, contextTokens: 131_072, needsConsent: false, continuesFrom: undefined },
        { provider: 'vscode', model: 'acme/double', contextTokens: 5_000, needsConsent: true, continuesFrom: undefined },
      ],
    );
    ollama.enqueue(reply('A summary.'));
    const { text } = await found[1]!.summarize(
      { system: 'Summarise.', prompt: 'All of it.', maxTokens: 500 },
      new AbortController().signal,
    );
    equal(text, 'A summary.');
    deepStrictEqual((ollama.chats.at(-1)!.body['options'] as { num_ctx: number }).num_ctx, 131_072);
  });
});
