import { deepStrictEqual, rejects } from 'node:assert';
import { StoreError } from '../../../../src/core/errors';
import type { SessionStore } from '../../../../src/core/ports';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { openTestStore, tempFolder } from '../../../support/store/storeTemp';

describe('a session that cannot be read', () => {
  let temp: ReturnType<typeof tempFolder>;
  let store: SessionStore;
  let listening = 0;
  const open = async () => {
    store = await openTestStore(temp.path);
    const { onDidChange } = store;
    Object.defineProperty(store, 'onDidChange', {
      value: (listener: Parameters<typeof onDidChange>[0]) => {
        listening++;
        const subscription = onDidChange(listener);
        return {
          dispose: () => {
            listening--;
            subscription.dispose();
          },
        };
      },
    });
    return store;
  };
  beforeEach(() => {
    temp = tempFolder();
    listening = 0;
  });
  afterEach(() => temp.remove());

  for (const read of ['page', 'draft', 'queue'] as const)
    it(`leaves nothing behind that goes on listening, and is opened by the next try (${read})`, async () => {
      const state = new Map<string, unknown>();
      const first = new ChatWindow(temp.path, state);
      await first.ask('One');
      const { uuid } = first.controller.active.session!;
      await first.close();
      const window = new ChatWindow(temp.path, state, open);
      await window.controller.active.newSession();
      const before = listening;
      const reads = store[read];
      Object.assign(store, { [read]: () => Promise.reject(new StoreError('io', 'by script')) });
      await rejects(window.controller.active.openSession(uuid), /by script/);
      const afterFailure = listening;
      Object.assign(store, { [read]: reads });
      await window.controller.active.openSession(uuid);
      const opened = window.controller.active.session?.uuid;
      await window.controller.active.newSession();
      deepStrictEqual({ afterFailure, opened, afterwards: listening }, { afterFailure: before, opened: uuid, afterwards: before });
      await window.close();
    });
});
