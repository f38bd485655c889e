import { deepStrictEqual, match } from 'node:assert';
import { Emitter } from '../../../../src/core/base/event';
import { ApiKeys } from '../../../../src/vscode/models/apiKeys';
import { endpointOf } from '../../../../src/vscode/models/endpoint';

class FakeSecrets {
  readonly values = new Map<string, string>();
  readonly changed = new Emitter<{ key: string }>();
  readonly onDidChange = this.changed.event;
  readonly asked: string[] = [];
  mode: 'works' | 'throws' | 'swallows' | 'hangs' = 'works';

  async get(key: string): Promise<string | undefined> {
    this.asked.push(key);
    await this.trouble();
    return this.values.get(key);
  }
  async store(key: string, value: string): Promise<void> {
    await this.trouble();
    if (this.mode === 'swallows') return;
    this.values.set(key, value);
    this.changed.fire({ key });
  }
  async delete(key: string): Promise<void> {
    await this.trouble();
    this.values.delete(key);
  }
  private async trouble(): Promise<void> {
    if (this.mode === 'throws') throw new Error('no keyring');
    if (this.mode === 'hangs') await new Promise(() => undefined);
  }
}

function rig(env: Record<string, string> = {}, state = new Map<string, unknown>(), secrets = new FakeSecrets()) {
  const hidden: string[] = [];
  const problems: string[] = [];
  const nothing = () => undefined;
  const keys = new ApiKeys({
    secrets,
    state: { get: <T>(key: string) => state.get(key) as T, update: async (key: string, value: unknown) => void state.set(key, value) },
    env,
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing, hide: (secret) => hidden.push(secret) },
    patienceMs: 20,
  });
  keys.onDidBreak((text) => problems.push(text));
  return { keys, secrets, state, hidden, problems };
}

const anthropic = endpointOf('');
const gateway = endpointOf('https://gateway.example.com/base');

describe('ApiKeys', () => {
  it('keeps one key for each address and sends none to another', async () => {
    const { keys, hidden } = rig();
    deepStrictEqual(await keys.store(anthropic, 'sk-first'), 'stored');
    deepStrictEqual(await keys.find(anthropic), { key: 'sk-first', source: 'stored' });
    deepStrictEqual(await keys.find(gateway), undefined);
    await keys.store(gateway, 'sk-second');
    deepStrictEqual(await keys.find(endpointOf('https://gateway.example.com/other')), { key: 'sk-second', source: 'stored' });
    deepStrictEqual((await keys.find(anthropic))?.key, 'sk-first');
    deepStrictEqual([...new Set(hidden)].sort(), ['sk-first', 'sk-second']);
  });

  it('does not open the keychain for a key that was never stored', async () => {
    const { keys, secrets } = rig({ ANTHROPIC_API_KEY: ' sk-env ' });
    deepStrictEqual(await keys.find(anthropic), { key: 'sk-env', source: 'environment' });
    deepStrictEqual(
      { hasStored: keys.hasStored(anthropic), expected: keys.expected(anthropic), asked: secrets.asked },
      { hasStored: false, expected: 'environment', asked: [] },
    );
  });

  it('says so once when a stored key is not there any more', async () => {
    const { keys, state, problems } = rig();
    await keys.store(gateway, 'sk-stored');
    const later = rig({}, state);
    deepStrictEqual([await later.keys.find(gateway), await later.keys.find(gateway)], [undefined, undefined]);
    deepStrictEqual([later.problems.length, /gateway\.example\.com.*Set API Key/.test(later.problems[0] ?? ''), problems], [1, true, []]);
    await keys.remove(gateway);
    const removed = rig({}, state);
    deepStrictEqual([await removed.keys.find(gateway), removed.problems], [undefined, []]);
  });

  it('prefers the stored key to the environment, until it is removed', async () => {
    const { keys } = rig({ ANTHROPIC_API_KEY: 'sk-env' });
    await keys.store(anthropic, 'sk-stored');
    deepStrictEqual([(await keys.find(anthropic))?.source, keys.expected(anthropic)], ['stored', 'stored']);
    await keys.remove(anthropic);
    deepStrictEqual([(await keys.find(anthropic))?.source, keys.hasStored(anthropic)], ['environment', false]);
  });

  it("leaves the environment's key alone when the environment names another address", async () => {
    const env = { ANTHROPIC_API_KEY: 'sk-env', ANTHROPIC_BASE_URL: 'https://gateway.example.com' };
    const { keys } = rig(env);
    deepStrictEqual([await keys.find(anthropic), (await keys.find(gateway))?.key], [undefined, 'sk-env']);
  });

  it('sends the key that the environment has for OpenAI to OpenAI alone', async () => {
    const { keys } = rig({ OPENAI_API_KEY: ' sk-openai ', ANTHROPIC_API_KEY: 'sk-env' });
    const at = async (address: string) => await keys.find(endpointOf(address, 'openai-compatible'));
    deepStrictEqual(
      await Promise.all(['https://api.openai.com/v1', 'https://openai.example.com/v1', 'http://localhost:1234', ''].map(at)),
      [{ key: 'sk-openai', source: 'environment' }, undefined, undefined, undefined],
    );
  });

  it('finds a key that another window has stored', async () => {
    const secrets = new FakeSecrets();
    const first = rig({}, new Map(), secrets);
    const second = rig({}, new Map(), secrets);
    let changes = 0;
    second.keys.onDidChange(() => changes++);
    await first.keys.store(anthropic, 'sk-shared');
    deepStrictEqual(
      { keys: await second.keys.find(anthropic), hasStored: second.keys.hasStored(anthropic), changes },
      { keys: { key: 'sk-shared', source: 'stored' }, hasStored: true, changes: 1 },
    );
  });

  for (const mode of ['throws', 'swallows', 'hangs'] as const) {
    it(`uses the key in this window, and says once what to do, when the secret storage ${mode}`, async () => {
      const { keys, secrets, problems } = rig();
      secrets.mode = mode;
      deepStrictEqual(await keys.store(anthropic, 'sk-held'), 'this_window');
      deepStrictEqual([await keys.find(anthropic), keys.hasStored(anthropic)], [{ key: 'sk-held', source: 'stored' }, true]);
      await keys.remove(anthropic);
      deepStrictEqual([await keys.find(anthropic), keys.hasStored(anthropic)], [undefined, false]);
      deepStrictEqual(problems.length, 1);
      match(problems[0]!, /ANTHROPIC_API_KEY.*keychain/s);
    });
  }
});
