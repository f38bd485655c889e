import { deepStrictEqual } from 'node:assert';
import { noRow } from '../../../../src/protocol/messages';
import { openTestStore, tempFolder, userMessage } from '../../../support/store/storeTemp';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { useChatWindow } from '../../../support/vscode/useChatWindow';

describe('a conversation that stands before its first message', () => {
  const opened = useChatWindow();

  const marks = async () => {
    await opened().controller.ready();
    return opened().last.marks.map(({ id, fork, beyond }) => ({ id, fork, beyond }));
  };

  it('tells of what followed, until another message begins a branch beside it', async () => {
    await opened().ask('One');
    const { conversation } = opened().controller.active.chat!;
    const first = conversation.entries[0]!.uuid;
    await conversation.branching.goTo(null);
    deepStrictEqual([await opened().texts(), await marks()], [[], [{ id: noRow, fork: null, beyond: [first] }]]);
    await opened().ask('Another');
    const other = conversation.entries[0]!.uuid;
    deepStrictEqual(await marks(), [{ id: other, fork: { at: 1, branches: [first, other] }, beyond: [] }]);
  });
});

describe('a message on an older page', () => {
  it('is shown as pinned, and as excluded, once it is', async () => {
    const temp = tempFolder();
    const store = await openTestStore(temp.path);
    await store.createSession({ uuid: 's', channel: 'vscode', createdAt: 1 });
    const entries = Array.from({ length: 100 }, (_, i) =>
      userMessage('s', i === 0 ? null : `e${i - 1}`, `message ${i}`, { uuid: `e${i}`, createdAt: i }),
    );
    await store.append('s', { entries });
    const window = new ChatWindow(temp.path, new Map(), async () => store);
    const { controller, deltas } = window;
    await controller.ready();
    await controller.active.openSession('s');
    const chat = controller.active.chat!;
    await chat.older(window.last.rows[0]!.id);
    const changed = async () => {
      // The store answers in the order in which it is asked.
      await store.entries([]);
      await new Promise((resolve) => setImmediate(resolve));
      return deltas.splice(0).filter(({ kind }) => kind === 'row_changed');
    };
    const row = { kind: 'user', id: 'e3', at: 3, text: 'message 3', folded: false, excerpted: false, pinned: true, excluded: false };
    const { message } = await chat.conversation.pin({ kind: 'entry', target: 'e3' });
    deepStrictEqual([message, await changed()], [null, [{ kind: 'row_changed', row }]]);
    const refusal = await chat.conversation.setExcluded('e4', true);
    const other = { ...row, id: 'e4', at: 4, text: 'message 4', pinned: false, excluded: true };
    deepStrictEqual([refusal, await changed()], [null, [{ kind: 'row_changed', row: other }]]);
    await window.close();
    temp.remove();
  });
});
