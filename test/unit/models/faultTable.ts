import assert from 'node:assert/strict';
import { ConversationRig } from '../../support/chat/conversationRig';
import {
  disconnect,
  dropConnection,
  endEarly,
  errorEvent,
  halfEvent,
  overloaded,
  promptTooLong,
  rateLimited,
  rawToolCall,
  refusal,
  reply,
  serverError,
  toolCall,
  type Script,
} from '../../support/messagesApi/messagesApiScript';
import type { TurnErrorReason } from '../../../src/core/chat/events';
import type { Tool } from '../../../src/core/tools/tool';
import type { Subject, Wired } from './subjects';

interface Row {
  readonly fault: string;
  readonly scripts: readonly Script[];
  /** Null: the turn gets to its answer. */
  readonly ends: TurnErrorReason | null;
  /** Why it was tried again, and after how long where the server said so. */
  readonly retries?: readonly (readonly [reason: string, ms?: number])[];
  /** Has to be in the history afterwards. */
  readonly keeps?: string;
  /** Has to be told to the model. */
  readonly tells?: RegExp;
}

const forEver = Array.from({ length: 5 }, serverError);
const answer = reply('The whole answer.');

/** Every fault of the doubles, and what a turn makes of it. */
function rows({ overHttp, declines, limitsAnswers }: Subject): readonly Row[] {
  return [
    {
      fault: '429 with retry-after',
      scripts: [rateLimited(7), answer],
      ends: null,
      retries: [overHttp ? ['rate_limited', 7_000] : ['rate_limited']],
    },
    {
      fault: '429 with a wait that nobody keeps a turn open for',
      ...(overHttp
        ? { scripts: [rateLimited(600)], ends: 'rate_limited', retries: [] }
        : { scripts: [rateLimited(600), answer], ends: null, retries: [['rate_limited']] }),
    },
    { fault: '529', scripts: [overloaded(), answer], ends: null, retries: [['overloaded']] },
    { fault: '500', scripts: [serverError(), answer], ends: null, retries: [['server']] },
    {
      fault: '500, 529 and a refused connection in turn',
      scripts: [serverError(), overloaded(), dropConnection, answer],
      ends: null,
      retries: [['server'], ['overloaded'], ['network']],
    },
    { fault: '500 for ever', scripts: forEver, ends: 'server', retries: [['server'], ['server'], ['server'], ['server']] },
    { fault: 'a disconnect in the middle of an answer', scripts: [reply('Half of', disconnect), answer], ends: null, keeps: 'Half of' },
    { fault: 'half an event', scripts: [reply('Half of', halfEvent), answer], ends: null, keeps: 'Half of' },
    {
      fault: 'an answer that ends without saying so',
      scripts: [reply('Half of', overHttp ? endEarly : disconnect), answer],
      ends: null,
      keeps: 'Half of',
    },
    {
      fault: 'an error in the middle of an answer',
      scripts: [reply('Half of', errorEvent('api_error', 'it broke')), answer],
      ends: null,
      keeps: 'Half of',
    },
    {
      fault: 'a disconnect in the middle of a call',
      scripts: [reply('Let me see.', rawToolCall('echo', '{"text": "po', disconnect)), answer],
      ends: null,
    },
    // On the wire of Ollama declining is an answer like any other.
    { fault: 'a refusal', scripts: [refusal('not this', reply('I '))], ends: declines ? 'refused' : null },
    { fault: 'max_tokens', scripts: [reply('word '.repeat(30_000))], ends: limitsAnswers ? 'invalid_request' : null, keeps: 'word word' },
    { fault: 'an overflow with nothing to fold', scripts: [promptTooLong(9_000, 8_000)], ends: 'overflow' },
    { fault: 'malformed tool input', scripts: [reply(rawToolCall('echo', '{"text": "por')), answer], ends: null },
    { fault: 'an unknown tool', scripts: [reply(toolCall('no_such_tool', {})), answer], ends: null, tells: /There is no tool called/ },
    { fault: 'a tool that crashes', scripts: [reply(toolCall('crash', {})), answer], ends: null, tells: /the hold is leaking/ },
    {
      fault: '500 for ever behind a tool result',
      scripts: [reply('Let me see.', toolCall('echo', { text: 'hi' })), ...forEver],
      ends: 'server',
      keeps: 'Let me see.',
    },
  ];
}

const crash: Tool = {
  name: 'crash',
  description: 'fails',
  inputSchema: { type: 'object' },
  access: 'read',
  run: async () => {
    throw new TypeError('the hold is leaking');
  },
};

/**
 * After every fault the turn has ended in a clear state, the history is valid, and the next turn works: at once, and after the session is
 * opened again.
 */
export function survivesFaults(subject: Subject): void {
  describe(`with ${subject.name}, a turn survives`, () => {
    let wired: Wired;
    let rig: ConversationRig;
    beforeEach(async () => {
      wired = await subject.start();
      rig = await ConversationRig.create({ binding: () => wired.bind() });
      rig.moreTools = [crash];
      await rig.reopen();
    });
    afterEach(async () => {
      await rig.dispose();
      await wired.close();
    });

    async function assertGoesOn(id: string): Promise<void> {
      wired.enqueue(reply(`Still here, ${id}.`));
      const { ok, text, error } = await rig.conversation.send('and now?', id);
      assert.deepEqual({ ok, text, error }, { ok: true, text: `Still here, ${id}.`, error: null });
      // The doubles refuse what their originals refuse, and say here what they could not make sense of.
      assert.deepEqual(wired.errors, []);
    }

    for (const { fault, scripts, ends, retries, keeps, tells } of rows(subject)) {
      it(fault, async () => {
        wired.enqueue(...scripts);
        const { ok, text, error } = await rig.conversation.send('hello', 'm1');
        assert.deepEqual([ok, error?.reason ?? null], [ends === null, ends], error?.message);
        if (ok && scripts.at(-1) === answer) assert.ok(text.endsWith('The whole answer.'), text);
        assert.equal(error?.message === '', false);
        assert.deepEqual(
          rig.events.flatMap((event) => (event.type === 'turn_ended' ? [[event.id, event.ok]] : [])),
          [['m1', ok]],
        );
        assert.equal(rig.conversation.isBusy, false);
        const delays = rig.events.flatMap((event) => (event.type === 'retry_scheduled' ? [event] : []));
        if (retries)
          assert.deepEqual(
            delays.map(({ reason, delayMs }, i) => [reason, ...(retries[i]?.[1] === undefined ? [] : [delayMs])]),
            retries,
          );
        if (tells) assert.match(wired.sent(), tells);
        const said = await rig.texts();
        assert.equal(said.filter((one) => one === 'hello').length, 1);
        if (keeps)
          assert.ok(
            said.some((one) => one.includes(keeps)),
            said.join('|').slice(0, 500),
          );
        await assertGoesOn('next');
        await rig.reopen();
        await assertGoesOn('again');
      });
    }
  });
}
