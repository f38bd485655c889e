import { deepStrictEqual } from 'node:assert';
import type { SessionStore } from '../../../../src/core/ports';
import { UuidV7 } from '../../../../src/node/runtime/ids';
import { SessionActions } from '../../../../src/vscode/sessions/sessionActions';
import { says } from '../../../support/chat/scriptedModel';
import { openTestStore, tempFolder, userMessage } from '../../../support/store/storeTemp';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { waitFor } from '../../../support/waitFor';

describe('a session that is moved to the trash', () => {
  it('is stopped, also where it answers out of sight', async () => {
    const temp = tempFolder();
    let store!: SessionStore;
    const window = new ChatWindow(temp.path, new Map(), async () => (store = await openTestStore(temp.path)));
    let release = () => {};
    const hold = new Promise<void>((resolve) => (release = resolve));
    try {
      window.model.scripts.push([...says('Yes.').slice(0, 1), { hold }, ...says('Yes.').slice(1)]);
      await window.controller.active.send(new UuidV7().next(), 'First');
      await waitFor('the request', () => window.model.requests.length === 1);
      const { uuid } = window.controller.active.session!;
      await window.controller.active.newSession();
      deepStrictEqual(window.places.chats.answering, [uuid]);
      const { places } = window;
      const actions = new SessionActions({
        store: { get: async () => store },
        places,
        ids: new UuidV7(),
        now: Date.now,
        cwd: null,
        changed: () => undefined,
      });
      await actions.trash([(await actions.find(uuid))!]);
      await waitFor('the end of the turn', () => places.chats.answering.length === 0);
    } finally {
      release();
      await window.close();
      temp.remove();
    }
  });
});

describe('a fork', () => {
  it('goes on in the mode and with the tools of the session that it is made of, and has none of its marks', async () => {
    const temp = tempFolder();
    const store = await openTestStore(temp.path);
    const window = new ChatWindow(temp.path, new Map(), async () => store);
    try {
      const ids = new UuidV7();
      const actions = new SessionActions({
        store: { get: async () => store },
        places: window.places,
        ids,
        now: Date.now,
        cwd: null,
        changed: () => undefined,
      });
      const choices = { mode: 'plan', tools: ['read_file'], instructionFiles: false };
      const metadata = { ...choices, tags: ['work'], sessionKey: 'elsewhere' };
      const session = await store.createSession({ uuid: ids.next(), channel: 'vscode', metadata, createdAt: 1 });
      const [said] = await store.append(session.uuid, { entries: [userMessage(session.uuid, null, 'Look at it')] });
      const fork = await actions.fork(session.uuid);
      deepStrictEqual(fork?.metadata, choices);

      // Nothing has been said in it yet: its newest entry is one of the other session.
      await store.updateSession(fork.uuid, { metadata: { mode: null } });
      const { mode: _, ...others } = choices;
      deepStrictEqual((await actions.fork(fork.uuid))?.metadata, others);
      deepStrictEqual((await actions.find(await actions.forkAt(said!.uuid, fork.uuid)))?.metadata, others);
      deepStrictEqual((await actions.find(await actions.forkAt(said!.uuid, null)))?.metadata, choices);
    } finally {
      await window.close();
      temp.remove();
    }
  });
});
