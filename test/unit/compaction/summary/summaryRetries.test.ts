import assert from 'node:assert/strict';
import type { ModelBinding } from '../../../../src/core/context/engine';
import { isEntryOf, type EntryOf } from '../../../../src/core/session/entry';
import { ConversationRig } from '../../../support/chat/conversationRig';
import { calls, says } from '../../../support/chat/scriptedModel';

let rig: ConversationRig;

async function fill(turns: number, tokens: number, name = 'question'): Promise<void> {
  for (let i = 0; i < turns; i++) {
    rig.model.scripts.push(says(`answer ${i} ${rig.words(tokens / 2)}`));
    await rig.conversation.send(`${name} ${i} ${rig.words(tokens / 2)}`);
  }
}

function records(): EntryOf<'compaction'>[] {
  return rig.events.flatMap((event) => (event.type === 'entry_appended' && isEntryOf(event.entry, 'compaction') ? [event.entry] : []));
}

async function firstQuestion(): Promise<string> {
  const { entries } = await rig.store.page(rig.session, { limit: 100 });
  return entries.find(({ content }) => content.type === 'message' && content.text.startsWith('question 0'))!.uuid;
}

async function standIn(): Promise<EntryOf<'compaction'>> {
  rig.summarizer.fail = 'overloaded';
  await fill(6, 800);
  const { entry } = await rig.conversation.compact();
  assert.equal(entry?.content.rung, 'extractive');
  return entry;
}

const sent = () => JSON.stringify(rig.model.requests.at(-1)!.messages);
const retried = () => rig.logged.filter(({ event }) => event === 'summary_retry');

describe('better summaries', () => {
  beforeEach(async () => (rig = await ConversationRig.create()));
  afterEach(() => rig.dispose());

  it('are durable as soon as they are there, and not paid for twice', async () => {
    const target = await standIn();
    rig.summarizer.fail = null;
    await rig.until(() => rig.clock.timers > 0);
    rig.clock.pass(60_000);
    await rig.until(() => records().length === 2);
    const asked = rig.summarizer.prompts.length;
    await rig.reopen();
    assert.equal(rig.conversation.entries.findLast((entry) => isEntryOf(entry, 'compaction'))?.content.supersedes, target.uuid);
    assert.deepEqual(await rig.store.summaryRetries(rig.session), []);
    await fill(1, 100, 'later');
    assert.match(sent(), /the plan is set/);
    assert.equal(rig.summarizer.prompts.length, asked);
  });

  it('wait for the turn that runs, and are what its next request sends', async () => {
    await standIn();
    rig.summarizer.fail = null;
    await rig.until(() => rig.clock.timers > 0);
    const gate = rig.gate();
    rig.model.scripts.push([{ hold: gate.opened }, ...calls('echo', { text: 'x' }, 'c1')], says('done'));
    const sending = rig.conversation.send('call something');
    await rig.until(() => rig.model.requests.length === 7);
    rig.clock.pass(60_000);
    await rig.until(() => retried().length === 1);
    assert.equal(records().length, 1, 'nothing breaks into what is being answered');
    gate.open();
    assert.equal((await sending).ok, true);
    assert.equal(records().length, 2);
    assert.match(sent(), /the plan is set/);
  });

  it('wait at most five minutes between two attempts, or as long as the policy says', async () => {
    rig.overrides = { 'summarizer.retryIntervalSeconds': 200 };
    await standIn();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      await rig.until(() => rig.clock.timers > 0);
      const [queued] = await rig.store.summaryRetries(rig.session);
      waits.push(queued!.nextAt - rig.clock.now());
      rig.clock.pass(waits.at(-1)!);
      await rig.until(async () => (await rig.store.summaryRetries(rig.session))[0]?.attempts === attempt + 1);
    }
    assert.deepEqual(waits, [200_000, 300_000, 300_000, 300_000]);
  });

  it('are still wanted where another branch was on show when their time came', async () => {
    const target = await standIn();
    rig.summarizer.fail = null;
    await rig.until(() => rig.clock.timers > 0);
    rig.model.scripts.push(says('other'));
    await rig.conversation.branching.edit(await firstQuestion(), 'other', 'id-1');
    rig.clock.pass(60_000);
    await rig.conversation.idle();
    assert.equal(await rig.conversation.branching.switchTo(target.uuid), null);
    assert.equal((await rig.store.summaryRetries(rig.session)).length, 1);
    await fill(1, 100, 'later');
    rig.clock.pass(300_000);
    await rig.until(() => records().some(({ content }) => content.supersedes === target.uuid));
  });

  it('are made of no other branch that came on show before they were begun', async () => {
    await rig.dispose();
    let asked = 0;
    let hold: Promise<void> = Promise.resolve();
    const unbound = { provider: 'scripted', id: 'scripted-1', name: 's', window: 10_000, maxOutput: 1_000, source: 'provider' } as const;
    const scene: { rig?: ConversationRig } = {};
    scene.rig = await ConversationRig.create({
      binding: async (): Promise<ModelBinding> => ({
        client: scene.rig?.model ?? ({ provider: 'scripted', generates: true, stream: async function* () {} } as never),
        info: scene.rig ? await scene.rig.model.describe('scripted-1') : unbound,
        summarizer: scene.rig?.summarizer ?? null,
        chain: async () => {
          asked++;
          await hold;
          return scene.rig ? [scene.rig.summarizer] : [];
        },
      }),
    });
    ({ rig } = scene as { rig: ConversationRig });
    const target = await standIn();
    rig.model.scripts.push(says('heron one'));
    await rig.conversation.branching.edit(await firstQuestion(), 'HERON', 'id-1');
    await fill(2, 100, 'HERON');
    const there = rig.conversation.branching.leaf!;
    assert.equal(await rig.conversation.branching.switchTo(target.uuid), null);
    rig.summarizer.fail = null;
    await fill(1, 100, 'back');
    await rig.until(() => rig.clock.timers > 0);
    const [gate, before, prompts] = [rig.gate(), asked, rig.summarizer.prompts.length];
    hold = gate.opened;
    rig.clock.pass(60_000);
    await rig.until(() => asked > before);
    assert.equal(await rig.conversation.branching.switchTo(there), null);
    gate.open();
    await rig.until(() => retried().length > 0);
    assert.equal(await rig.conversation.branching.switchTo(target.uuid), null);
    assert.doesNotMatch(rig.summarizer.prompts.slice(prompts).join(), /HERON/);
    assert.equal((await rig.store.summaryRetries(rig.session)).length, 1);
  });
});
