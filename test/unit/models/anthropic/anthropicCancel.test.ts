import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { ModelEvent } from '../../../../src/core/models/modelEvent';
import { after, hold, reply, stall } from '../../../support/messagesApi/messagesApiScript';
import { collect, failureOf, never, request, Rig } from '../rig';

describe('AnthropicClient cancellation and silence', () => {
  const rig = new Rig();
  beforeEach(() => rig.start());
  afterEach(() => rig.close());

  it('sends nothing when it is cancelled from the start', async () => {
    const events = await collect(rig.client().stream(request(), AbortSignal.abort()));
    assert.deepEqual(events, [{ type: 'failed', failure: { reason: 'cancelled', detail: '' } }]);
    assert.equal(rig.api.requests.length, 0);
  });

  it('can be cancelled before the first byte; the provider is told', async () => {
    const gate = hold();
    rig.api.enqueue(after(gate, reply('Late')));
    const abort = new AbortController();
    const events = collect(rig.client().stream(request(), abort.signal));
    await gate.reached;
    abort.abort();
    assert.deepEqual(await events, [{ type: 'failed', failure: { reason: 'cancelled', detail: '' } }]);
    assert.equal(await (await rig.api.received(1)).closed, 'aborted');
  });

  it('can be cancelled in the middle of an answer; what was said before stays', async () => {
    const gate = hold();
    rig.api.enqueue(reply('Before ', gate, 'after'));
    const abort = new AbortController();
    const events: ModelEvent[] = [];
    for await (const event of rig.client().stream(request(), abort.signal)) {
      events.push(event);
      if (event.type === 'text_delta') abort.abort();
    }
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : [])),
      ['Before '],
    );
    assert.deepEqual(failureOf(events), { reason: 'cancelled', detail: '' });
    assert.equal(await (await rig.api.received(1)).closed, 'aborted');
    assert.deepEqual(
      rig.logged.map(({ event }) => event),
      ['model_request_cancelled'],
    );
  });

  it('ends the request when nobody listens any more', async () => {
    const gate = hold();
    rig.api.enqueue(reply('Before ', gate, 'after'));
    for await (const event of rig.client().stream(request(), never)) if (event.type === 'text_delta') break;
    assert.equal(await (await rig.api.received(1)).closed, 'aborted');
  });

  it('leaves a finished answer alone, and the connection open', async () => {
    const abort = new AbortController();
    const events: ModelEvent[] = [];
    for await (const event of rig.client().stream(request(), abort.signal)) {
      if (event.type === 'stopped') abort.abort();
      events.push(event);
    }
    assert.equal(events.at(-1)?.type, 'stopped');
    assert.equal(await (await rig.api.received(1)).closed, 'finished');
  });

  it('does not wait for ever for the first byte', async () => {
    rig.api.enqueue(after(stall, reply('Never')));
    const client = rig.client({ timeouts: { firstByteMs: 1_500 } });
    assert.deepEqual(failureOf(await collect(client.stream(request(), never))), {
      reason: 'network',
      detail: `The server ${new URL(rig.api.url).host} sent nothing for 1.5 s.`,
    });
    assert.equal(await (await rig.api.received(1)).closed, 'aborted');
  });

  it('does not wait for ever for the next byte', async () => {
    rig.api.enqueue(reply('Before ', stall));
    const client = rig.client({ timeouts: { idleMs: 1_500 } });
    const events = await collect(client.stream(request(), never));
    assert.deepEqual(failureOf(events), { reason: 'network', detail: `The server ${new URL(rig.api.url).host} sent nothing for 1.5 s.` });
    assert.ok(events.some(({ type }) => type === 'text_delta'));
  });

  it('leaves no listener on a signal that lives on', async () => {
    const { signal } = new AbortController();
    await collect(rig.client().stream(request(), signal));
    await rig.client().countTokens(request(), signal);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
