import { HostChannel } from '../../../src/protocol/channel';
import { panelWire, type PanelRequest, type PanelState } from '../../../src/protocol/panels';

/** The extension's side of a panel, in the page. Set up by `openPanel` before anything of the panel runs. */
export interface FakePanelHost {
  readonly requests: PanelRequest[];
  readonly log: string[];
  readonly violations: string[];
  /** Methods that are answered with this error instead. */
  readonly refuse: Partial<Record<PanelRequest['method'], string>>;
  /** Methods that are answered with this instead of null. */
  readonly replies: Partial<Record<PanelRequest['method'], string>>;
  show(state: PanelState): void;
}

declare global {
  interface Window {
    fakePanel: FakePanelHost;
    fakePanelState: PanelState;
  }
}

const fromView = new Set<(message: unknown) => void>();
let state = window.fakePanelState;

const fake: FakePanelHost = {
  requests: [],
  log: [],
  violations: [],
  refuse: {},
  replies: {},
  show: (next) => {
    state = next;
    channel.sendSnapshot(next);
  },
};
window.fakePanel = fake;

const channel = new HostChannel(
  panelWire,
  {
    post: (message) => window.postMessage(message, '*'),
    onMessage: (listener) => {
      fromView.add(listener);
      return { dispose: () => fromView.delete(listener) };
    },
  },
  {
    ready: () => channel.sendSnapshot(state),
    handle: (request) => {
      fake.requests.push(request);
      const refusal = fake.refuse[request.method];
      return refusal === undefined ? Promise.resolve(fake.replies[request.method] ?? null) : Promise.reject(new Error(refusal));
    },
    log: (text) => void fake.log.push(text),
  },
);

window.acquireVsCodeApi = () => ({
  postMessage: (message: unknown) => {
    const copy: unknown = structuredClone(message);
    queueMicrotask(() => fromView.forEach((listener) => listener(copy)));
  },
  getState: () => undefined,
  setState: () => undefined,
});

document.addEventListener('securitypolicyviolation', (event) => {
  fake.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample} (${event.sourceFile}:${event.lineNumber})`);
});
