import assert from 'node:assert/strict';
import { hold, httpFault, reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { ConversationRig } from '../../support/chat/conversationRig';
import { survivesFaults } from './faultTable';
import type { Subject, Wired } from './subjects';

/** What holds of a turn with any provider: it ends in a clear state, the history stays valid, and the next turn works. */
export function conforms(subject: Subject): void {
  survivesFaults(subject);
  describe(`a turn with ${subject.name}`, () => {
    let wired: Wired;
    let rig: ConversationRig;
    beforeEach(() => begin(subject));
    afterEach(async () => {
      await rig.dispose();
      await wired.close();
    });

    async function begin(from: Subject, window?: number): Promise<void> {
      wired = await from.start(window);
      rig = await ConversationRig.create({ binding: () => wired.bind() });
    }

    /** The turn has ended, the next one works, and the server has found nothing to complain about. */
    async function assertGoesOn(): Promise<void> {
      assert.equal(rig.conversation.isBusy, false);
      wired.enqueue(reply('Still here.'));
      const next = await rig.conversation.send('and now?', 'next');
      assert.deepEqual({ ok: next.ok, text: next.text, error: next.error }, { ok: true, text: 'Still here.', error: null });
      assert.deepEqual(wired.errors, []);
    }

    const of = (type: string) => rig.events.filter((event) => event.type === type);

    it('answers, and says what it used', async () => {
      wired.enqueue(reply('Hello there.'));
      const { ok, text } = await rig.conversation.send('hello', 'm1');
      assert.deepEqual([ok, text], [true, 'Hello there.']);
      const [usage] = rig.events.flatMap((event) => (event.type === 'usage_reported' ? [event.usage] : []));
      assert.ok((usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0) > 0);
      assert.equal(usage?.estimated, subject.reportsUsage ? undefined : true);
      await assertGoesOn();
    });

    it('calls a tool and is told what came of it', async () => {
      wired.enqueue(reply('Let me see.', toolCall('echo', { text: 'port 5173' })), reply('It is 5173.'));
      const { ok } = await rig.conversation.send('which port?', 'm1');
      assert.equal(ok, true);
      assert.ok(wired.sent().includes('echo: port 5173'));
      await assertGoesOn();
    });

    it('calls two tools at once', async () => {
      wired.enqueue(reply(toolCall('echo', { text: 'one' }), toolCall('echo', { text: 'two' })), reply('Done.'));
      assert.equal((await rig.conversation.send('both', 'm1')).ok, true);
      assert.ok(wired.sent().includes('echo: one') && wired.sent().includes('echo: two'));
      await assertGoesOn();
    });

    it('says half a character as a whole one, wherever a text was cut', async () => {
      wired.enqueue(reply('Half \ud83d.', toolCall('echo', { text: 'one \ud83d', 'two \ud83d': '\\ud83d' })), reply('Done.'));
      assert.equal((await rig.conversation.send('cut \ud83d', 'm1')).ok, true);
      assert.deepEqual(
        ['cut \ufffd', 'one \ufffd', 'two \ufffd'].map((text) => wired.sent().includes(text)),
        [true, true, true],
      );
      assert.ok(!/[^\\]\\ud/.test(wired.sent()));
      await assertGoesOn();
    });

    it('is reminded by the program, and goes on', async () => {
      rig.overrides = {
        'memoryFlush.thresholds': [{ percent: 5, prompt: 'Write notes now.', injectAs: 'system' }],
        'checkpoint.enabled': false,
      };
      wired.enqueue(reply('First.'), reply('Let me see.', toolCall('echo', { text: 'one' })), reply('Second.'));
      for (const id of ['m1', 'm2']) assert.equal((await rig.conversation.send(`${id} ${prose(500)}`, id)).ok, true);
      assert.ok(wired.sent().includes('Write notes now.'));
      assert.equal(/"role":"system"[^}]*Write notes now/.test(wired.sent()), subject.takesSystem);
      await assertGoesOn();
    });

    it('stops in the middle of an answer, and lets go of the connection', async () => {
      const gate = hold();
      wired.enqueue(reply('Beginning ', gate, 'end'));
      const sending = rig.conversation.send('hello', 'm1');
      await gate.reached;
      await rig.until(() => of('text_delta').length > 0);
      await rig.conversation.stop();
      const { ok, error } = await sending;
      assert.deepEqual([ok, error?.reason], [false, 'cancelled']);
      await wired.released();
      assert.ok((await rig.texts()).some((text) => text.startsWith('Beginning')));
      await assertGoesOn();
    });

    it('folds the conversation when the prompt turns out to be too long, and asks again', async () => {
      await rig.dispose();
      await wired.close();
      await begin(subject, 3_000);
      for (let i = 0; of('compaction_ended').length === 0 && i < 12; i++) {
        const { ok, error } = await rig.conversation.send(`${i} ${prose(450)}`, `m${i}`);
        assert.deepEqual([ok, error], [true, null]);
      }
      const triggers = rig.events.flatMap((event) => (event.type === 'compaction_started' ? [event.trigger] : []));
      assert.deepEqual(triggers, ['overflow']);
      await assertGoesOn();
    });

    if (subject.overHttp)
      it('names what it was told in the message, without the key', async () => {
        wired.enqueue(httpFault(400, 'invalid_request_error', `tools.0: no good; sent as Bearer ${wired.secret}`));
        const { error } = await rig.conversation.send('hello', 'm1');
        assert.equal(error?.reason, 'invalid_request');
        assert.match(error?.detail ?? '', /tools\.0: no good/);
        const everything = JSON.stringify([rig.events, rig.logged, wired.logged]);
        assert.ok(!everything.includes(wired.secret));
        await assertGoesOn();
      });
  });
}

/** About this many tokens, by the estimate and by any tokenizer. */
function prose(tokens: number): string {
  const words = [
    'the',
    'window',
    'holds',
    'what',
    'was',
    'said',
    'until',
    'it',
    'is',
    'full',
    'and',
    'then',
    'older',
    'messages',
    'are',
    'folded',
  ];
  return Array.from({ length: Math.round((tokens * 4) / 5.3) }, (_, i) => words[(i * 7) % words.length]).join(' ');
}
