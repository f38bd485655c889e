import Module from 'node:module';

/** What the module `vscode` has as `window` in a test process, which has none: the test says what its dialogs answer. Import this first. */
export const windowDouble: { window: Record<string, unknown> } = { window: {} };

const loader = Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown };
const load = loader._load;
const vscode = {
  window: new Proxy({}, { get: (_, name: string) => windowDouble.window[name] }),
  commands: {},
  Uri: {},
  ProgressLocation: { Notification: 15 },
};
loader._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));
