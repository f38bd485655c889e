import assert from 'node:assert/strict';
import type { ModelMessage, ModelRequest } from '../../../../src/core/models/modelRequest';
import { anthropicPrompt } from '../../../../src/node/models/anthropic/anthropicRequest';
import { assistant, collect, never, request, Rig, user } from '../rig';

const mark = { type: 'ephemeral' };
const tool = { name: 'recall', description: 'Searches.', inputSchema: { properties: { query: { type: 'string' } } } };

describe('anthropicPrompt', () => {
  it('tells a model how much to think in the form that it takes, and leaves room for the answer', () => {
    const asked = (model: string, thinking: ModelRequest['thinking'], maxOutputTokens = 14_336) => {
      const { thinking: form, output_config: config } = anthropicPrompt({
        ...request({ model }),
        maxOutputTokens,
        ...(thinking ? { thinking } : {}),
      });
      return [form, config];
    };
    const summarized = { type: 'adaptive', display: 'summarized' };
    assert.deepEqual(asked('claude-sonnet-5-5', 'high'), [summarized, { effort: 'high' }]);
    assert.deepEqual(asked('claude-opus-4-8', 'low'), [summarized, { effort: 'low' }]);
    assert.deepEqual(asked('claude-sonnet-4-5', 'medium'), [{ type: 'enabled', budget_tokens: 10_240 }, undefined]);
    assert.deepEqual(asked('claude-sonnet-4-5', 'medium', 4_000), [{ type: 'enabled', budget_tokens: 2_976 }, undefined]);
    assert.deepEqual(asked('claude-sonnet-4-5', 'medium', 1_500), [undefined, undefined]);
    for (const level of ['off', undefined] as const) assert.deepEqual(asked('claude-sonnet-4-5', level), [undefined, undefined]);
  });

  it('puts the whole request together', () => {
    assert.deepEqual(anthropicPrompt(request({ system: 'Be brief.', tools: [tool] })), {
      model: 'claude-sonnet-4-5',
      system: [{ type: 'text', text: 'Be brief.', cache_control: mark }],
      tools: [{ name: 'recall', description: 'Searches.', input_schema: { properties: { query: { type: 'string' } }, type: 'object' } }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
  });

  it('has every mark ask for an hour where that is to be paid for', () => {
    const messages: ModelMessage[] = Array.from({ length: 6 }, (_, n) => ({
      ...(n % 2 === 0 ? user(`u${n}`) : assistant(`a${n}`)),
      cacheBreakpoint: true,
    }));
    const asked = request({ system: 'Be brief.', systemSummary: 'They talked.', tools: [tool], messages });
    const hour = JSON.stringify(anthropicPrompt({ ...asked, cacheTime: '1h' }));
    const [own, other] = [JSON.stringify(mark), JSON.stringify({ ...mark, ttl: '1h' })];
    assert.deepEqual([hour.split(own).length - 1, hour.split(other).length - 1], [0, 4]);
    assert.equal(JSON.stringify(anthropicPrompt({ ...asked, cacheTime: '5m' })), JSON.stringify(anthropicPrompt(asked)));
  });

  it('puts a summary behind the system text as a part of its own, so that what stands before it stays cached', () => {
    const messages: ModelMessage[] = Array.from({ length: 6 }, (_, n) => ({
      ...(n % 2 === 0 ? user(`u${n}`) : assistant(`a${n}`)),
      cacheBreakpoint: true,
    }));
    const prompt = anthropicPrompt(request({ system: 'Be brief.', systemSummary: 'They talked.', tools: [tool], messages }));
    assert.deepEqual(prompt.system, [
      { type: 'text', text: 'Be brief.', cache_control: mark },
      { type: 'text', text: 'They talked.', cache_control: mark },
    ]);
    assert.equal(JSON.stringify(prompt).split('cache_control').length - 1, 4, 'no more than the provider takes');
  });

  it('asks a model not to think where its thinking was lost', () => {
    const model = 'claude-sonnet-5-5';
    assert.deepEqual(
      [anthropicPrompt(request({ model })).thinking, anthropicPrompt(request({ model, thinking: 'off' })).thinking],
      [{ type: 'adaptive', display: 'summarized' }, { type: 'disabled' }],
    );
  });

  it('leaves out an empty system text and marks the last tool instead', () => {
    const prompt = anthropicPrompt(request({ system: ' \n', tools: [tool, { ...tool, name: 'memory' }] }));
    assert.equal(prompt.system, undefined);
    assert.deepEqual(
      prompt.tools?.map(({ cache_control: own }) => own),
      [undefined, mark],
    );
  });

  it('leaves out text without anything in it, unproven thinking, and messages that are empty then', () => {
    const messages: ModelMessage[] = [
      user('Hello'),
      assistant({ type: 'thinking', text: 'interrupted' }, '', ' \n\t'),
      { ...assistant(''), cacheBreakpoint: true },
      user('', 'Again', { type: 'text', text: '\u00a0' }),
    ];
    assert.deepEqual(anthropicPrompt(request({ messages })).messages, [
      { role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: mark }] },
      { role: 'user', content: [{ type: 'text', text: 'Again' }] },
    ]);
  });

  it('keeps proven thinking, also without text', () => {
    const blocks = [
      { type: 'thinking', text: '', signature: 'sig' },
      { type: 'thinking', text: '', redactedData: 'secret' },
      { type: 'text', text: 'Yes' },
    ] as const;
    assert.deepEqual(
      anthropicPrompt(request({ messages: [user('Hi'), { role: 'assistant', blocks }, user('And?')] })).messages[1]?.content,
      [
        { type: 'thinking', thinking: '', signature: 'sig' },
        { type: 'redacted_thinking', data: 'secret' },
        { type: 'text', text: 'Yes' },
      ],
    );
  });

  it('sets at most four marks: the end of system and tools, and the last three messages', () => {
    const messages = [1, 2, 3, 4, 5].map((n) => ({ ...user(`Message ${n}`), cacheBreakpoint: true }));
    const marked = ({ messages: all }: ReturnType<typeof anthropicPrompt>) =>
      all.flatMap(({ content }, index) => (JSON.stringify(content).includes('cache_control') ? [index] : []));
    assert.deepEqual(marked(anthropicPrompt(request({ messages }))), [1, 2, 3, 4]);
    assert.deepEqual(marked(anthropicPrompt(request({ messages, system: 'S' }))), [2, 3, 4]);
    assert.deepEqual(marked(anthropicPrompt(request({ messages, tools: [tool] }))), [2, 3, 4]);
  });

  it('never marks thinking', () => {
    const thinking = { type: 'thinking', text: 'x', signature: 'sig' } as const;
    const messages = [user('Hi'), { ...assistant('Yes', thinking, 'No'), cacheBreakpoint: true }, user('And?')];
    assert.deepEqual(anthropicPrompt(request({ messages })).messages[1]?.content, [
      { type: 'text', text: 'Yes' },
      { type: 'thinking', thinking: 'x', signature: 'sig' },
      { type: 'text', text: 'No', cache_control: mark },
    ]);
  });

  it('leaves out thinking that nothing came of, for which the provider would refuse everything after it', () => {
    const thinking = { type: 'thinking', text: 'x', signature: 'sig' } as const;
    const messages = [
      user('Hi', { type: 'text', text: 'Be brief.', as: 'system' }),
      { ...assistant(thinking, { ...thinking, redactedData: 'secret' }, ' '), cacheBreakpoint: true },
      user('And?'),
      assistant(thinking, 'Yes', thinking),
      user('So?'),
    ];
    const sent = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'text', text: 'Be brief.', cache_control: mark },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'x', signature: 'sig' },
          { type: 'text', text: 'Yes' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'So?' }] },
    ];
    for (const hearsSystem of [false, true]) assert.deepEqual(anthropicPrompt(request({ messages }), hearsSystem).messages, sent);
  });

  it('gives calls that another provider has made ids and names of letters that this one takes', () => {
    const call = { type: 'tool_use', callId: 'functions.read file:0', name: 'mcp.files/read', input: {} } as const;
    const [, asked, answered] = anthropicPrompt(
      request({
        messages: [
          user('Hi'),
          { role: 'assistant', blocks: [call] },
          user({ type: 'tool_result', callId: call.callId, text: 'ok', isError: false }),
        ],
      }),
    ).messages;
    assert.deepEqual(
      [asked?.content, answered?.content],
      [
        [{ type: 'tool_use', id: 'functions_read_file_0', name: 'mcp_files_read', input: {} }],
        [{ type: 'tool_result', tool_use_id: 'functions_read_file_0', content: 'ok' }],
      ],
    );
  });

  it('makes every tool input an object', () => {
    const inputs = ['text', [1], null, undefined, 7].map(
      (input, index) => ({ type: 'tool_use', callId: `c${index}`, name: 'x', input }) as const,
    );
    const [, message] = anthropicPrompt(request({ messages: [user('Hi'), { role: 'assistant', blocks: inputs }] })).messages;
    assert.deepEqual(
      (message?.content as { input: unknown }[]).map(({ input }) => input),
      ['"text"', '[1]', 'null', '', '7'].map((written) => ({ __malformed: written })),
    );
  });

  it('sends an image as its bytes, and marks it like text', () => {
    const image = { type: 'image', name: 'shot.png', mime: 'image/png', data: 'aWlp' } as const;
    assert.deepEqual(anthropicPrompt(request({ messages: [{ ...user('What is this?', image), cacheBreakpoint: true }] })).messages, [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aWlp' }, cache_control: mark },
        ],
      },
    ]);
  });

  it('puts the images that calls returned into their results', () => {
    const image = { type: 'image', name: 'shot.png', mime: 'image/png', data: 'aWlp', callId: 'b' } as const;
    const result = (callId: string, text: string) => ({ type: 'tool_result', callId, text, isError: false }) as const;
    const blocks = [result('a', 'one'), result('b', 'two'), image, { type: 'text', text: 'So?' } as const];
    const [, , message] = anthropicPrompt(
      request({
        messages: [
          user('Hi'),
          { role: 'assistant', blocks: ['a', 'b'].map((callId) => ({ type: 'tool_use', callId, name: 'look', input: {} }) as const) },
          { role: 'user', blocks },
        ],
      }),
    ).messages;
    assert.deepEqual(message?.content, [
      { type: 'tool_result', tool_use_id: 'a', content: 'one' },
      {
        type: 'tool_result',
        tool_use_id: 'b',
        content: [
          { type: 'text', text: 'two' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aWlp' } },
        ],
      },
      { type: 'text', text: 'So?' },
    ]);
  });

  it('is the same for the same request', () => {
    const same = () =>
      JSON.stringify(anthropicPrompt(request({ system: 'S', tools: [tool], messages: [user('a'), assistant('b'), user('c')] })));
    assert.equal(same(), same());
  });
});

describe('A request with pathological text', () => {
  const rig = new Rig();
  beforeEach(() => rig.start());
  afterEach(() => rig.close());

  it('is accepted by the strict double', async () => {
    const texts = [
      '\ud800 lone \udc00',
      'NUL \u0000 inside',
      '👩‍👩‍👧 emoji',
      '漢字'.repeat(500),
      'a'.repeat(20_000),
      'CR\r\nLF',
      '<|endoftext|>',
    ];
    const input = { query: '\udfff', nested: ['\ud801', { deep: 'x\ud802' }] };
    const messages: ModelMessage[] = [
      user(...texts),
      assistant({ type: 'tool_use', callId: 'toolu_1', name: 'recall', input }),
      user({ type: 'tool_result', callId: 'toolu_1', text: '\ud803', isError: false }),
    ];
    const events = await collect(rig.client().stream(request({ system: 'S\ud800', messages }), never));
    assert.deepEqual(events.at(-1), { type: 'stopped', reason: 'end_turn' });
  });
});
