import assert from 'node:assert/strict';
import { StoreError } from '../../../src/core/errors';
import { ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';

let rig: ConversationRig;
let gate: ReturnType<ConversationRig['gate']>;

const waiting = () => rig.conversation.queued.map(({ id, text }) => `${id}: ${text}`);

describe('messages that wait', () => {
  beforeEach(async () => {
    rig = await ConversationRig.create();
    gate = rig.gate();
    rig.model.scripts.push(
      [
        { type: 'text_delta', index: 0, text: 'as far as ' },
        { hold: gate.opened },
        ...says('it got').slice(0, -2),
        { type: 'block', index: 0, block: { type: 'text', text: 'as far as it got' } },
        { type: 'stopped', reason: 'end_turn' },
      ],
      says('1'),
      says('2'),
      says('3'),
    );
  });
  afterEach(() => rig.dispose());

  /** One that is being answered, and three that wait. */
  async function four() {
    const sent = [rig.conversation.send('running', 'r')];
    await rig.until(() => rig.events.some(({ type }) => type === 'text_delta'));
    for (const [id, text] of [
      ['a', 'first'],
      ['b', 'second'],
      ['c', 'third'],
    ] as const)
      sent.push(rig.conversation.send(text, id));
    await rig.until(async () => (await rig.store.queue(rig.session)).length === 3);
    return Promise.all(sent);
  }

  it('are sent in the order that the user gives them, with the text that they have by then', async () => {
    const all = four();
    await rig.until(() => rig.conversation.queued.length === 3);
    const { queue } = rig.conversation;
    assert.deepEqual(
      [await queue.move('c', 'a'), await queue.move('a', null), await queue.edit('b', 'second, edited'), await queue.move('r', null)],
      [true, true, true, false],
    );
    assert.deepEqual(waiting(), ['c: third', 'b: second, edited', 'a: first']);
    assert.deepEqual(await rig.store.queue(rig.session), rig.conversation.queued);
    gate.open();
    const outcomes = (await all).map(({ id, ok, text }) => `${id} ${ok} ${text}`);
    assert.deepEqual(outcomes, ['r true as far as it got', 'a true 3', 'b true 2', 'c true 1']);
    assert.deepEqual(await rig.texts(), ['running', 'as far as it got', 'third', '1', 'second, edited', '2', 'first', '3']);
  });

  it('can be sent at once: what runs is stopped and keeps what it has shown, the others go on waiting', async () => {
    const all = four();
    await rig.until(() => rig.conversation.queued.length === 3);
    rig.model.scripts.splice(0, 1, [{ hold: gate.opened }, ...says('1')]);
    assert.equal(await rig.conversation.sendQueued('b'), true);
    await rig.until(() => rig.model.requests.length === 2);
    assert.deepEqual(waiting(), ['a: first', 'c: third']);
    assert.deepEqual([await rig.conversation.sendQueued('b'), await rig.conversation.queue.edit('b', 'x')], [false, false]);
    gate.open();
    const outcomes = (await all).map(({ id, ok, error }) => `${id} ${ok} ${error?.reason ?? ''}`);
    assert.deepEqual(outcomes, ['r false cancelled', 'a true ', 'b true ', 'c true ']);
    assert.deepEqual(await rig.texts(), ['running', 'as far as ', 'second', '1', 'first', '2', 'third', '3']);
    assert.equal(rig.conversation.isBusy, false);
  });

  it('are in the history or in the queue, never in both: a process that dies between the two sends none twice', async () => {
    const all = four();
    await rig.until(() => rig.conversation.queued.length === 3);
    rig.failQueue(new StoreError('io', 'killed'));
    gate.open();
    await rig.until(async () => (await rig.texts()).includes('first'));
    assert.deepEqual(
      (await rig.store.queue(rig.session)).map(({ id }) => id).filter((id) => id === 'a'),
      [],
    );
    await all;
    assert.deepEqual(await rig.store.queue(rig.session), []);
    assert.deepEqual(await rig.texts(), ['running', 'as far as it got', 'first', '1', 'second', '2', 'third', '3']);
  });

  it('are refused, not taken, where they cannot be written down', async () => {
    const running = rig.conversation.send('running', 'r');
    await rig.until(() => rig.events.some(({ type }) => type === 'text_delta'));
    rig.failQueue(new StoreError('disk_full', 'no space'));
    let isAccepted = false;
    const outcome = await rig.conversation.send('first', 'a', [], () => (isAccepted = true));
    assert.deepEqual(
      { ...outcome, isAccepted },
      {
        id: 'a',
        begun: false,
        ok: false,
        text: '',
        error: {
          reason: 'store',
          message: 'The disk is full, so the message could not be saved and was not sent. Free some space and send it again.',
        },
        isAccepted: false,
      },
    );
    assert.deepEqual(waiting(), []);
    gate.open();
    assert.equal((await running).ok, true);
    assert.deepEqual(await rig.texts(), ['running', 'as far as it got']);
  });

  it('can be taken out while others are moved: each is sent once, what is gone never', async () => {
    const all = four();
    await rig.until(() => rig.conversation.queued.length === 3);
    await rig.conversation.queue.move('b', 'a');
    assert.equal((await rig.conversation.unqueue('b'))?.text, 'second');
    gate.open();
    const outcomes = (await all).map(({ id, begun }) => `${id} ${begun}`);
    assert.deepEqual(outcomes, ['r true', 'a true', 'b false', 'c true']);
    assert.deepEqual(await rig.texts(), ['running', 'as far as it got', 'first', '1', 'third', '2']);
  });
});
