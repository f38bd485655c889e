import assert from 'node:assert/strict';
import { CachedTalk, ConversationRig } from '../../support/chat/conversationRig';
import { says } from '../../support/chat/scriptedModel';
import { entryText, isEntryOf } from '../../../src/core/session/entry';

const minute = 60_000;

describe('a pause in which something changes', () => {
  let rig: ConversationRig;
  let talk: CachedTalk;

  const cache = () => rig.conversation.snapshot.cache;
  const triggers = () => rig.conversation.entries.flatMap((entry) => (isEntryOf(entry, 'compaction') ? [entry.content.trigger] : []));
  const lastPrompt = () => JSON.stringify(rig.model.requests.at(-1)!.messages);

  /** In steps, as a machine that is awake sees it. */
  function wait(minutes: number): void {
    for (let passed = 0; passed < minutes * 60; passed += 10) rig.clock.pass(10_000);
  }

  beforeEach(async () => {
    rig = await ConversationRig.create({ window: 100_000 });
    rig.model.cacheRules = { leastTokens: 500 };
    rig.summarizer.continuesFrom = 'scripted/scripted-1';
    rig.overrides = { 'compaction.coldLeastTokens': 5_000, 'compaction.coldKeepTokens': 1_000 };
    talk = new CachedTalk(rig);
    for (const text of ['first', 'second', 'third', 'fourth']) await talk.say(text, `${text} ${rig.words(2_000)}`);
    wait(4.2);
    await rig.until(() => cache().prepared);
  });
  afterEach(() => rig.dispose());

  /** Nothing that has been said is missing, and nobody is asked for a summary. */
  function sendsAll(): void {
    assert.deepEqual([triggers(), rig.summarizer.prompts.length], [[], 1]);
    assert.match(lastPrompt(), /first w[^]*second w[^]*third w[^]*fourth w/);
  }

  it('sends everything where the notes have changed: the summary does not know them', async () => {
    wait(10);
    rig.notes = 'The port is 54329.';
    await talk.say('fifth');
    sendsAll();
  });

  it('folds for another model, which asks nobody either', async () => {
    wait(10);
    rig.modelId = 'scripted-2';
    await talk.say('fifth');
    assert.deepEqual([triggers(), rig.summarizer.prompts.length], [['cold'], 1]);
    assert.match(lastPrompt(), /the plan is set/);
  });

  it('sends everything where the policy keeps it now, and folds again where it folds again', async () => {
    wait(10);
    rig.overrides = { ...rig.overrides, 'compaction.whenCold': 'keep' };
    await talk.say('fifth');
    sendsAll();
    rig.overrides = { ...rig.overrides, 'compaction.whenCold': 'fold' };
    rig.clock.pass(20 * minute);
    await talk.say('sixth');
    assert.deepEqual([triggers(), rig.summarizer.prompts.length], [['cold'], 1]);
  });

  it('sends everything where the policy has another form of summaries', async () => {
    wait(10);
    rig.overrides = { ...rig.overrides, 'compaction.format': 'sections' };
    await talk.say('fifth');
    sendsAll();
  });

  it('waits for the clock that was set back, and folds when the cache has expired by it', async () => {
    rig.clock.pass(-30 * minute);
    assert.equal(cache().state, 'unknown');
    rig.clock.pass(50 * minute);
    assert.equal(cache().next?.expects, 'folded');
    await talk.say('fifth');
    assert.deepEqual([triggers(), rig.summarizer.prompts.length], [['cold'], 1]);
  });

  it('prepares nothing behind the expiry where the machine slept, and nothing is lost', async () => {
    await talk.say('fifth', `fifth ${rig.words(2_000)}`);
    rig.clock.pass(8 * 60 * minute);
    wait(10);
    assert.equal(rig.summarizer.prompts.length, 1);
    await talk.say('sixth');
    assert.deepEqual(triggers(), ['cold'], 'what was prepared before still tells of what it tells of');
    assert.match(lastPrompt(), /fifth w/, 'and what was said since stands word for word');
  });

  it('tells what the compaction has saved when the message has been billed, and again when the session is opened', async () => {
    const before = (await rig.store.liveBranch(rig.session)).lastUsage!;
    wait(10);
    await talk.say('fifth');
    await rig.until(() => rig.events.some(({ type }) => type === 'savings_changed'));
    const record = rig.conversation.entries.find((entry) => isEntryOf(entry, 'compaction'))!;
    const after = (await rig.store.liveBranch(rig.session)).lastUsage!;
    const tokens = before.cacheRead + before.cacheWrite + before.output - after.cacheWrite;
    const savings = [{ compaction: record.uuid, tokens, cost: null }];
    assert.deepEqual(
      rig.events.flatMap((event) => (event.type === 'savings_changed' ? [event.savings] : [])),
      [savings],
    );
    await rig.reopen();
    assert.deepEqual(await rig.conversation.savings(), savings);
  });

  it('sends what is attached to the draft behind the summary', async () => {
    wait(10);
    const hash = await rig.store.putBlob(new TextEncoder().encode('export const tide = 7;'), 'text/plain');
    const file = { kind: 'file', name: 'tide.ts', hash, mime: 'text/plain', tokens: 12 } as const;
    await rig.conversation.measureDraft('look', [file]);
    assert.equal(cache().next?.expects, 'folded');
    rig.model.scripts.push((request) => says('Seen.', talk.usage(request)));
    assert.equal((await rig.conversation.send('look', 'm1', [file])).error, null);
    assert.deepEqual(triggers(), ['cold']);
    assert.match(lastPrompt(), /the plan is set[^]*export const tide = 7;[^]*look/);
  });

  it('does not fold another branch, and folds this one when it is back', async () => {
    const said = rig.conversation.entries.filter(({ content }) => content.type === 'message' && content.role === 'user');
    const second = said.find(({ content }) => entryText(content) === 'second')!;
    const end = rig.conversation.entries.at(-1)!;
    rig.model.scripts.push((request) => says(`other ${rig.words(4_000)}`, talk.usage(request)));
    assert.equal((await rig.conversation.branching.edit(second.uuid, 'second, otherwise', 'e1')).error, null);
    rig.clock.pass(20 * minute);
    assert.equal(cache().prepared, false);
    assert.equal(await rig.conversation.branching.switchTo(end.uuid), null);
    assert.deepEqual([cache().prepared, cache().next?.expects], [true, 'folded']);
    await talk.say('fifth');
    assert.deepEqual(triggers(), ['cold']);
    assert.match(lastPrompt(), /the plan is set/);
  });
});
