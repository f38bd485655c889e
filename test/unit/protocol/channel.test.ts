import { deepStrictEqual, rejects, strictEqual } from 'node:assert';
import { HostChannel, RequestError, ViewChannel, type Transport } from '../../../src/protocol/channel';
import { chatWire, type Delta, type HostMessage, type ViewRequest, type ViewSnapshot } from '../../../src/protocol/messages';

const empty: ViewSnapshot = {
  session: null,
  sessions: [],
  rows: [],
  marks: [],
  hasMore: false,
  live: [],
  turn: null,
  queue: [],
  left: null,
  full: null,
  context: null,
  connection: { provider: 'offline', modelName: 'Offline', key: 'missing', offlineChosen: false },
  banner: null,
  draft: '',
};

const added = (text: string): Delta => ({ kind: 'live_text', id: 'b', block: 'assistant', model: 'm', text });
const isAdded = (message: HostMessage, text: string) =>
  message.type === 'delta' && message.delta.kind === 'live_text' && message.delta.text === text;

describe('channel', () => {
  it('answers ready with a snapshot and numbers what follows consecutively', () => {
    const { view, host, flush, got } = connected({});
    host.sendDelta(added('no view yet'));
    view.resync();
    flush();
    host.sendDelta(added('a'));
    host.sendDelta(added('b'));
    flush();
    deepStrictEqual(got, ['snapshot 1', 'a', 'b']);
  });

  it('asks for a new snapshot after a gap and ignores deltas until it comes', () => {
    const { view, host, flush, got } = connected({});
    view.resync();
    flush();
    for (const text of ['a', 'lost', 'after the gap']) host.sendDelta(added(text));
    flush((message) => isAdded(message, 'lost'));
    host.sendDelta(added('d'));
    flush();
    deepStrictEqual(got, ['snapshot 1', 'a', 'snapshot 5', 'd']);
  });

  it('drops deltas between ready and the snapshot that contains them', () => {
    const { host, view, flush, got } = connected({ ready: () => undefined });
    view.resync();
    flush();
    host.sendDelta(added('contained in the snapshot'));
    host.sendSnapshot(empty);
    host.sendDelta(added('a'));
    flush();
    deepStrictEqual(got, ['snapshot 1', 'a']);
  });

  it('takes a snapshot nobody asked for, as when another session is opened', () => {
    const { view, host, flush, got } = connected({});
    view.resync();
    flush();
    host.sendSnapshot(empty);
    host.sendDelta(added('a'));
    flush();
    deepStrictEqual(got, ['snapshot 1', 'snapshot 2', 'a']);
  });

  it('repeats ready, with doubled patience, until a snapshot comes', () => {
    const { view, flush, clock, got, fromView } = connected({});
    view.resync();
    clock.fire(10);
    clock.fire(20);
    deepStrictEqual(fromView, [{ type: 'ready' }, { type: 'ready' }, { type: 'ready' }]);
    fromView.splice(0, 2);
    flush();
    deepStrictEqual(got, ['snapshot 1']);
    deepStrictEqual(clock.waiting, []);
  });

  it('resynchronises after a malformed delta and reports it to both ends', () => {
    const { view, host, flush, got, log, toView } = connected({});
    view.resync();
    flush();
    toView({ type: 'delta', seq: 2, delta: { kind: 'confetti' } });
    flush();
    host.sendDelta(added('a'));
    flush();
    deepStrictEqual(got, ['snapshot 1', 'fault', 'snapshot 2', 'a']);
    strictEqual(log.length, 1);
  });

  it('correlates replies and errors with their requests, whatever their order', async () => {
    const release: (() => void)[] = [];
    const { view, flush, log } = connected({
      handle: async (request) => {
        await new Promise<void>((resolve) => release.unshift(resolve));
        if (request.method === 'unqueue') return `text of ${request.id}`;
        throw new Error('There is no such session.');
      },
    });
    const first = view.request({ method: 'unqueue', id: 'q1' });
    const second = view.request({ method: 'open_session', uuid: 'x' });
    flush();
    for (const go of release) go();
    await answered();
    flush();
    await rejects(second, { name: 'RequestError', message: 'There is no such session.' });
    strictEqual(await first, 'text of q1');
    deepStrictEqual(log, ['Request open_session failed: There is no such session.']);
  });

  it('replies null to a request without a result', async () => {
    const { view, flush } = connected({});
    const stopped = view.request({ method: 'stop' });
    flush();
    await answered();
    flush();
    strictEqual(await stopped, null);
  });

  it('times a request out by its method and ignores an answer that comes too late', async () => {
    const { view, clock, flush } = connected({});
    const short = view.request({ method: 'stop' });
    const long = view.request({ method: 'compact' });
    clock.fire(30);
    await rejects(short, RequestError.is);
    flush();
    await answered();
    flush();
    strictEqual(await long, null);
    deepStrictEqual(clock.waiting, []);
  });

  it('logs a malformed message from the view and answers it where it can', () => {
    const { log, toHost, fromHost } = connected({});
    const malformed = [undefined, 7, 'text', {}, { type: 'request', requestId: 4, request: { method: 'format_disk' } }];
    for (const message of malformed) toHost(message);
    strictEqual(log.length, malformed.length);
    deepStrictEqual(fromHost, [{ type: 'error', requestId: 4, message: 'The request was not understood.' }]);
  });

  it('survives a host that throws instead of sending its snapshot', () => {
    const { view, flush, log } = connected({
      ready: () => {
        throw new Error('store is closed');
      },
    });
    view.resync();
    flush();
    deepStrictEqual(log, ['No snapshot for the view: store is closed']);
  });

  it('rejects what is under way when the view ends, and posts nothing after either end is disposed', async () => {
    const { view, host, flush, clock, fromHost, toHost } = connected({});
    const stopped = view.request({ method: 'stop' });
    view.dispose();
    await rejects(stopped, RequestError.is);
    host.dispose();
    toHost({ type: 'ready' });
    host.sendSnapshot(empty);
    flush();
    deepStrictEqual(fromHost, []);
    deepStrictEqual(clock.waiting, []);
  });
});

/** Two ends whose messages wait on the line until `flush`, so that any loss and interleaving can be played. */
function connected(options: { ready?: () => void; handle?: (request: ViewRequest) => Promise<unknown> }) {
  const hostSide = side();
  const viewSide = side();
  const clock = timers();
  const log: string[] = [];
  const got: string[] = [];
  let snapshots = 0;
  const host = new HostChannel(chatWire, hostSide.transport, {
    ready: options.ready ?? (() => host.sendSnapshot(empty)),
    handle: options.handle ?? (() => Promise.resolve()),
    log: (text) => void log.push(text),
  });
  const view = new ViewChannel(
    chatWire,
    viewSide.transport,
    {
      snapshot: () => void got.push(`snapshot ${snapshots}`),
      delta: (delta) => void got.push(delta.kind === 'live_text' ? delta.text : delta.kind),
      fault: () => void got.push('fault'),
    },
    { request: (method) => (method === 'compact' ? 600 : 30), snapshot: 10 },
    clock.after,
  );
  const flush = (lose: (message: HostMessage) => boolean = () => false) => {
    while (hostSide.sent.length + viewSide.sent.length > 0) {
      for (const message of viewSide.sent.splice(0)) hostSide.deliver(message);
      for (const message of hostSide.sent.splice(0) as HostMessage[]) {
        if (message.type === 'snapshot') snapshots = message.seq;
        if (!lose(message)) viewSide.deliver(message);
      }
    }
  };
  return {
    host,
    view,
    flush,
    clock,
    log,
    got,
    fromHost: hostSide.sent,
    fromView: viewSide.sent,
    toHost: hostSide.deliver,
    toView: viewSide.deliver,
  };
}

function side() {
  const listeners = new Set<(message: unknown) => void>();
  const sent: unknown[] = [];
  const transport: Transport = {
    post: (message) => void sent.push(structuredClone(message)),
    onMessage: (listener) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
  };
  return { transport, sent, deliver: (message: unknown) => listeners.forEach((listener) => listener(message)) };
}

function timers() {
  const waiting: { ms: number; callback: () => void }[] = [];
  const remove = (timer: { ms: number; callback: () => void }) => {
    const at = waiting.indexOf(timer);
    if (at >= 0) waiting.splice(at, 1);
  };
  return {
    waiting,
    after: (ms: number, callback: () => void) => {
      const timer = { ms, callback };
      waiting.push(timer);
      return { dispose: () => remove(timer) };
    },
    fire: (ms: number) => {
      for (const timer of waiting.filter((t) => t.ms === ms)) {
        remove(timer);
        timer.callback();
      }
    },
  };
}

/** The handler of a request runs as microtasks; all of them are done by the next task. */
const answered = () => new Promise((resolve) => setImmediate(resolve));
