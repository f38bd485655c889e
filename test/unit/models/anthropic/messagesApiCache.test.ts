import assert from 'node:assert/strict';
import { MessagesApi } from '../../../support/messagesApi/messagesApi';
import type { WireUsage } from '../../../support/messagesApi/messagesApiWire';

type Ttl = '5m' | '1h';
type Block = { readonly type: 'text'; readonly text: string; readonly cache_control?: object };

const minute = 60_000;
const words = (name: string, count = 1_200): Block => ({ type: 'text', text: `${name} ${'word '.repeat(count)}` });
const marked = (block: Block, ttl?: Ttl | '2h'): Block => ({ ...block, cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) } });

describe('The Messages API double keeps what it caches as long as it is paid for', () => {
  let api: MessagesApi;
  let now = 0;
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 23);
    api = await MessagesApi.start({ now: () => now });
  });
  afterEach(() => api.close());

  async function post(blocks: readonly Block[], more: object = {}): Promise<Response> {
    return fetch(`${api.url}/v1/messages`, {
      method: 'POST',
      headers: { 'anthropic-version': '2026-10-21', 'x-api-key': api.apiKey },
      body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: blocks }], ...more }),
    });
  }

  /** Which blocks were read, and which were written for how long, by their number of blocks of one size. */
  async function told(blocks: readonly Block[], more: object = {}): Promise<readonly [read: number, fiveMinutes: number, hour: number]> {
    const { usage } = (await (await post(blocks, more)).json()) as { usage: WireUsage };
    const { cache_read_input_tokens: read, cache_creation_input_tokens: written, cache_creation: split } = usage;
    assert.equal(split.ephemeral_5m_input_tokens + split.ephemeral_1h_input_tokens, written);
    const count = (tokens: number) => Math.round(tokens / 1_565);
    return [count(read), count(split.ephemeral_5m_input_tokens), count(split.ephemeral_1h_input_tokens)];
  }

  async function refused(words: string, blocks: readonly Block[], more: object = {}): Promise<void> {
    const response = await post(blocks, more);
    const text = await response.text();
    assert.deepEqual([response.status, text.includes(words)], [400, true], text);
  }

  it('for five minutes after it was last read, and then it is written again', async () => {
    const prompt = [marked(words('one'))];
    const seen = [];
    for (const pause of [0, 4.9, 4.9, 5, 0]) {
      now += pause * minute;
      seen.push(await told(prompt));
    }
    assert.deepEqual(seen, [
      [0, 1, 0],
      [1, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
      [1, 0, 0],
    ]);
  });

  it('for an hour where that is asked for', async () => {
    const prompt = [marked(words('one'), '1h')];
    const seen = [];
    for (const pause of [0, 59, 59, 60]) {
      now += pause * minute;
      seen.push(await told(prompt));
    }
    assert.deepEqual(seen, [
      [0, 0, 1],
      [1, 0, 0],
      [1, 0, 0],
      [0, 0, 1],
    ]);
  });

  it('each part for its own time: what was written for an hour outlives what stands behind it', async () => {
    const prompt = [marked(words('one'), '1h'), marked(words('two'))];
    assert.deepEqual(await told(prompt), [0, 1, 1]);
    now += 6 * minute;
    assert.deepEqual(await told(prompt), [1, 1, 0]);
    now += 4 * minute;
    assert.deepEqual(await told(prompt), [2, 0, 0]);
  });

  it('not longer because a later mark asks for more: what it stands on was paid for five minutes', async () => {
    assert.deepEqual(await told([marked(words('one'))]), [0, 1, 0]);
    assert.deepEqual(await told([words('one'), marked(words('two'), '1h')]), [1, 0, 1]);
    now += 6 * minute;
    assert.deepEqual(await told([words('one'), marked(words('two'), '1h')]), [0, 0, 2]);
  });

  it('renewed with everything in front of it by a reading of the end', async () => {
    const all = [words('one'), marked(words('two'))];
    await told([marked(words('one'))]);
    await told(all);
    now += 4 * minute;
    assert.deepEqual(await told(all), [2, 0, 0]);
    now += 4 * minute;
    assert.deepEqual(await told([marked(words('one')), words('other')]), [1, 0, 0]);
  });

  it('from the size on that the model has', async () => {
    const short = [marked(words('one', 1_000))];
    assert.deepEqual(
      [await told(short), await told(short)],
      [
        [0, 1, 0],
        [1, 0, 0],
      ],
    );
    const small = { model: 'claude-haiku-4-5' };
    assert.deepEqual(
      [await told(short, small), await told(short, small)],
      [
        [0, 0, 0],
        [0, 0, 0],
      ],
    );
    const long = [marked(words('one', 4_000))];
    assert.equal((await told(long, small))[1] > 0, true);
  });

  it('at the end of everything with a mark on the request', async () => {
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    assert.deepEqual(
      [await told([words('one')], hour), await told([words('one')], hour)],
      [
        [0, 0, 1],
        [1, 0, 0],
      ],
    );
  });

  it('and refuses an hour behind five minutes, and any other time', async () => {
    const order =
      "messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block";
    await refused(order, [marked(words('one')), marked(words('two'), '1h')]);
    const tools = [{ name: 'recall', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } }];
    await refused('must not come after', [marked(words('one'), '1h')], { tools });
    await refused('must not come after', [marked(words('one'))], { cache_control: { type: 'ephemeral', ttl: '1h' } });
    await refused("messages.0.content.0.cache_control.ttl: Input should be '5m' or '1h'", [marked(words('one'), '2h')]);
  });
});
