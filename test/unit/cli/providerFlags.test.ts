import assert from 'node:assert/strict';
import { ModelError } from '../../../src/core/models/modelEvent';
import { providerIds, type ProviderId } from '../../../src/core/models/providers';
import { parseProviderFlags } from '../../../src/node/cli/providerFlags';

const env = { ANTHROPIC_API_KEY: ' key-a ', OPENAI_API_KEY: 'key-o' };
const local = 'http://localhost:1234/v1';

describe('where the command line reaches another model than the one that answers', () => {
  const reached = async (flags: Readonly<Record<string, string>>, asked: ProviderId, url?: string) =>
    parseProviderFlags({ model: 'm', ...flags }, env)
      .reach(asked, url)
      .catch((error: unknown) => (ModelError.is(error) ? error.failure.reason : error));

  it('each provider is reached at its own address, or at the one that is named', async () => {
    const anthropic = { 'base-url': 'https://proxy.example.com' };
    const found = providerIds.map(async (id) => [id, await reached(anthropic, id), await reached(anthropic, id, local)]);
    assert.deepEqual(await Promise.all(found), [
      ['anthropic', { provider: 'anthropic', apiKey: 'key-a', baseURL: 'https://proxy.example.com' }, 'no_key'],
      ...Object.entries(elsewhere).map(([id, access]) => [id, access(''), access(local)]),
    ]);
  });

  /** In the order of `providerIds`. */
  const elsewhere: Readonly<Record<Exclude<ProviderId, 'anthropic'>, (baseURL: string) => unknown>> = {
    'openai-compatible': (baseURL) => ({
      provider: 'openai-compatible',
      apiKey: '',
      baseURL,
      api: 'chat-completions',
      contextTokens: null,
    }),
    ollama: (baseURL) => ({ provider: 'ollama', baseURL, contextTokens: null }),
    vscode: () => 'unknown_model',
  };

  it('a key goes to the address it was given for, and to no other', async () => {
    const flags = { provider: 'openai-compatible', 'base-url': local, api: 'responses' };
    const keyAt = async (url?: string) => {
      const access = await reached(flags, 'openai-compatible', url);
      return (access as { apiKey: string }).apiKey;
    };
    assert.deepEqual(
      await Promise.all([undefined, `${local}/other`, 'http://localhost:1235/v1', 'https://localhost:1234/v1', 'nonsense'].map(keyAt)),
      ['key-o', 'key-o', '', '', ''],
    );
    assert.deepEqual(await reached(flags, 'anthropic'), { provider: 'anthropic', apiKey: 'key-a', baseURL: '' });
  });

  it('no line of the log may hold a key', () => {
    assert.deepEqual(parseProviderFlags({ model: 'offline' }, env).secrets, ['key-a', 'key-o']);
    assert.deepEqual(parseProviderFlags({ model: 'offline' }, { OPENAI_API_KEY: ' ' }).secrets, []);
  });
});
