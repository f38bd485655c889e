import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import type { ConversationEvent } from '../../../../src/core/chat/events';
import { isEntryOf } from '../../../../src/core/session/entry';
import { ToolFault, type ApprovalQuestion, type Tool } from '../../../../src/core/tools/tool';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { calls, says } from '../../../support/chat/scriptedModel';

const write: ApprovalQuestion = {
  kind: 'write',
  title: 'Edit a.txt',
  detail: null,
  everyTime: false,
  change: { path: 'a.txt', before: 'a', after: 'b' },
};

describe('asking before a tool runs', () => {
  let rig: ConversationRig;
  let ran: string[];
  let running: number;
  let most: number;

  const tool = (name: string, over: Partial<Tool> = {}): Tool => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    access: 'write',
    needsApproval: async () => write,
    run: async (input) => {
      ran.push(`${name} ${(input as { n?: number }).n ?? ''}`.trim());
      return { text: `${name} done`, status: 'ok' };
    },
    ...over,
  });

  beforeEach(async () => {
    ran = [];
    running = 0;
    most = 0;
    rig = await ConversationRig.create({ window: 100_000 });
    const slow = async (input: unknown) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return { text: `looked ${(input as { n: number }).n}`, status: 'ok' as const };
    };
    rig.moreTools = [
      tool('edit'),
      tool('other'),
      tool('shell', {
        needsApproval: async (input) => ({
          ...write,
          kind: 'command',
          title: `Run a command in ${(input as { folder?: string }).folder ?? 'the workspace'}`,
          change: null,
          permission: (input as { command?: string }).command ?? 'ls',
        }),
      }),
      tool('secret', { access: 'read', needsApproval: async () => ({ ...write, kind: 'read', everyTime: true, change: null }) }),
      tool('look', { access: 'read', needsApproval: async () => null, run: slow }),
      tool('unasked', { needsApproval: async () => null }),
      tool('forgetful', { needsApproval: undefined as never }),
      tool('impossible', { needsApproval: () => Promise.reject(new ToolFault('There is no such file.')) }),
      tool('crash', { needsApproval: async () => null, run: () => Promise.reject(new Error('boom')) }),
      tool('deaf', { needsApproval: async () => null, timeoutMs: 5_000, run: () => new Promise(() => undefined) }),
      tool('chatty', {
        access: 'read',
        needsApproval: async () => null,
        run: async (_input, _signal, run) => {
          run?.onOutput('one ');
          run?.onOutput('two');
          return { text: rig.words(2_000), status: 'ok', shownTokens: 200 };
        },
      }),
    ];
    rig.approvalRule = () => 'ask';
    await rig.reopen();
  });
  afterEach(() => rig.dispose());

  const asked = () =>
    rig.events.filter((event): event is ConversationEvent & { type: 'approval_requested' } => event.type === 'approval_requested');
  const results = () =>
    rig.conversation.entries.flatMap((entry) =>
      isEntryOf(entry, 'tool_result') ? [`${entry.content.name}: ${entry.content.status}`] : [],
    );
  const begin = async (name: string, pending = 1) => {
    rig.model.scripts.push(calls(name, {}, `c-${asked().length}-${name}`), says('Done.'));
    const turn = rig.conversation.send('Please');
    await rig.until(() => rig.conversation.approvals.pending.length === pending);
    return { turn, call: rig.conversation.approvals.pending.at(-1)!.call };
  };

  it('waits until the user allows it, and shows what would change', async () => {
    const { turn, call } = await begin('edit');
    deepStrictEqual(ran, []);
    deepStrictEqual(
      asked().map(({ question, tool: name }) => [name, question]),
      [['edit', write]],
    );
    ok(rig.conversation.approvals.answer(call, 'allow'));
    ok((await turn).ok);
    deepStrictEqual([ran, results()], [['edit'], ['edit: ok']]);
    strictEqual(rig.conversation.approvals.answer(call, 'allow'), false, 'answered once');
    const again = await begin('edit');
    rig.conversation.approvals.answer(again.call, 'deny');
    ok((await again.turn).ok);
    deepStrictEqual([ran, results()], [['edit'], ['edit: ok', 'edit: denied']], 'one answer is for one call');
  });

  it('does not ask again about a tool that is allowed for the session, but about others and whatever is asked about every time', async () => {
    const first = await begin('edit');
    rig.conversation.approvals.answer(first.call, 'session');
    await first.turn;
    rig.model.scripts.push(calls('edit', {}, 'again'), says('Done.'));
    ok((await rig.conversation.send('Once more')).ok);
    deepStrictEqual([asked().length, ran], [1, ['edit', 'edit']]);
    const other = await begin('other');
    rig.conversation.approvals.answer(other.call, 'deny');
    await other.turn;
    for (let i = 0; i < 2; i++) {
      const secret = await begin('secret');
      rig.conversation.approvals.answer(secret.call, 'session');
      await secret.turn;
    }
    strictEqual(asked().length, 4);
    await rig.reopen();
    const later = await begin('edit');
    rig.conversation.approvals.answer(later.call, 'deny');
    await later.turn;
  });

  it('allows one command for the session, and no other, nor the same elsewhere', async () => {
    const first = await begin('shell');
    rig.conversation.approvals.answer(first.call, 'session');
    await first.turn;
    rig.model.scripts.push(calls('shell', { command: 'ls' }, 's2'), says('Done.'));
    ok((await rig.conversation.send('Again')).ok);
    strictEqual(asked().length, 1);
    for (const [i, other] of [{ command: 'ls -la' }, { command: 'ls', folder: 'other' }].entries()) {
      rig.model.scripts.push(calls('shell', other, `other ${i}`), says('Done.'));
      const turn = rig.conversation.send('Another');
      await rig.until(() => rig.conversation.approvals.pending.length === 1);
      rig.conversation.approvals.answer(rig.conversation.approvals.pending[0]!.call, 'deny');
      await turn;
    }
    deepStrictEqual(results(), ['shell: ok', 'shell: ok', 'shell: denied', 'shell: denied']);
  });

  it('tells the model why the user says no', async () => {
    const { turn, call } = await begin('edit');
    rig.conversation.approvals.answer(call, { deny: ' Use the helper in src/table.ts. ' });
    ok((await turn).ok);
    const texts = rig.conversation.entries.flatMap((entry) => (isEntryOf(entry, 'tool_result') ? [entry.content.text] : []));
    deepStrictEqual(texts, ['The user did not allow this call, and says: Use the helper in src/table.ts.']);
  });

  it('lets through what waits when a rule that covers it is added', async () => {
    const { turn } = await begin('edit');
    rig.approvalRule = () => 'allow';
    rig.conversation.approvals.rulesChanged();
    ok((await turn).ok);
    deepStrictEqual(results(), ['edit: ok']);
  });

  it('takes one permission for the session where the rule says so', async () => {
    rig.approvalRule = () => 'ask_once';
    const { turn, call } = await begin('edit');
    rig.conversation.approvals.answer(call, 'allow');
    await turn;
    rig.model.scripts.push(calls('edit', {}, 'again'), says('Done.'));
    ok((await rig.conversation.send('Once more')).ok);
    strictEqual(asked().length, 1);
  });

  it('counts Stop as no, and the next turn is valid', async () => {
    const { turn } = await begin('edit');
    await rig.conversation.stop();
    const outcome = await turn;
    deepStrictEqual(
      { ok: outcome.ok, reason: outcome.error?.reason, results: results(), ran },
      { ok: false, reason: 'cancelled', results: ['edit: denied'], ran: [] },
    );
    rig.model.scripts.shift();
    rig.model.scripts.push(says('Still here.'));
    ok((await rig.conversation.send('And now?')).ok);
  });

  it('ends with the process as an unanswered call, which the next request answers', async () => {
    await begin('edit');
    await rig.reopen();
    strictEqual(rig.conversation.approvals.pending.length, 0);
    rig.model.scripts.splice(0, 2, says('Back.'));
    ok((await rig.conversation.send('Go on')).ok);
    const blocks = rig.model.requests.at(-1)!.messages.flatMap((message) => message.blocks);
    deepStrictEqual(
      blocks.flatMap((block) => (block.type === 'tool_result' ? [block.isError] : [])),
      [true],
    );
    deepStrictEqual(ran, []);
  });

  it('asks about writing also where a tool does not say what it would do, and nobody about what cannot be done', async () => {
    const { turn, call } = await begin('forgetful');
    deepStrictEqual(asked()[0]!.question, { kind: 'tool', title: 'Run forgetful', detail: '{}', everyTime: false, change: null });
    rig.conversation.approvals.answer(call, 'deny');
    await turn;
    rig.model.scripts.push(calls('impossible', {}, 'i1'), says('I see.'));
    ok((await rig.conversation.send('Try')).ok);
    deepStrictEqual([asked().length, results().at(-1)], [1, 'impossible: error']);
  });

  it('does what a rule says without asking', async () => {
    rig.approvalRule = () => ({ deny: 'Not in this workspace.' });
    rig.model.scripts.push(calls('edit', {}, 'd1'), says('Understood.'));
    ok((await rig.conversation.send('Please')).ok);
    deepStrictEqual({ ran, results: results(), askedCount: asked().length }, { ran: [], results: ['edit: denied'], askedCount: 0 });
  });

  it('runs reads together and writes alone, in their order', async () => {
    const uses = ['look', 'look', 'unasked', 'look', 'unasked'].map((name, n) => ({
      type: 'block' as const,
      index: n,
      block: { type: 'tool_use' as const, callId: `p${n}`, name, input: { n } },
    }));
    rig.model.scripts.push([...uses, { type: 'stopped', reason: 'tool_use' }], says('Done.'));
    ok((await rig.conversation.send('Look around')).ok);
    deepStrictEqual([most, ran], [2, ['unasked 2', 'unasked 4']]);
    const blocks = rig.model.requests.at(-1)!.messages.flatMap((message) => message.blocks);
    deepStrictEqual(blocks.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])).sort(), ['p0', 'p1', 'p2', 'p3', 'p4']);
  });

  it('makes a result of a crash, of a tool that does not end, and of an unknown one', async () => {
    rig.model.scripts.push(calls('crash', {}, 'x1'), calls('deaf', {}, 'x2'), calls('nothing', {}, 'x3'), says('I see.'));
    const turn = rig.conversation.send('Try them');
    await rig.until(() => rig.clock.timers > 0 && results().length === 1);
    rig.clock.pass(5_000);
    await rig.until(() => rig.clock.timers === 1);
    rig.clock.pass(2_000);
    ok((await turn).ok);
    deepStrictEqual(results(), ['crash: error', 'deaf: error', 'nothing: error']);
  });

  it('shows output as it comes; a long result is stored whole and sent as beginning and end', async () => {
    rig.model.scripts.push(calls('chatty', {}, 'o1'), says('I see.'));
    ok((await rig.conversation.send('Talk')).ok);
    deepStrictEqual(
      rig.events.flatMap((event) => (event.type === 'tool_output' ? [event.text] : [])),
      ['one ', 'two'],
    );
    const stored = rig.conversation.entries.find((entry) => isEntryOf(entry, 'tool_result'))!;
    const sent = rig.model.requests
      .at(-1)!
      .messages.flatMap((message) => message.blocks)
      .find((block) => block.type === 'tool_result')!;
    ok(stored.content.type === 'tool_result' && stored.content.text.length >= 7_000, 'whole');
    ok(
      'text' in sent && sent.text.length < 2_000 && sent.text.includes(`recall {"entryIds": ["#${stored.seq}"]}`),
      'head, tail and the way to the rest',
    );
  });

  it('stops at the limit of rounds, and goes on when asked to', async () => {
    rig.maxRounds = 2;
    for (let i = 0; i < 3; i++) rig.model.scripts.push(calls('unasked', { n: i }, `r${i}`));
    rig.model.scripts.push(says('Done.'));
    const outcome = await rig.conversation.send('Go');
    deepStrictEqual([outcome.error?.reason, ran.length], ['rounds', 2]);
    deepStrictEqual([(await rig.conversation.retry()).ok, ran.length], [true, 3]);
  });
});
