import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Watchdog } from '../../../src/node/models/streamAnswer';

describe('Watchdog', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const watching = () => {
    const seen = { silences: 0 };
    return { seen, dog: new Watchdog(100, 10, () => seen.silences++) };
  };

  it('gives the first byte more time than the next ones', () => {
    const { dog, seen } = watching();
    mock.timers.tick(99);
    assert.equal(dog.silentMs, null);
    mock.timers.tick(1);
    assert.deepEqual([dog.silentMs, seen.silences], [100, 1]);
  });

  it('starts again with every sign of life', () => {
    const { dog, seen } = watching();
    for (let i = 0; i < 50; i++) {
      dog.allow();
      mock.timers.tick(9);
    }
    assert.equal(dog.silentMs, null);
    mock.timers.tick(1);
    assert.deepEqual([dog.silentMs, seen.silences], [10, 1]);
  });

  it('barks once, and never after it was stopped', () => {
    const first = watching();
    mock.timers.tick(100);
    first.dog.allow();
    mock.timers.tick(1_000);
    assert.deepEqual([first.dog.silentMs, first.seen.silences], [100, 1]);
    const second = watching();
    second.dog.stop();
    mock.timers.tick(1_000);
    assert.deepEqual([second.dog.silentMs, second.seen.silences], [null, 0]);
  });

  it('takes every byte of a response as a sign of life and changes none', async () => {
    const { dog, seen } = watching();
    const chunks = [': ping\n\n', 'event: x\n', 'data: 1\n\n'].map((text) => new TextEncoder().encode(text));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        mock.timers.tick(9);
        const chunk = chunks.shift();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const original = new Response(body, { status: 201, headers: { 'request-id': 'r' } });
    const context = { logger: console, options: undefined, parse: () => Promise.reject(new Error('unused')) };
    const response = await dog.middleware({ url: 'http://x', headers: new Headers() }, () => Promise.resolve(original), context);
    assert.equal(await response.text(), ': ping\n\nevent: x\ndata: 1\n\n');
    assert.deepEqual(
      { status: response.status, headers: response.headers.get('request-id'), silences: seen.silences },
      { status: 201, headers: 'r', silences: 0 },
    );
    dog.stop();
  });
});
