import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AnthropicClient } from '../../../src/node/models/anthropic/anthropicClient';
import { ConversationRig } from '../../support/chat/conversationRig';
import { MessagesApi } from '../../support/messagesApi/messagesApi';
import { disconnect, reply, thinking, toolCall, type Script } from '../../support/messagesApi/messagesApiScript';
import { ollamaSubject, openaiSubject, Recorder, responsesSubject, type Wired } from './subjects';

/** A Claude that thinks and takes system messages; the one of the conformance suite does neither. */
async function startClaude(): Promise<Wired> {
  const log = new Recorder();
  const api = await MessagesApi.start();
  const model = 'claude-sonnet-5-5';
  api.setModel(model, { window: 12_000, maxOutput: 1_000 });
  const client = new AnthropicClient({ apiKey: api.apiKey, baseURL: api.url, logger: log.logger });
  return {
    bind: async () => ({ client, info: await client.describe(model), summarizer: null }),
    enqueue: (...scripts) => api.enqueue(...scripts),
    sent: () => JSON.stringify(api.messages.at(-1)?.body),
    released: async () => api.messages.at(-1)!.closed,
    errors: api.errors,
    logged: log.lines,
    secret: api.apiKey,
    close: () => api.close(),
  };
}

const providers = [startClaude, () => openaiSubject.start(), () => responsesSubject.start(), () => ollamaSubject.start()] as const;

/** What a model does in a turn, each with a call id that other servers have used, too. */
const doings = {
  answers: () => [reply('Yes.')],
  thinks: () => [reply(thinking('Hm.'), 'Yes.')],
  calls: () => [reply(thinking('I look.'), 'Let me see.', toolCall('echo', { text: 'x' }, 'call_1')), reply('Done.')],
  callsTwice: () => [
    reply(thinking('Both.'), toolCall('echo', { text: 'x' }, 'call_1'), toolCall('functions.echo', {}, 'call_2')),
    reply(thinking('And now?'), 'Done.'),
  ],
  breaksOff: () => [reply(thinking('Hm.'), 'Half of', disconnect), reply('Whole.')],
} satisfies Record<string, () => readonly Script[]>;

const turn = fc.record({
  provider: fc.nat(providers.length - 1),
  does: fc.constantFrom(...(Object.keys(doings) as (keyof typeof doings)[])),
  words: fc.constantFrom(1, 300, 900),
});

describe('a conversation that goes from one provider to another', () => {
  it('is valid for each of them, whatever the others have left in it', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 7 }), async (turns) => {
        const wired = await Promise.all(providers.map((start) => start()));
        let current = wired[0]!;
        const rig = await ConversationRig.create({ binding: () => current.bind() });
        try {
          rig.overrides = {
            'memoryFlush.thresholds': [
              { percent: 8, injectAs: 'system' },
              { percent: 16, injectAs: 'user' },
            ],
            'checkpoint.enabled': false,
          };
          for (const [at, { provider, does, words }] of turns.entries()) {
            current = wired[provider]!;
            current.enqueue(...doings[does]());
            const { ok, error } = await rig.conversation.send(`${at} ${'word '.repeat(words)}`, `m${at}`);
            assert.deepEqual([ok, error], [true, null]);
          }
          for (const { errors, logged } of wired) {
            assert.deepEqual(errors, []);
            // A request that was refused and put in other words would hide what was wrong with it.
            assert.deepEqual(
              logged.filter((line) => JSON.stringify(line).includes('model_dialect_changed')),
              [],
            );
          }
        } finally {
          await rig.dispose();
          for (const one of wired) await one.close();
        }
      }),
      { numRuns: 25 },
    );
  });
});
