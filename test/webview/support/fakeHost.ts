import { HostChannel } from '../../../src/protocol/channel';
import { chatWire, type Delta, type TranscriptRow, type ViewRequest, type ViewSnapshot } from '../../../src/protocol/messages';

/**
 * The extension's side, in the page: the real host end of the channel behind an `acquireVsCodeApi` that works as VS Code's
 * does (one call, asynchronous messages, state that survives). Set up by `openView` before anything of the view runs.
 */
export interface FakeHost {
  /** What `ready` is answered with; null leaves the view waiting. */
  snapshot: ViewSnapshot | null;
  /** Rows before the snapshot's first, served by `older` in pages. */
  earlier: TranscriptRow[];
  pageSize: number;
  readonly requests: ViewRequest[];
  readonly log: string[];
  readonly violations: string[];
  ready: number;
  state: unknown;
  /** Methods that are answered with this error instead. */
  readonly refuse: Partial<Record<ViewRequest['method'], string>>;
  /** What methods are answered with. */
  readonly answers: Partial<Record<ViewRequest['method'], unknown>>;
  /** Methods that are not answered at all. */
  readonly silent: Set<ViewRequest['method']>;
  /** Host messages that get lost on the way. */
  lose: number;
  delta(delta: Delta): void;
  show(snapshot: ViewSnapshot): void;
  raw(message: unknown): void;
}

declare global {
  interface Window {
    fake: FakeHost;
    fakeSetup: Partial<Pick<FakeHost, 'snapshot' | 'earlier' | 'pageSize' | 'state'>>;
    acquireVsCodeApi: () => unknown;
  }
}

const fromView = new Set<(message: unknown) => void>();
const toView = (message: unknown) => window.postMessage(message, '*');

const fake: FakeHost = {
  snapshot: null,
  earlier: [],
  pageSize: 50,
  requests: [],
  log: [],
  violations: [],
  ready: 0,
  state: undefined,
  refuse: {},
  answers: {},
  silent: new Set(),
  lose: 0,
  ...window.fakeSetup,
  delta: (delta) => channel.sendDelta(delta),
  show: (snapshot) => channel.sendSnapshot(snapshot),
  raw: toView,
};
window.fake = fake;

const channel = new HostChannel(
  chatWire,
  {
    post: (message) => {
      if (fake.lose > 0) fake.lose -= 1;
      else toView(message);
    },
    onMessage: (listener) => {
      fromView.add(listener);
      return { dispose: () => fromView.delete(listener) };
    },
  },
  {
    ready: () => {
      fake.ready += 1;
      if (fake.snapshot) channel.sendSnapshot(fake.snapshot);
    },
    handle: (request) => {
      // The view asks by itself, at any time.
      if (request.method !== 'instructions') fake.requests.push(request);
      const refusal = fake.refuse[request.method];
      if (refusal !== undefined) return Promise.reject(new Error(refusal));
      if (fake.silent.has(request.method)) return new Promise(() => undefined);
      return Promise.resolve(reply(request));
    },
    log: (text) => void fake.log.push(text),
  },
);

function reply(request: ViewRequest): unknown {
  if (request.method === 'unqueue') {
    const found = fake.snapshot?.queue.find((q) => q.id === request.id);
    return { text: found?.text ?? 'taken back', attachments: found?.attachments ?? [] };
  }
  const answer = fake.answers[request.method];
  if (answer !== undefined) return answer;
  if (request.method !== 'older') return null;
  const at = fake.earlier.findIndex((row) => row.id === request.before);
  const end = at < 0 ? fake.earlier.length : at;
  const start = Math.max(0, end - fake.pageSize);
  return { rows: fake.earlier.slice(start, end), hasMore: start > 0, marks: [] };
}

let acquired = false;
window.acquireVsCodeApi = () => {
  if (acquired) throw new Error('An instance of the VS Code API has already been acquired');
  acquired = true;
  return {
    postMessage: (message: unknown) => {
      const copy: unknown = structuredClone(message);
      queueMicrotask(() => fromView.forEach((listener) => listener(copy)));
    },
    getState: () => fake.state,
    setState: (state: unknown) => (fake.state = structuredClone(state)),
  };
};

document.addEventListener('securitypolicyviolation', (event) => {
  fake.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample} (${event.sourceFile}:${event.lineNumber})`);
});
