import { notStrictEqual, strictEqual } from 'node:assert';
import { Emitter } from '../../../../src/core/base/event';
import type { SessionStore, StoreStatus } from '../../../../src/core/ports';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { openTestStore, tempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

describe('ChatController, when the way to the history changes', () => {
  it('reads what is open anew from a copy, and from the history itself again, but not at each write of another window', async () => {
    const temp = tempFolder();
    const real = await openTestStore(temp.path);
    const changed = new Emitter<StoreStatus>();
    let { status } = real;
    const store = Object.create(real, { status: { get: () => status }, onDidChangeStatus: { value: changed.event } }) as SessionStore;
    const window = new ChatWindow(temp.path, undefined, async () => store);
    const become = (access: StoreStatus['access']) => {
      status = { ...status, access };
      changed.fire(status);
    };
    /** After whatever was begun before. */
    const shown = async () => {
      await window.controller.active.openSession(window.controller.active.session!.uuid);
      return window.controller.active.conversation();
    };
    try {
      await window.ask('One');
      const own = await shown();
      become('readonly');
      const copy = await waitFor('the copy', async () => ((await shown()) === own ? undefined : shown()));
      become('readonly');
      strictEqual(await shown(), copy);
      become('owner');
      notStrictEqual(await waitFor('the history', async () => ((await shown()) === copy ? undefined : shown())), copy);
    } finally {
      await window.close();
      temp.remove();
    }
  });
});
