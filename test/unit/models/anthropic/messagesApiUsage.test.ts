import assert from 'node:assert/strict';
import type { ModelBlock, ModelMessage, ToolSpec } from '../../../../src/core/models/modelRequest';
import type { TokenUsage } from '../../../../src/core/models/modelEvent';
import { redactedThinking, reply, thinking } from '../../../support/messagesApi/messagesApiScript';
import { textTokens } from '../../../support/messagesApi/messagesApiTokens';
import { assistant, blocksOf, collect, failureOf, model, never, request, Rig, user } from '../rig';

const text = (n: number) => `Paragraph ${n}: ${'some words of it '.repeat(500)}`;
const marked = (message: ModelMessage): ModelMessage => ({ ...message, cacheBreakpoint: true });
const tool: ToolSpec = { name: 'recall', description: 'Searches.', inputSchema: {} };

describe('The Messages API double counts', () => {
  const rig = new Rig();
  beforeEach(() => rig.start());
  afterEach(() => rig.close());

  async function usage(...messages: ModelMessage[]): Promise<TokenUsage> {
    const events = await collect(rig.client().stream(request({ messages }), never));
    const last = events.findLast((event) => event.type === 'usage');
    if (last?.type !== 'usage') throw new Error(`No usage in ${JSON.stringify(events)}`);
    return last.usage;
  }
  const size = ({ input, cacheRead, cacheWrite }: TokenUsage) => input + cacheRead + cacheWrite;

  it('what it bills is what it counts beforehand', async () => {
    const messages = [user(text(1)), assistant('Yes.'), marked(user(text(2)))];
    assert.equal(size(await usage(...messages)), await rig.client().countTokens(request({ messages })));
  });

  it('reads what was written, and only while nothing before it has changed', async () => {
    const first = await usage(marked(user(text(1))));
    assert.deepEqual([first.cacheRead, first.cacheWrite > 1_000], [0, true]);
    const second = await usage(user(text(1)), assistant('A'), marked(user(text(2))));
    assert.equal(second.cacheRead, first.cacheWrite);
    assert.ok(second.cacheWrite > 1_000 && second.input < 20);
    const third = await usage(user(text(1)), assistant('A'), user(text(2)), assistant('B'), marked(user(text(3))));
    assert.equal(third.cacheRead, second.cacheRead + second.cacheWrite);
    const changed = await usage(user(text(9)), assistant('A'), marked(user(text(2))));
    assert.equal(changed.cacheRead, 0);
  });

  it('looks back twenty blocks from a mark, no further', async () => {
    const blocks = (count: number) => Array.from({ length: count }, (_, n) => `Block ${n} ${'word '.repeat(80)}`);
    await usage(marked(user(...blocks(20))));
    assert.ok((await usage(marked(user(...blocks(39))))).cacheRead > 0);
    await rig.close();
    await rig.start();
    await usage(marked(user(...blocks(20))));
    assert.equal((await usage(marked(user(...blocks(40))))).cacheRead, 0);
  });

  it('caches nothing that is too short', async () => {
    assert.deepEqual([(await usage(marked(user('Short')))).cacheWrite, (await usage(marked(user('Short')))).cacheRead], [0, 0]);
  });

  it('counts differently from the product, without ever taking long', () => {
    assert.ok(textTokens('The quick brown fox jumps over the lazy dog.') > 11);
    assert.equal(textTokens('<|endoftext|>') > 3, true);
    for (const long of ['a'.repeat(40_000), ' '.repeat(40_000), '='.repeat(40_000), '漢字仮名'.repeat(2_000)])
      assert.ok(textTokens(long) > 500);
  });

  describe('thinking', () => {
    async function thought(model: string, messages: readonly ModelMessage[], change: object = {}): Promise<readonly ModelBlock[]> {
      return blocksOf(await collect(rig.client().stream(request({ model, messages, ...change }), never)));
    }
    const ask = (messages: readonly ModelMessage[], change: object = {}) =>
      collect(rig.client().stream(request({ messages, ...change }), never));
    let blocks: readonly ModelBlock[];
    beforeEach(async () => {
      rig.api.enqueue(reply(thinking('First.'), 'One.', thinking('Second.'), redactedThinking, 'Two.'));
      blocks = await thought(model, [user('Hello')]);
    });

    it('is accepted after the prefix it was thought in, also in a longer conversation and with other marks', async () => {
      const history = [marked(user('Hello')), marked({ role: 'assistant', blocks }), user('More')];
      assert.equal((await ask(history)).at(-1)?.type, 'stopped');
      assert.equal((await ask([...history, assistant('Fine.'), user('And more')])).at(-1)?.type, 'stopped');
    });

    const changes: readonly (readonly [string, (history: ModelMessage[]) => ModelMessage[], object])[] = [
      ['an earlier message', ([, ...rest]) => [user('Hello!'), ...rest], {}],
      ['the system text', (history) => history, { system: 'New.' }],
      ['the tools', (history) => history, { tools: [tool] }],
      ['a message before it', (history) => [user('Before'), ...history], {}],
    ];
    for (const [what, change, rest] of changes) {
      it(`is refused after a change of ${what}`, async () => {
        const failure = failureOf(await ask(change([user('Hello'), { role: 'assistant', blocks }, user('More')]), rest));
        assert.equal(failure.reason, 'invalid_request');
        assert.ok(failure.detail.includes('bound to a different conversation'));
      });
    }

    it('is refused when it was changed itself, or when an earlier block of the answer is missing', async () => {
      const edited = blocks.map((block, index) => (index === 0 && block.type === 'thinking' ? { ...block, text: 'Edited.' } : block));
      assert.ok(
        failureOf(await ask([user('Hello'), { role: 'assistant', blocks: edited }, user('More')])).detail.includes(
          'messages.1.content.0: Invalid `signature`',
        ),
      );
      assert.ok(
        failureOf(await ask([user('Hello'), { role: 'assistant', blocks: blocks.slice(1) }, user('More')])).detail.includes(
          'bound to a different',
        ),
      );
    });

    it('of another model is dropped without a word', async () => {
      const history = [user('Hello'), { role: 'assistant' as const, blocks }, user('More')];
      const elsewhere = await collect(rig.client().stream(request({ model: 'claude-haiku-4-5', messages: history }), never));
      assert.equal(elsewhere.at(-1)?.type, 'stopped');
      const counted = (model: string) => rig.client().countTokens(request({ model, messages: history }));
      assert.ok((await counted('claude-haiku-4-5')) < (await counted(model)));
    });

    it('comes without its text from newer models, unless a summary is asked for', async () => {
      const plain = { model: 'claude-opus-5-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
      const first = async (body: object) => {
        rig.api.enqueue(reply(thinking('Hm.'), 'Yes.'));
        const headers = { 'x-api-key': rig.api.apiKey, 'anthropic-version': '2026-10-21' };
        const response = await fetch(`${rig.api.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) });
        return ((await response.json()) as { content: { thinking: string; signature: string }[] }).content[0];
      };
      assert.equal((await first(plain))?.thinking, '');
      assert.equal((await first({ ...plain, thinking: { type: 'adaptive', display: 'summarized' } }))?.thinking, 'Hm.');
    });
  });
});
