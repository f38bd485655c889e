import assert from 'node:assert/strict';
import { costOf, priceOf } from '../../../../src/core/cost/prices';
import type { Summarizer } from '../../../../src/core/ports';
import { isEntryOf } from '../../../../src/core/session/entry';
import { AnthropicClient } from '../../../../src/node/models/anthropic/anthropicClient';
import { ModelSummarizer } from '../../../../src/node/models/modelSummarizer';
import { ModelBindings } from '../../../../src/node/runtime/modelBindings';
import { resolvePolicy } from '../../../../src/core/context/policy/resolvePolicy';
import { openaiModelId, startOpenaiServer } from '../../../support/servers/openaiServer';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { httpFault, reply, stopped, type Script } from '../../../support/messagesApi/messagesApiScript';
import { defaultReply, wantsSummary } from '../../../support/messagesApi/messagesApiDefault';
import { collect, model, never, request, Rig, sent } from '../rig';

describe('a compaction by the provider', () => {
  const wire = new Rig();
  let rig: ConversationRig;
  /** Answers to requests for a summary, one by one; then a careful model's. */
  let summaries: Script[];

  beforeEach(async () => {
    summaries = [];
    await wire.start({
      respond: (asked) => (wantsSummary(asked) ? (summaries.shift() ?? defaultReply(asked)) : reply(`Noted: ${asked.last.slice(-60)}`)),
    });
    const client = new AnthropicClient({ apiKey: wire.api.apiKey, baseURL: wire.api.url, logger: wire.logger });
    const info = await client.describe(model);
    const declined = new Set<string>();
    const summarizer = (serverSide: boolean) =>
      new ModelSummarizer({ client, model, contextTokens: info.window, serverSide, continuing: { from: `anthropic/${model}`, declined } });
    const chain: readonly Summarizer[] = [summarizer(true), summarizer(false)];
    rig = await ConversationRig.create({
      binding: async () => ({ client, info, summarizer: null, chain: async () => chain }),
      costOf: (provider, id, usage) => costOf(priceOf({}, provider, id), usage),
    });
    for (let i = 0; i < 6; i++) await rig.conversation.send(`Move src/parts/part${i}.ts to port ${4000 + i}. ${rig.words(1_000)}`);
  });
  afterEach(async () => {
    await rig.dispose();
    assert.deepEqual(wire.api.errors, []);
    await wire.close();
  });

  const forms = () => wire.api.messages.filter(({ headers }) => headers['anthropic-beta'] !== undefined);
  const costs = () => rig.events.flatMap((event) => (event.type === 'usage_reported' && event.kind === 'compaction' ? [event] : []));

  it('is given the conversation as it stands, checked and recorded as every summary, and paid for', async () => {
    const turn = sent(wire.api);
    const { entry } = await rig.conversation.compact('keep the ports');
    const [request, ...more] = forms();
    assert.deepEqual(
      { moreCount: more.length, query: request?.query, headers: request?.headers['anthropic-beta'] },
      { moreCount: 0, query: 'beta=true', headers: 'compact-2026-09-04' },
    );
    const { compaction, ...body } = request!.body as typeof turn & { compaction: { type: string; instructions: string } };
    assert.deepEqual([unmarked(body.messages), body.system, body.tools], [unmarked(turn.messages), turn.system, turn.tools]);
    assert.equal(compaction.type, 'summarize');
    assert.match(compaction.instructions, /"logos": \[[\s\S]*asks for this summary in particular: keep the ports/);
    assert.deepEqual([entry?.content.rung, entry?.content.model], ['model', model]);
    assert.ok(
      entry?.content.audit && entry.content.audit.checked >= 8 && entry.content.audit.leftBehind === entry.content.audit.checked,
      JSON.stringify(entry?.content.audit),
    );
    assert.match(entry.content.summaryText, /src\/parts\/part0\.ts/);
    const [paid, ...others] = costs();
    assert.equal(others.length, 0);
    assert.ok(
      paid && paid.usage.cacheRead + paid.usage.input + paid.usage.cacheWrite > 3_000 && paid.usage.output > 50,
      JSON.stringify(paid?.usage),
    );
    assert.ok(paid.cost !== null && paid.cost > 0 && entry.content.cost === paid.cost);
    // What comes back signed is not sent again: any model can go on from the text.
    await rig.conversation.send('And now?');
    const next = JSON.stringify(sent(wire.api));
    assert.ok(next.includes('src/parts/part0.ts') && !next.includes('"compaction"'));
  });

  const failures: readonly (readonly [string, Script])[] = [
    ['it has no such thing for this model', httpFault(400, 'invalid_request_error', 'compaction: this model does not support compaction')],
    ['it could not write the summary', reply()],
    [
      'a gateway drops the request for it, and the conversation is answered',
      stopped('end_turn', reply(`Moved. ${'All the parts are on their ports now, as you said. '.repeat(8)}`)),
    ],
  ];
  for (const [why, script] of failures) {
    it(`gives way to the next of the list when ${why}`, async () => {
      summaries = [script, script];
      const { entry } = await rig.conversation.compact();
      assert.deepEqual(
        { formsCount: forms().length, rung: entry?.content.rung, model: entry?.content.model },
        { formsCount: 2, rung: 'model', model },
      );
      assert.equal('compaction' in (wire.api.messages.at(-1)!.body as object), false);
      assert.equal(rig.events.filter((event) => event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction')).length, 1);
      assert.ok(costs().every(({ cost }) => cost !== null));
      assert.equal((await rig.conversation.send('And now?')).ok, true);
    });
  }

  it('is an entry of the list of its own, and left out where the provider has no such thing', async () => {
    const openai = await startOpenaiServer();
    const access = {
      provider: 'openai-compatible',
      apiKey: openai.apiKey!,
      baseURL: openai.url,
      api: 'chat-completions',
      contextTokens: null,
    } as const;
    const bindings = new ModelBindings({ offline: wire.client(), log: wire.logger, reach: async () => access });
    const { policy, problems } = resolvePolicy('balanced', {
      'summarizer.chain': [
        { provider: 'anthropic', model, serverSide: true },
        { provider: 'session', model: 'session' },
        { provider: 'session', model: 'session', serverSide: true },
        { provider: 'openai-compatible', model: openaiModelId, serverSide: true },
      ],
    });
    assert.deepEqual(problems, []);
    const { chain } = await bindings.resolve({ provider: 'anthropic', apiKey: wire.api.apiKey, baseURL: wire.api.url, model });
    const found = await chain!(policy.summarizer.chain);
    assert.deepEqual(
      found.map((one) => [one.provider, one.model, one.serverSide, one.continuesFrom]),
      [
        ['anthropic', model, true, `anthropic/${model}`],
        ['anthropic', model, false, `anthropic/${model}`],
      ],
    );
    assert.match(JSON.stringify(wire.logged), /openai-compatible does not compact a conversation by itself/);
    await openai.close();
  });

  it('is refused by a provider that is not asked for the beta', async () => {
    const events = await collect(
      wire
        .client({ fetch: (url, init) => fetch(url, { ...init, headers: withoutBeta(init?.headers) }) })
        .stream(request({ compact: 'Briefly.' }), never),
    );
    assert.match(JSON.stringify(events.at(-1)), /compaction: Extra inputs are not permitted/);
  });
});

/** Where the cache may end is said anew with every request. */
function unmarked(messages: unknown): unknown {
  return JSON.parse(JSON.stringify(messages), (name, value: unknown) => (name === 'cache_control' ? undefined : value));
}

function withoutBeta(headers: RequestInit['headers']): Headers {
  const all = new Headers(headers);
  all.delete('anthropic-beta');
  return all;
}
