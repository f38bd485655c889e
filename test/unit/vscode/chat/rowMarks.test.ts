import { deepStrictEqual } from 'node:assert';
import { noRow } from '../../../../src/protocol/messages';
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
