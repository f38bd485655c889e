import { windowDouble } from '../../../support/vscode/windowDouble';
import { deepStrictEqual } from 'node:assert';
import type { ContextCommandsDeps } from '../../../../src/vscode/context/contextCommands';

describe('Cancel of a compaction whose session is not on show any more', () => {
  it('cancels that one, and nothing in the session that took its place', async () => {
    const { ContextCommands } = await import('../../../../src/vscode/context/contextCommands');
    const cancelled: string[] = [];
    const chat = (name: string) => {
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const came = { content: null, message: 'Cancelled.', entry: null };
      const conversation = {
        editableSummary: 'the state',
        whole: async () => undefined,
        cancelCompaction: () => (cancelled.push(name), end()),
        previewCompaction: () => ended.then(() => came),
        resummarize: () => ended.then(() => came),
      };
      return { conversation, end };
    };
    for (const command of ['previewCompaction', 'resummarize'] as const) {
      const [first, second] = [chat(`first: ${command}`), chat('second')];
      const active = { chat: first, session: { uuid: 's' }, conversation: async () => active.chat.conversation };
      windowDouble.window = {
        showInputBox: async () => '',
        withProgress: async (_: unknown, work: (progress: unknown, token: unknown) => Promise<unknown>) => {
          let cancel: () => void = () => undefined;
          const token = { onCancellationRequested: (listener: () => void) => ((cancel = listener), { dispose: () => undefined }) };
          const working = work({}, token);
          active.chat = second;
          cancel();
          first.end();
          return working;
        },
      };
      const deps = { controller: { active, feed: { visible: true } }, fullQuestions: { pending: () => undefined }, tell: () => undefined };
      await new ContextCommands(deps as unknown as ContextCommandsDeps).all[command]();
    }
    deepStrictEqual(cancelled, ['first: previewCompaction', 'first: resummarize']);
  });
});
