import { deepStrictEqual } from 'node:assert';
import { noRow } from '../../../../src/protocol/messages';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { tempFolder } from '../../../support/store/storeTemp';

describe('a conversation that stands before its first message', () => {
  let temp: ReturnType<typeof tempFolder>;
  let window: ChatWindow;

  beforeEach(() => {
    temp = tempFolder();
    window = new ChatWindow(temp.path);
  });
  afterEach(async () => {
    await window.close();
    temp.remove();
  });

  const marks = async () => {
    await window.controller.ready();
    return window.last.marks.map(({ id, fork, beyond }) => ({ id, fork, beyond }));
  };

  it('tells of what followed, until another message begins a branch beside it', async () => {
    await window.ask('One');
    const { conversation } = window.controller.active.chat!;
    const first = conversation.entries[0]!.uuid;
    await conversation.branching.goTo(null);
    deepStrictEqual([await window.texts(), await marks()], [[], [{ id: noRow, fork: null, beyond: [first] }]]);
    await window.ask('Another');
    const other = conversation.entries[0]!.uuid;
    deepStrictEqual(await marks(), [{ id: other, fork: { at: 1, branches: [first, other] }, beyond: [] }]);
  });
});
