import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { isEntryOf } from '../../../src/core/session/entry';
import type { ApprovalQuestion, Tool } from '../../../src/core/tools/tool';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, says } from '../../support/chat/scriptedModel';

describe('tools that are chosen', () => {
  let rig: ConversationRig;
  const other = (name: string, description: string): Tool => ({
    name,
    description,
    inputSchema: { type: 'object' },
    access: 'write',
    needsApproval: async (): Promise<ApprovalQuestion> => ({
      kind: 'tool',
      title: `Use ${name}`,
      detail: null,
      everyTime: false,
      change: null,
    }),
    run: async (input) => ({ text: `${name} got ${JSON.stringify(input)}`, status: 'ok' }),
  });
  const told = () => rig.model.requests.at(-1)!.tools.map(({ name }) => name);
  const changes = () => rig.conversation.entries.flatMap((entry) => (isEntryOf(entry, 'tools_change') ? [entry.content.enabled] : []));
  const ask = async (text: string) => {
    rig.model.scripts.push(says('Done.'));
    ok((await rig.conversation.send(text)).ok);
  };

  beforeEach(async () => {
    rig = await ConversationRig.create({ window: 50_000 });
    rig.otherTools = [
      other('weather', 'Tells the weather of a place'),
      other('echo', 'another of the same name'),
      other('tickets', 'Finds tickets of the project'),
    ];
  });
  afterEach(() => rig.dispose());

  it('are the usual ones without a choice, and nothing is recorded', async () => {
    await ask('Hello');
    deepStrictEqual([told(), changes()], [['write_file', 'dump', 'echo'], []]);
    deepStrictEqual(
      rig.conversation.toolBox.list().map(({ name, isOwn, isOn }) => [name, isOwn, isOn]),
      [
        ['write_file', true, true],
        ['dump', true, true],
        ['echo', true, true],
        ['weather', false, false],
        ['tickets', false, false],
      ],
    );
    ok(rig.conversation.toolBox.list().every(({ tokens }) => tokens > 8));
  });

  it('leave the prompt when they are off, by a declared break, and stay off', async () => {
    await ask('Hello');
    await rig.conversation.toolBox.choose(['echo', 'weather']);
    await ask('And now?');
    deepStrictEqual([told(), changes()], [['echo', 'weather'], [['echo', 'weather']]]);
    await ask('Again');
    strictEqual(changes().length, 1);
    rig.model.scripts.push(calls('write_file', {}, 'off1'), says('I see.'));
    ok((await rig.conversation.send('Write')).ok);
    match(JSON.stringify(rig.model.requests.at(-1)!.messages), /There is no tool called \\"write_file\\"/);
    await rig.reopen();
    strictEqual(rig.conversation.snapshot.segments.find(({ kind }) => kind === 'tools')!.tokens > 0, true);
    await ask('After a restart');
    deepStrictEqual([told(), changes().length], [['echo', 'weather'], 1]);
    await rig.conversation.toolBox.choose(null);
    await ask('As usual');
    deepStrictEqual([told(), changes().length], [['write_file', 'dump', 'echo'], 2]);
  });

  it('are offered on demand where they would take too much of the window', async () => {
    rig.otherTools = [...rig.otherTools, ...Array.from({ length: 40 }, (_, i) => other(`tool_${i}`, rig.words(200)))];
    await rig.conversation.toolBox.choose(['echo', ...rig.otherTools.map(({ name }) => name)]);
    const questions: ApprovalQuestion[] = [];
    rig.approvalRule = (question) => (questions.push(question), 'allow');
    rig.model.scripts.push(
      calls('find_tools', { query: 'the weather' }, 'f1'),
      calls('use_tool', { name: 'weather', input: { place: 'Oslo' } }, 'f2'),
      calls('use_tool', { name: 'nothing' }, 'f3'),
      says('Rain.'),
    );
    ok((await rig.conversation.send('How is the weather?')).ok);
    deepStrictEqual(told(), ['echo', 'find_tools', 'use_tool']);
    const results = rig.conversation.entries.flatMap((entry) =>
      isEntryOf(entry, 'tool_result') ? [`${entry.content.status}: ${entry.content.text}`] : [],
    );
    match(results[0]!, /^ok: \{"name":"weather","description":"Tells the weather of a place"/);
    strictEqual(results[1], 'ok: weather got {"place":"Oslo"}');
    match(results[2]!, /^error: There is no tool called "nothing"/);
    deepStrictEqual(
      questions.map(({ title, everyTime }) => [title, everyTime]),
      [['Use weather', true]],
    );
  });
});
