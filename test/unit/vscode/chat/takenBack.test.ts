import { deepStrictEqual } from 'node:assert';
import type { SessionStore } from '../../../../src/core/ports';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { openTestStore, tempFolder } from '../../../support/store/storeTemp';

describe('what waits in the queue of a session that is opened', () => {
  let temp: ReturnType<typeof tempFolder>;
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(() => temp.remove());

  it('goes to the composer also when it is nothing but a picture', async () => {
    const state = new Map<string, unknown>();
    const first = new ChatWindow(temp.path, state);
    await first.ask('One');
    const uuid = first.controller.active.session!.uuid;
    await first.close();
    const picture = { kind: 'image', name: 'tide.png', hash: 'a'.repeat(64), mime: 'image/png' } as const;
    const store = await openTestStore(temp.path);
    await store.saveQueue(uuid, [{ id: 'b', text: '', attachments: [picture] }]);
    await store.close();
    const second = new ChatWindow(temp.path, state);
    await second.controller.ready();
    deepStrictEqual([second.last.draft, second.last.attachments, second.last.queue], ['', [picture], []]);
    await second.close();
  });

  it('goes in front of what is typed, where the session is read anew under it', async () => {
    let store: SessionStore | undefined;
    const window = new ChatWindow(temp.path, new Map(), async () => (store = await openTestStore(temp.path)));
    await window.ask('One');
    const { active } = window.controller;
    const uuid = active.session!.uuid;
    await store!.saveDraft(uuid, { text: 'of another window', attachments: [], at: 1 });
    active.chat!.draft = { text: 'typed here', attachments: [] };
    await store!.saveQueue(uuid, [{ id: 'b', text: 'Two' }]);
    await active.reload();
    deepStrictEqual(
      {
        draft: window.last.draft,
        told: window.deltas.filter(({ kind }) => kind === 'draft'),
        stored: (await store!.draft(uuid))?.text,
        queue: await store!.queue(uuid),
      },
      { draft: 'Two\n\ntyped here', told: [{ kind: 'draft', text: 'Two\n\ntyped here' }], stored: 'Two\n\ntyped here', queue: [] },
    );
    await window.close();
  });
});
