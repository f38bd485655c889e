import assert from 'node:assert/strict';
import { sideSystem } from '../../../src/core/aside/sideQuestion';
import { isEntryOf } from '../../../src/core/session/entry';
import type { Tool } from '../../../src/core/tools/tool';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, fails, says } from '../../support/chat/scriptedModel';

describe('a side question', () => {
  let rig: ConversationRig;
  const tool = (name: string, over: Partial<Tool> = {}): Tool => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    access: 'read',
    needsApproval: async () => null,
    run: async () => ({ text: `secret-${name} ${rig.words(400)}`, status: 'ok' }),
    ...over,
  });

  const start = async (window = 100_000) => {
    rig = await ConversationRig.create({ window, costOf: (_provider, _model, { input, output }) => (input + output) / 1_000_000 });
    rig.moreTools = [
      tool('look'),
      tool('edit', { access: 'write' }),
      tool('guarded', { needsApproval: async () => ({ kind: 'read', title: 'Read .env', detail: null, everyTime: true, change: null }) }),
    ];
    rig.sideQuestions = true;
    await rig.reopen();
  };
  afterEach(() => rig.dispose());

  const asks = (question: string, callId = 'q1') => calls('ask_aside', { question }, callId);
  const usage = { input: 500, output: 50, cacheRead: 0, cacheWrite: 0 };
  const page = async () => (await rig.store.page(rig.session, { limit: 100 })).entries;
  const marks = async () => (await page()).flatMap((entry) => (isEntryOf(entry, 'side_question') ? [entry] : []));
  const results = () =>
    rig.conversation.entries.flatMap(({ content }) => (content.type === 'tool_result' ? [`${content.status}: ${content.text}`] : []));

  it('is answered in a context of its own, with tools that read, and only its answer comes back', async () => {
    await start();
    rig.model.scripts.push(says('Hello.'));
    await rig.conversation.send('Remember the word zebra');
    rig.model.scripts.push(asks('Where is the port set?'), calls('look', {}, 's1'), says('In a.ts:3.', usage), says('It is in a.ts:3.'));
    assert.ok((await rig.conversation.send('Where?')).ok);
    const [, , first, second, last] = rig.model.requests;
    assert.deepEqual(
      [first!.system, first!.messages.map(({ blocks }) => blocks), first!.tools.map(({ name }) => name)],
      [sideSystem, [[{ type: 'text', text: 'Where is the port set?' }]], ['write_file', 'dump', 'echo', 'look', 'guarded']],
    );
    assert.ok(JSON.stringify(second!.messages).includes('secret-look'));
    assert.ok(!JSON.stringify(second!.messages).includes('zebra'));
    assert.deepEqual(results(), ['ok: In a.ts:3.']);
    assert.ok(!JSON.stringify(last!.messages).includes('secret-look'), 'what was read is in no prompt of the conversation');
    const [mark] = await marks();
    const { text, read, cost, input, output, ...facts } = mark!.content;
    assert.deepEqual(facts, {
      type: 'side_question',
      question: 'Where is the port set?',
      outcome: 'answered',
      provider: 'scripted',
      model: 'scripted-1',
      requests: 2,
      calls: 1,
    });
    assert.ok(read >= 400 && cost !== null && input >= 500 && output >= 50);
    assert.match(text, /^> Where is the port set\?\n\n\*\*look\*\*[\s\S]*secret-look[\s\S]*In a\.ts:3\.$/);
    assert.equal((await page()).find(({ uuid }) => uuid === mark!.parent)?.content.type, 'tool_call');
  });

  it('is paid for in the ledger, and measures nothing of the conversation', async () => {
    await start();
    rig.model.scripts.push(asks('Where?'), calls('look', {}, 's1'), says('There.', usage), says('There.', usage));
    await rig.conversation.send('Where?');
    const records = await rig.store.usageRecords(rig.session);
    const aside = records.filter(({ kind }) => kind === 'aside');
    assert.ok(aside.length >= 1 && aside.every(({ cost }) => cost !== null));
    const used = rig.conversation.snapshot.used;
    await rig.reopen();
    assert.equal(rig.conversation.snapshot.used, used);
    assert.ok(used < 2_000, `${used}`);
    const reported = rig.events.flatMap((event) => (event.type === 'usage_reported' ? [event.kind] : []));
    assert.ok(reported.includes('aside'));
  });

  it('sees the images that its tools return, and keeps none of them', async () => {
    await start();
    const bytes = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    rig.moreTools = [tool('look', { run: async () => ({ text: 'pier.png', status: 'ok', images: [{ name: 'pier.png', bytes }] }) })];
    await rig.reopen();
    rig.model.scripts.push(asks('What is on it?'), calls('look', {}, 's1'), says('A pier.'), says('A pier.'));
    await rig.conversation.send('What is on it?');
    const blocks = rig.model.requests[2]!.messages.at(-1)!.blocks;
    assert.deepEqual(blocks, [
      { type: 'tool_result', callId: 's1', text: 'pier.png', isError: false },
      { type: 'image', name: 'pier.png', mime: 'image/png', data: bytes.toString('base64'), callId: 's1' },
    ]);
    assert.ok(!rig.lastSent.includes(bytes.toString('base64')));
  });

  it('is booked by what an image is to a model, not by its bytes, where the provider reports nothing', async () => {
    await start();
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const bytes = Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.alloc(400_000)]);
    rig.moreTools = [tool('look', { run: async () => ({ text: 'pier.png', status: 'ok', images: [{ name: 'pier.png', bytes }] }) })];
    await rig.reopen();
    rig.model.scripts.push(asks('What is on it?'), calls('look', {}, 's1'), says('A pier.'), says('A pier.'));
    await rig.conversation.send('What is on it?');
    assert.ok(JSON.stringify(rig.model.requests[2]!.messages).length > 500_000, 'the image was sent');
    const inputs = (await rig.store.usageRecords(rig.session)).flatMap(({ kind, input }) => (kind === 'aside' ? [input] : []));
    assert.ok(inputs.length === 2 && inputs.every((input) => input > 100 && input < 5_000), `${inputs}`);
  });

  it('ends with the turn that put it, and what it had read is kept', async () => {
    await start();
    let stopped: Promise<unknown> | null = null;
    rig.moreTools = [tool('look', { run: async () => ((stopped = rig.conversation.stop()), { text: 'seen', status: 'ok' }) })];
    await rig.reopen();
    rig.model.scripts.push(asks('Where?'), calls('look', {}, 's1'), says('Never asked.'));
    const outcome = await rig.conversation.send('Where?');
    await stopped;
    assert.equal(outcome.error?.reason, 'cancelled');
    assert.equal(rig.model.requests.length, 2);
    assert.deepEqual(
      (await marks()).map(({ content }) => [content.outcome, content.calls]),
      [['stopped', 1]],
    );
    assert.match(results()[0]!, /^interrupted: /);
  });

  it('is answered with what is known when its room is used up, and not asked for ever', async () => {
    await start(6_000);
    const many = Array.from({ length: 30 }, (_, i) => calls('look', {}, `s${i}`));
    rig.model.scripts.push(asks('Where?'), ...many);
    await rig.conversation.send('Where?');
    const side = rig.model.requests.filter(({ system }) => system === sideSystem);
    assert.ok(side.length < 14, `${side.length}`);
    assert.ok(side.every((request) => rig.size(request) < 5_000));
    assert.ok(JSON.stringify(side.at(-1)!.messages).includes('There is no room left to read more.'));
  });

  it('says that it was not answered, and why', async () => {
    await start();
    rig.model.scripts.push(asks('Where?'), fails('bad_key'), says('I could not.'));
    await rig.conversation.send('Where?');
    assert.deepEqual(results(), ['error: The side question was not answered (bad_key).']);
    assert.deepEqual(
      (await marks()).map(({ content }) => content.outcome),
      ['failed'],
    );
  });

  it('asks the user at the call that put it', async () => {
    await start();
    rig.approvalRule = () => 'ask';
    rig.model.scripts.push(asks('Where?'), calls('guarded', {}, 's1'), says('There.'), says('There.'));
    const turn = rig.conversation.send('Where?');
    await rig.until(() => rig.conversation.approvals.pending.length === 1);
    const [pending] = rig.conversation.approvals.pending;
    assert.equal(pending!.question.title, 'Read .env');
    assert.equal(rig.conversation.entries.find(({ uuid }) => uuid === pending!.call)?.content.type, 'tool_call');
    rig.conversation.approvals.answer(pending!.call, 'allow');
    assert.ok((await turn).ok);
  });

  it('cannot put another one, nor change anything', async () => {
    await start();
    rig.model.scripts.push(asks('Where?'), asks('Inside?', 's1'), calls('edit', {}, 's2'), says('There.'), says('There.'));
    await rig.conversation.send('Where?');
    const [mark] = await marks();
    assert.match(mark!.content.text, /There is no tool called "ask_aside"/);
    assert.match(mark!.content.text, /There is no tool called "edit"/);
  });
});
