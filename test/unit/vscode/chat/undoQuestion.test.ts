import { deepStrictEqual, ok } from 'node:assert';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { tempFolder } from '../../../support/store/storeTemp';

describe('the question before an undo that would not fit', () => {
  it('is not about a compaction that was made while it stood there', async () => {
    const temp = tempFolder();
    const window = new ChatWindow(temp.path);
    const { controller } = window;
    const talk = async (turns: number) => {
      for (let i = 0; i < turns; i++) await window.ask(`Question ${i} ${'word '.repeat(1_000)}`, `Answer ${i} ${'word '.repeat(1_000)}`);
    };
    try {
      await talk(3);
      ok((await controller.compact()).entry);
      await talk(2);
      const asked: string[] = [];
      const result = await controller.undoCompaction(async (question) => {
        asked.push(question);
        ok((await controller.compact()).entry);
        return true;
      });
      deepStrictEqual([result, asked.length], [{ message: 'This compaction is not the last one any more.' }, 1]);
      deepStrictEqual(controller.state.canUndo, true);
    } finally {
      await window.close();
      temp.remove();
    }
  });
});
