import assert from 'node:assert/strict';
import type { Anthropic } from '@anthropic-ai/sdk';
import { AnthropicAnswer } from '../../../../src/node/models/anthropic/anthropicAnswer';
import type { ModelEvent } from '../../../../src/core/models/modelEvent';
import type { ModelMessage } from '../../../../src/core/models/modelRequest';
import { rawToolCall, redactedThinking, refusal, reply, stopped, thinking, toolCall } from '../../../support/messagesApi/messagesApiScript';
import { assistant, blocksOf, collect, failureOf, model, never, request, Rig, sent, user } from '../rig';

describe('AnthropicClient.stream', () => {
  const rig = new Rig();
  beforeEach(() => rig.start());
  afterEach(() => rig.close());

  const ask = (...messages: ModelMessage[]) =>
    collect(rig.client().stream(request({ messages: messages.length ? messages : [user('Hello')] }), never));

  it('streams text, then the block, then usage and the stop reason', async () => {
    rig.api.enqueue(reply('Hello world, this is longer than one delta.'));
    const events = await ask();
    const text = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []));
    assert.ok(text.length > 1);
    assert.equal(text.join(''), 'Hello world, this is longer than one delta.');
    assert.deepEqual(blocksOf(events), [{ type: 'text', text: 'Hello world, this is longer than one delta.' }]);
    assert.deepEqual(
      events.filter(({ type }) => type !== 'text_delta').map(({ type }) => type),
      ['usage', 'block', 'usage', 'stopped'],
    );
    assert.deepEqual(events.at(-1), { type: 'stopped', reason: 'end_turn' });
  });

  it('reports usage as the provider counts it: cumulative, cache tokens apart', async () => {
    rig.api.enqueue(reply('First'), reply('Second'));
    const long = user('word '.repeat(3_000));
    const cached = { ...long, cacheBreakpoint: true };
    const usages = (events: ModelEvent[]) => events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    const [start, end] = usages(await ask(cached));
    assert.ok(start && end);
    assert.ok(end.cacheWrite > 3_000 && end.cacheRead === 0);
    assert.deepEqual(
      { input: start.input, cacheWrite: start.cacheWrite, output: start.output },
      { input: end.input, cacheWrite: end.cacheWrite, output: 1 },
    );
    const again = usages(await ask(cached, assistant('First'), user('And now?'))).at(-1);
    assert.equal(again?.cacheRead, end.cacheWrite);
    assert.equal(again?.cacheWrite, 0);
  });

  it('tells apart what was written to be kept for an hour, which the end of the answer does not say again', () => {
    const answer = new AnthropicAnswer();
    const counts = { input_tokens: 3, cache_creation_input_tokens: 900, cache_read_input_tokens: 40 };
    const split = { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 600 };
    const events = [
      { type: 'message_start', message: { usage: { ...counts, output_tokens: 1, cache_creation: split } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...counts, output_tokens: 7 } },
    ] as unknown as Anthropic.RawMessageStreamEvent[];
    const usage = { input: 3, output: 7, cacheRead: 40, cacheWrite: 900, cacheWriteHour: 600 };
    assert.deepEqual(events.flatMap((event) => answer.read(event)).at(-1), { type: 'usage', usage });
  });

  it('reports no usage of a gateway that does not count prompts, and what one counted that does so at one end only', () => {
    const used = (start: object, end: object) => {
      const answer = new AnthropicAnswer();
      const events = [
        { type: 'message_start', message: { usage: start } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: end },
      ] as unknown as Anthropic.RawMessageStreamEvent[];
      return events.flatMap((event) => answer.read(event)).flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    };
    const none = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const counted = { input_tokens: 500, cache_read_input_tokens: 40, cache_creation_input_tokens: 0 };
    const usage = { input: 500, output: 9, cacheRead: 40, cacheWrite: 0 };
    assert.deepEqual(
      [
        used({ ...none, output_tokens: 0 }, { ...none, output_tokens: 9 }),
        used({ input_tokens: 0, output_tokens: 0 }, { output_tokens: 9 }),
        used({ ...none, output_tokens: 0 }, { ...counted, output_tokens: 9 }),
        used({ ...counted, output_tokens: 1 }, { ...none, output_tokens: 9 }),
        used({ ...none, cache_read_input_tokens: 40, output_tokens: 1 }, { output_tokens: 9 }),
      ],
      [[], [], [usage], [{ ...usage, output: 1 }, usage], [1, 9].map((output) => ({ ...usage, input: 0, output }))],
    );
  });

  it('delivers thinking with its signature, and sends it back unchanged', async () => {
    rig.api.enqueue(reply(thinking('Let me think about it.'), redactedThinking, 'Four.'), reply('Still four.'));
    const first = await ask();
    const blocks = blocksOf(first);
    assert.deepEqual(
      blocks.map((block) => block.type),
      ['thinking', 'thinking', 'text'],
    );
    const [open, redacted] = blocks;
    assert.ok(open?.type === 'thinking' && open.text === 'Let me think about it.' && open.signature);
    assert.ok(redacted?.type === 'thinking' && redacted.redactedData && redacted.text === '');
    assert.equal(first.flatMap((event) => (event.type === 'thinking_delta' ? [event.text] : [])).join(''), 'Let me think about it.');
    const second = await ask(user('Hello'), { role: 'assistant', blocks }, user('Sure?'));
    assert.deepEqual(second.at(-1), { type: 'stopped', reason: 'end_turn' });
  });

  it('asks models that think unasked for the text of their thinking', async () => {
    rig.api.enqueue(reply(thinking('Visible.'), 'Yes.'));
    const events = await collect(rig.client().stream(request({ model: 'claude-sonnet-5-5' }), never));
    assert.deepEqual(sent(rig.api).thinking, { type: 'adaptive', display: 'summarized' });
    assert.ok(events.some((event) => event.type === 'thinking_delta' && event.text === 'Visible.'));
  });

  it('parses the input of tool calls and answers them with results', async () => {
    rig.api.enqueue(
      reply('Looking.', toolCall('recall', { query: 'port', limit: 3 }, 'toolu_1'), toolCall('memory', {}, 'toolu_2')),
      reply('Found.'),
    );
    const events = await ask();
    const blocks = blocksOf(events);
    assert.deepEqual(blocks.slice(1), [
      { type: 'tool_use', callId: 'toolu_1', name: 'recall', input: { query: 'port', limit: 3 } },
      { type: 'tool_use', callId: 'toolu_2', name: 'memory', input: {} },
    ]);
    assert.deepEqual(events.at(-1), { type: 'stopped', reason: 'tool_use' });
    const results = user(
      { type: 'tool_result', callId: 'toolu_1', text: 'Port 8080', isError: false },
      { type: 'tool_result', callId: 'toolu_2', text: '', isError: true },
    );
    assert.deepEqual((await ask(user('Hello'), { role: 'assistant', blocks }, results)).at(-1), { type: 'stopped', reason: 'end_turn' });
    assert.deepEqual(sent(rig.api).messages.at(-1)?.content, [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Port 8080' },
      { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true },
    ]);
  });

  it('reports a tool call that cannot be read with what was written, and can send it back', async () => {
    rig.api.enqueue(reply(rawToolCall('recall', '{"query": "po')), reply(rawToolCall('recall', '[1]')), reply('Sorry.'));
    const [half] = blocksOf(await ask());
    assert.ok(half?.type === 'tool_use');
    assert.deepEqual(half.input, { __malformed: '{"query": "po' });
    const [list] = blocksOf(await ask());
    assert.ok(list?.type === 'tool_use');
    assert.deepEqual(list.input, { __malformed: '[1]' });
    const result = user({ type: 'tool_result', callId: half.callId, text: 'Not JSON', isError: true });
    assert.equal((await ask(user('Hello'), { role: 'assistant', blocks: [half] }, result)).at(-1)?.type, 'stopped');
  });

  it('passes the stop reasons of an answer on', async () => {
    for (const reason of ['stop_sequence', 'pause_turn', 'end_turn']) {
      rig.api.enqueue(stopped(reason, reply('Text')));
      assert.deepEqual((await ask()).at(-1), { type: 'stopped', reason });
    }
  });

  it('says when the answer was cut off by the limit on output', async () => {
    rig.api.enqueue(reply('word '.repeat(2_000)));
    const events = await collect(rig.client().stream(request({ maxOutputTokens: 50 }), never));
    assert.deepEqual(events.at(-1), { type: 'stopped', reason: 'max_tokens' });
    const [block] = blocksOf(events);
    assert.ok(block?.type === 'text' && block.text.length > 50 && block.text.length < 400);
  });

  it('keeps an answer during which the window filled up, and calls a window that was full an overflow', async () => {
    rig.api.setModel(model, { window: 500 });
    rig.api.enqueue(reply('word '.repeat(2_000)), stopped('model_context_window_exceeded', reply()));
    assert.deepEqual((await ask()).at(-1), { type: 'stopped', reason: 'model_context_window_exceeded' });
    assert.equal(failureOf(await ask()).reason, 'overflow');
  });

  it('reports a refusal in the words of the provider, whatever was said before it', async () => {
    rig.api.enqueue(refusal('Not this.', reply('Well, ')), refusal(''));
    assert.deepEqual(failureOf(await ask()), { reason: 'refused', detail: 'Not this.' });
    assert.deepEqual(failureOf(await ask()), { reason: 'refused', detail: '' });
  });

  it('talks to the built-in echo of the double', async () => {
    const events = await ask(user('Please look at src/app.ts'));
    const [block] = blocksOf(events);
    assert.ok(block?.type === 'text' && block.text.includes('src/app.ts') && block.text.includes('```ts'));
  });
});
