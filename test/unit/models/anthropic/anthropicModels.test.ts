import assert from 'node:assert/strict';
import { ModelError, type ModelFailureReason } from '../../../../src/core/models/modelEvent';
import { chooseDefaultModel } from '../../../../src/node/models/chooseDefaultModel';
import { fallbackModel, modelFromTable } from '../../../../src/node/models/modelTable';
import { defaultModels } from '../../../support/messagesApi/messagesApiModels';
import { gatewayFault, httpFault, overloaded, promptTooLong } from '../../../support/messagesApi/messagesApiScript';
import { collect, failureOf, model, never, request, Rig } from '../rig';

const because = (reason: ModelFailureReason) => (error: unknown) => ModelError.is(error) && error.failure.reason === reason;

describe('AnthropicClient models', () => {
  const rig = new Rig();
  afterEach(() => rig.close());

  it('lists all pages in the order of the provider', async () => {
    await rig.start({ modelsPageSize: 2 });
    const models = await rig.client().listModels();
    assert.deepEqual(
      models.map(({ id }) => id),
      defaultModels.map(({ id }) => id),
    );
    assert.equal(rig.api.requests.length, Math.ceil(defaultModels.length / 2));
    assert.deepEqual(models.at(-1), {
      provider: 'anthropic',
      id: 'claude-tiny-4k',
      name: 'Claude Tiny 4k',
      window: 4_000,
      maxOutput: 1_000,
      source: 'provider',
    });
  });

  it('cannot list without a key that is accepted, without an endpoint, or when cancelled', async () => {
    await rig.start();
    await assert.rejects(rig.client({ apiKey: 'sk-ant-wrong' }).listModels(), because('bad_key'));
    await assert.rejects(rig.client().listModels(AbortSignal.abort()), because('cancelled'));
    rig.api.fail('models', overloaded());
    await assert.rejects(rig.client().listModels(), because('overloaded'));
    await rig.close();
    await rig.start({ modelsEndpoint: 'absent' });
    await assert.rejects(rig.client().listModels(), because('invalid_request'));
  });

  it('learns from refusals that an account, or a gateway, has less of a window than is listed', async () => {
    await rig.start();
    const client = rig.client();
    const asked = { model: 'claude-tiny-8k' };
    for (const [fault, window] of [
      [promptTooLong(7_001, 7_000), 7_000],
      [
        httpFault(
          400,
          'invalid_request_error',
          'input length and `max_tokens` exceed context limit: 5,500 + 1,000 > 6,000, decrease input length or `max_tokens` and try again',
        ),
        6_000,
      ],
    ] as const) {
      rig.api.enqueue(fault);
      const failure = failureOf(await collect(client.stream(request(asked), never)));
      assert.deepEqual(
        { reason: failure.reason, failureWindow: failure.window, describeWindow: (await client.describe('claude-tiny-8k')).window },
        { reason: 'overflow', failureWindow: window, describeWindow: window },
      );
    }
  });

  it('describes a model by asking once', async () => {
    await rig.start();
    const client = rig.client();
    const expected = {
      provider: 'anthropic',
      id: 'claude-tiny-8k',
      name: 'Claude Tiny 8k',
      window: 8_000,
      maxOutput: 2_000,
      source: 'provider',
    };
    assert.deepEqual(await client.describe('claude-tiny-8k'), expected);
    assert.deepEqual(await client.describe('claude-tiny-8k'), expected);
    await client.listModels();
    await client.describe('claude-haiku-4-5');
    assert.deepEqual(
      rig.api.requests.map(({ path }) => path),
      ['/v1/models/claude-tiny-8k', '/v1/models'],
    );
  });

  it('rejects a model that the provider does not know', async () => {
    await rig.start();
    await assert.rejects(rig.client().describe('claude-nonsense-99'), because('unknown_model'));
  });

  it('falls back to the table while the provider cannot be asked, and asks again later', async () => {
    await rig.start();
    const client = rig.client();
    rig.api.fail('models', overloaded());
    assert.deepEqual(await client.describe(model), {
      provider: 'anthropic',
      id: model,
      name: 'Claude Sonnet 4.5',
      window: 200_000,
      maxOutput: 64_000,
      source: 'table',
    });
    rig.api.fail('models', null);
    assert.equal((await client.describe(model)).source, 'provider');
  });

  it('falls back to the table when cancelled, and for answers that are no models', async () => {
    await rig.start();
    const client = rig.client();
    assert.equal((await client.describe(model, AbortSignal.abort())).source, 'table');
    rig.api.fail('models', gatewayFault(200, '<html>Sign in</html>'));
    assert.equal((await client.describe(model)).source, 'table');
    rig.api.fail('models', gatewayFault(200, '{"id": "claude-sonnet-4-5", "max_tokens": null}', 'application/json'));
    assert.deepEqual(await client.describe('my-claude-alias'), {
      provider: 'anthropic',
      id: 'my-claude-alias',
      name: 'Claude Sonnet 4.5',
      window: 200_000,
      maxOutput: 64_000,
      source: 'table',
    });
  });

  it('asks a gateway without a models endpoint only once', async () => {
    await rig.start({ modelsEndpoint: 'absent' });
    const client = rig.client();
    assert.equal((await client.describe(model)).source, 'table');
    assert.deepEqual(await client.describe('company-claude'), {
      provider: 'anthropic',
      id: 'company-claude',
      name: 'company-claude',
      window: 200_000,
      maxOutput: 8_192,
      source: 'table',
    });
    await assert.rejects(client.describe('gpt-oss'), because('unknown_model'));
    assert.equal(rig.api.requests.length, 1);
  });

  it('says that a server cannot be reached, not that it has no such model', async () => {
    await rig.start();
    const client = rig.client();
    await rig.close();
    await assert.rejects(client.describe('deepseek-chat'), because('network'));
  });

  it('counts the tokens of a request as the provider does', async () => {
    await rig.start();
    const tokens = await rig.client().countTokens(request());
    assert.ok(tokens > 5 && tokens < 30);
    rig.api.fail('count_tokens', overloaded());
    await assert.rejects(rig.client().countTokens(request()), because('overloaded'));
  });

  it('gives up on a small request that is never answered', async () => {
    await rig.start();
    const silent: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)));
    const client = rig.client({ fetch: silent, timeouts: { smallMs: 30 } });
    await assert.rejects(client.listModels(), because('network'));
    assert.equal((await client.describe(model)).source, 'table');
  });
});

describe('modelFromTable', () => {
  it('knows the models of the SDK and is careful with others', () => {
    assert.deepEqual(modelFromTable('anthropic', fallbackModel), {
      provider: 'anthropic',
      id: fallbackModel,
      name: 'Claude Sonnet 5.5',
      window: 1_000_000,
      maxOutput: 128_000,
      source: 'table',
    });
    assert.equal(modelFromTable('anthropic', 'us.anthropic.claude-next-v1:0')?.maxOutput, 8_192);
    assert.equal(modelFromTable('anthropic', 'toString'), undefined);
    assert.equal(modelFromTable('anthropic', ''), undefined);
  });
});

describe('chooseDefaultModel', () => {
  const info = (id: string) => ({ provider: 'anthropic', id, name: id, window: 1, maxOutput: 1, source: 'provider' }) as const;
  const chosen = (...ids: string[]) => chooseDefaultModel(ids.map(info))?.id;

  it('takes the newest Sonnet, whatever the order', () => {
    assert.equal(
      chosen('claude-opus-5-5', 'claude-sonnet-4-5-20250929', 'claude-sonnet-5', 'claude-sonnet-5-5', 'claude-sonnet-4-6'),
      'claude-sonnet-5-5',
    );
    assert.equal(chosen('claude-3-7-sonnet-20250219', 'claude-sonnet-4-20250514', 'claude-3-5-sonnet-latest'), 'claude-sonnet-4-20250514');
    assert.equal(chosen('claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'), 'claude-sonnet-4-5');
  });

  it('takes the first without a Sonnet, and nothing from nothing', () => {
    assert.equal(chosen('claude-opus-5-5', 'claude-haiku-5-5'), 'claude-opus-5-5');
    assert.equal(chosen(), undefined);
  });
});
