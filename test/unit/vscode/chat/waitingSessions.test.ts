import { windowDouble } from '../../../support/vscode/windowDouble';
import { deepStrictEqual, match, ok, rejects } from 'node:assert';
import { DisposableStore } from '../../../../src/core/base/disposable';
import { Emitter } from '../../../../src/core/base/event';
import type { ConversationEvent } from '../../../../src/core/chat/events';
import { resolveSessionPolicy } from '../../../../src/core/context/policy/resolvePolicy';
import type { Tool } from '../../../../src/core/tools/tool';
import { foldedByTurn } from '../../../../src/vscode/chat/sessionTab';
import { waitingText, waitingView, type WaitingSession } from '../../../../src/vscode/chat/waitingSession';
import { calls, says } from '../../../support/chat/scriptedModel';
import { useChatWindow } from '../../../support/vscode/useChatWindow';
import { waitFor } from '../../../support/waitFor';

describe('sessions that wait for their user', () => {
  const window = useChatWindow();

  const waits = () => window().controller.state.waiting.map(({ session, ...rest }) => ({ title: session.title, ...rest }));
  /** Of every change that is told. */
  const told = () => {
    const all: number[] = [];
    window().controller.onDidChangeState(({ waiting }) => all.at(-1) !== waiting.length && all.push(waiting.length));
    return all;
  };

  const edit: Tool = {
    name: 'edit',
    description: 'edits',
    inputSchema: { type: 'object' },
    access: 'write',
    needsApproval: async () => ({ kind: 'write', title: 'Edit a.txt', detail: null, everyTime: false, change: null }),
    run: async () => ({ text: 'done', status: 'ok' }),
  };

  /** Of the session on show. */
  const approvals = () => window().controller.active.chat!.conversation.approvals;

  it('are known after they were left, and until they are answered', async () => {
    window().parts = { tools: () => [edit], approvalRule: () => 'ask' };
    const numbers = told();
    window().model.scripts.push(calls('edit', {}, 'c1'));
    await window().controller.active.send('a', 'Edit it');
    const { uuid } = window().controller.active.session!;
    await window().controller.active.newSession();
    deepStrictEqual(await waitFor('the questions', () => waits().length > 0 && waits()), [
      { title: 'Edit it', for: 'permission', questions: 1 },
    ]);
    await window().ask('Something else');
    deepStrictEqual([approvals().pending.length, waits().length], [0, 1]);
    await window().controller.active.openSession(uuid);
    window().model.scripts.push(says('Edited.'));
    for (const { call } of approvals().pending) ok(approvals().answer(call, 'allow'));
    await window().idle();
    deepStrictEqual([waits(), await window().texts()], [[], ['Edit it', 'tool', 'Edited.']]);
    deepStrictEqual(numbers, [0, 1, 0]);
  });

  it('are answered by the list and the reason that were open when their user looked at another one', async () => {
    window().parts = { tools: () => [edit], approvalRule: () => 'ask' };
    const { active } = window().controller;
    const { ApprovalCommands } = await import('../../../../src/vscode/tools/approvalCommands');
    const commands = new ApprovalCommands({ active, openWaiting: async () => undefined, showChange: async () => undefined });
    const answers = [
      () => commands.answerPending(),
      () => commands.answer(approvals().pending[0]!.call, approvals().pending[0]!.question.title, 'reason'),
    ];
    for (const [at, answer] of answers.entries()) {
      window().model.scripts.push(calls('edit', {}, `c${at}`));
      await active.newSession();
      await active.send(`m${at}`, 'Edit it');
      const { uuid } = active.session!;
      await waitFor('the question', () => approvals().pending.length > 0);
      const look = async () => {
        await active.newSession();
        window().model.scripts.push(says('Another way then.'));
      };
      windowDouble.window = {
        showQuickPick: async (items: readonly { readonly choice: string }[]) => (
          await look(), items.find(({ choice }) => choice === 'deny')
        ),
        showInputBox: async () => (await look(), 'Use the helper'),
      };
      await answer();
      await waitFor('the turn to end', () => window().controller.tabs.answering.length === 0);
      await active.openSession(uuid);
      const results = active.chat!.conversation.entries.flatMap(({ content }) => (content.type === 'tool_result' ? content.text : []));
      match(results.join(), at === 0 ? /did not allow this call\. Do not/ : /and says: Use the helper/);
    }
  });

  it('are not answered by what was meant for an earlier question of the same call', async () => {
    window().parts = { approvalRule: () => 'ask' };
    await window().ask('Hi');
    const { active } = window().controller;
    const { ApprovalCommands } = await import('../../../../src/vscode/tools/approvalCommands');
    const commands = new ApprovalCommands({ active, openWaiting: async () => undefined, showChange: async () => undefined });
    const asked = (title: string) =>
      approvals().ask(
        { call: 'aside', tool: 'read_file', question: { kind: 'read', title, detail: null, everyTime: true, change: null } },
        new AbortController().signal,
      );
    const first = asked('Read .env');
    let second: ReturnType<typeof asked> | undefined;
    windowDouble.window = {
      // The view is quicker, and the call asks for the next file.
      showQuickPick: async (items: readonly { readonly choice: string }[]) => {
        await commands.answer('aside', 'Read .env', 'allow');
        await first;
        second = asked('Read .env.local');
        return items.find(({ choice }) => choice === 'allow');
      },
    };
    await rejects(commands.answerPending(), /does not wait for an answer any more/);
    await rejects(commands.answer('aside', 'Read .env', 'allow'), /does not wait for an answer any more/);
    deepStrictEqual(
      approvals().pending.map(({ question }) => question.title),
      ['Read .env.local'],
    );
    await commands.answer('aside', 'Read .env.local', 'deny');
    deepStrictEqual([(await first).allowed, (await second)?.allowed], [true, false]);
  });

  describe('for a decision about a full context', () => {
    beforeEach(async () => {
      window().parts = {
        policy: (session) =>
          resolveSessionPolicy(
            {
              preset: 'balanced',
              overrides: {
                'compaction.whenFull': 'ask',
                'compaction.prepareAtPercent': 0,
                'memoryFlush.enabled': false,
                'checkpoint.enabled': false,
              },
            },
            session.policy,
          ).policy,
      };
      for (let i = 0; i < 3; i++) await window().ask(`Question ${i} ${'word '.repeat(900)}`, `Answer ${i} ${'word '.repeat(900)}`);
      window().model.scripts.push(says('On it goes.'));
      await window().controller.active.send('last', `Last ${'word '.repeat(900)}`);
      await waitFor('the question', () => waits().length === 1);
    });

    it('fold when a compaction is asked for, instead of letting it wait behind them', async () => {
      const { entry, message } = await window().controller.compact('Keep the numbers');
      deepStrictEqual([entry?.content.instructions, message], ['Keep the numbers', null]);
      await window().idle();
      deepStrictEqual([waits(), (await window().texts()).at(-1)], [[], 'On it goes.']);
    });

    it('are told of when they are left, and when they are answered from elsewhere', async () => {
      const { uuid } = window().controller.active.session!;
      const numbers = told();
      await window().controller.active.newSession();
      deepStrictEqual(waits(), [{ title: window().controller.state.waiting[0]!.session.title, for: 'decision', questions: 1 }]);
      ok(window().fullQuestions.answer(uuid, 'continue'));
      await waitFor('the turn to end', () => window().controller.tabs.answering.length === 0);
      deepStrictEqual([waits(), numbers], [[], [1, 0]]);
    });

    it('say what came of the compaction: why it was not made, or nothing when the turn ended without it', async () => {
      const none = { type: 'compaction_ended', entry: null, message: null } as const;
      for (const [event, result] of [
        [
          { ...none, message: 'Nothing to fold.' },
          { entry: null, message: 'Nothing to fold.' },
        ],
        [
          { type: 'turn_ended', id: 't', ok: true, text: '', error: null },
          { entry: null, message: null },
        ],
      ] as const) {
        const events = new Emitter<ConversationEvent>();
        const chat = new DisposableStore();
        let disposed = 0;
        const folded = foldedByTurn((listener) => {
          const subscription = events.event(listener);
          return { dispose: () => (disposed++, subscription.dispose()) };
        }, chat);
        for (const one of [none, event, { ...none, message: 'too late' }]) events.fire(one);
        deepStrictEqual(await folded, result);
        chat.dispose();
        deepStrictEqual(disposed, 1, 'the chat does not keep what is settled');
      }
    });

    it('do not let the compaction wait for a chat that is closed', async () => {
      const chat = new DisposableStore();
      const folded = foldedByTurn(new Emitter<ConversationEvent>().event, chat);
      chat.dispose();
      deepStrictEqual(await folded, { entry: null, message: null });
    });
  });

  it('stand in the status bar in the place of the meter, with a way to each', () => {
    const one: WaitingSession = { session: { uuid: 'u-1', title: 'Tide [tables]' }, for: 'permission', questions: 2 };
    const other: WaitingSession = { session: { uuid: 'u-2', title: '' }, for: 'decision', questions: 1 };
    deepStrictEqual(waitingView([]), null);
    deepStrictEqual(waitingView([one]), {
      text: '$(bell-dot) Permission needed',
      tooltip:
        '**"Tide \\[tables\\]" waits for your permission**\n\n[Open "Tide \\[tables\\]"](command:threadkeeper.openSession?%5B%22u-1%22%5D)',
      severity: 'warning',
      label: 'Threadkeeper: "Tide [tables]" waits for your permission',
      open: 'u-1',
    });
    const both = waitingView([other, one]);
    match(both?.tooltip ?? '', /Open "Untitled".*u-2.*\n\n.*u-1/);
    deepStrictEqual(
      { text: both?.text, open: both?.open, waitingText: waitingText([other]) },
      { text: '$(bell-dot) 2 sessions wait for you', open: 'u-2', waitingText: '"Untitled" waits for your decision: its context is full' },
    );
  });
});
