import assert from 'node:assert/strict';
import { ModelError, type ModelEvent, type ModelFailureReason } from '../../../src/core/models/modelEvent';
import { CancelledError } from '../../../src/core/errors';
import { summaryPrompt, summarySystem } from '../../../src/core/compaction/summary/prompts';
import { ModelSummarizer } from '../../../src/node/models/modelSummarizer';
import { disconnect, hold, httpFault, overloaded, refusal, reply, stopped, toolCall } from '../../support/messagesApi/messagesApiScript';
import { model, never, Rig, sent } from './rig';
import { testFrames } from '../../support/chat/testFrames';

describe('ModelSummarizer', () => {
  const rig = new Rig();
  beforeEach(() => rig.start());
  afterEach(() => rig.close());

  const summarizer = (id = model) => new ModelSummarizer({ client: rig.client(), model: id, contextTokens: 200_000 });
  const ask = { system: 'Summarise.', prompt: 'A conversation.', maxTokens: 500 };
  const because = (reason: ModelFailureReason, words: RegExp) => (error: unknown) =>
    ModelError.is(error) && error.failure.reason === reason && words.test(error.failure.detail);

  it('returns the text and what it cost', async () => {
    rig.api.enqueue(reply({ type: 'thinking', pieces: ['Hm.'] }, 'One. ', { type: 'text', pieces: ['Two.\n'] }));
    const { text, usage } = await summarizer().summarize(ask, never);
    assert.equal(text, 'One. Two.');
    assert.ok(usage.input > 5 && usage.output > 3);
    assert.deepEqual(sent(rig.api).messages, [{ role: 'user', content: [{ type: 'text', text: 'A conversation.' }] }]);
  });

  it('leaves room for thinking, within what the model can put out', async () => {
    rig.api.enqueue(reply('S'), reply('S'));
    await summarizer().summarize(ask, never);
    assert.equal(sent(rig.api).max_tokens, 4_596);
    await summarizer('claude-tiny-4k').summarize(ask, never);
    assert.equal(sent(rig.api).max_tokens, 1_000);
  });

  it('goes on from a conversation, until it has shown that it cannot', async () => {
    const declined = new Set<string>();
    const own = () =>
      new ModelSummarizer({ client: rig.client(), model, contextTokens: 200_000, continuing: { from: `anthropic/${model}`, declined } });
    const continues = {
      model,
      system: 'Be kind.',
      tools: [{ name: 'recall', description: 'Looks up.', inputSchema: { type: 'object' } }],
      messages: [{ role: 'user' as const, blocks: [{ type: 'text' as const, text: 'Hello' }], cacheBreakpoint: true }],
      maxOutputTokens: 9,
    };
    rig.api.enqueue(reply('S'));
    await own().summarize({ ...ask, continues }, never);
    const { messages, system, tools, max_tokens } = sent(rig.api);
    const cache_control = { type: 'ephemeral' };
    assert.deepEqual(
      { messages, system, max_tokens, tools: tools?.length },
      {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hello', cache_control }] },
          { role: 'user', content: [{ type: 'text', text: 'A conversation.' }] },
        ],
        system: [{ type: 'text', text: 'Be kind.', cache_control }],
        max_tokens: 4_596,
        tools: 1,
      },
    );
    const [one, other] = [own(), own()];
    one.declineContinuing();
    assert.deepEqual([one.continuesFrom, other.continuesFrom, summarizer().continuesFrom], [undefined, undefined, undefined]);
  });

  it('refuses an answer that was cut off, is empty, or calls a tool', async () => {
    rig.api.enqueue(
      stopped('max_tokens', reply('Half a')),
      stopped('model_context_window_exceeded', reply('Half a')),
      stopped('pause_turn', reply('Half a')),
    );
    for (const words of [/cut off \(max_tokens\)/, /cut off \(model_context/, /cut off \(pause_turn\)/]) {
      await assert.rejects(summarizer().summarize(ask, never), because('invalid_request', words));
    }
    rig.api.enqueue(reply(), reply(' \n'), reply('Text', toolCall('recall', {})));
    await assert.rejects(summarizer().summarize(ask, never), because('invalid_request', /empty/));
    await assert.rejects(summarizer().summarize(ask, never), because('invalid_request', /empty/));
    await assert.rejects(summarizer().summarize(ask, never), because('invalid_request', /called a tool/));
  });

  it('passes failures on', async () => {
    rig.api.enqueue(
      overloaded(),
      reply('Half ', disconnect),
      refusal('No.'),
      httpFault(400, 'invalid_request_error', 'prompt is too long: 5 tokens > 4 maximum'),
    );
    await assert.rejects(summarizer().summarize(ask, never), because('overloaded', /Overloaded/));
    await assert.rejects(summarizer().summarize(ask, never), because('network', /./));
    await assert.rejects(summarizer().summarize(ask, never), because('refused', /No\./));
    await assert.rejects(summarizer().summarize(ask, never), because('overflow', /too long/));
    await assert.rejects(summarizer('claude-unheard-of').summarize(ask, never), because('unknown_model', /claude-unheard-of/));
  });

  it('can be cancelled before and during the answer', async () => {
    const gate = hold();
    rig.api.enqueue(reply('Half ', gate, 'done'));
    const abort = new AbortController();
    const summary = summarizer().summarize(ask, abort.signal);
    await gate.reached;
    abort.abort();
    await assert.rejects(summary, CancelledError.is);
    await assert.rejects(summarizer().summarize(ask, abort.signal), CancelledError.is);
    assert.equal(rig.api.messages.length, 1);
  });

  it('refuses a stream that ends without saying how', async () => {
    const silent = {
      ...rig.client(),
      provider: 'x',
      generates: true,
      listModels: async () => [],
      describe: (id: string) => rig.client().describe(id),
      async *stream(): AsyncGenerator<ModelEvent> {},
    };
    await assert.rejects(
      new ModelSummarizer({ client: silent, model, contextTokens: 1 }).summarize(ask, never),
      because('invalid_request', /cut off \(no end\)/),
    );
  });

  it('gets a state from the double that keeps names, ids and the earlier state', async () => {
    const transcript = '[#3 user]\nPlease fix src/store/wal.ts, it takes 120 ms.\n\n[#4 assistant]\nI changed maxRetries in config_loader.';
    const previous = JSON.stringify({
      logos: ['Port 8080 is fixed (#1)'],
      pathos: ['Calm'],
      abstract: ['WAL'],
      conversation_summary: 'Began.',
    });
    const prompt = summaryPrompt({
      frames: testFrames,
      isVerbatim: true,
      previous,
      transcript,
      instructions: null,
      closing: 'Write the JSON object now. At most 500 tokens.',
    });
    const { text } = await summarizer().summarize({ system: summarySystem, prompt, maxTokens: 500 }, never);
    assert.deepEqual(JSON.parse(text), {
      logos: [
        'Port 8080 is fixed (#1)',
        'The user mentioned src/store/wal.ts, 120 ms (#3)',
        'The assistant mentioned maxRetries, config_loader (#4)',
      ],
      pathos: ['Calm'],
      abstract: ['WAL'],
      conversation_summary: '2 messages were exchanged. The last one said: I changed maxRetries in config_loader.',
    });
  });

  it('gets a state from the double that is no longer than the prompt allows', async () => {
    const transcript = Array.from({ length: 400 }, (_, n) => `[#${n + 1} user]\nThe file src/part${n}/index.ts has a problem.`).join(
      '\n\n',
    );
    const prompt = summaryPrompt({
      frames: testFrames,
      isVerbatim: true,
      previous: null,
      transcript,
      instructions: null,
      closing: 'Write the JSON object now. At most 1000 tokens.',
    });
    const { text, usage } = await summarizer().summarize({ system: summarySystem, prompt, maxTokens: 1_000 }, never);
    assert.ok(usage.output <= 1_000 && usage.output > 300);
    assert.ok(text.includes('src/part399/index.ts (#400)') && !text.includes('src/part0/'));
  });
});
