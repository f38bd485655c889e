import assert from 'node:assert/strict';
import { untilAccepted, type ConversationEvent } from '../../../src/core/chat/events';
import { StoreError } from '../../../src/core/errors';
import { entryText } from '../../../src/core/session/entry';
import { policyChangeOf } from '../../../src/core/session/liveCompaction';
import { ConversationRig } from '../../support/chat/conversationRig';
import { calls, fails, says } from '../../support/chat/scriptedModel';

const types = (events: readonly ConversationEvent[]) => events.map((event) => event.type);

describe('Conversation', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create();
  });
  afterEach(() => rig.dispose());

  it('has the user message on disk before the request leaves, and the answer block by block', async () => {
    let storedAtRequest: string[] = [];
    const gate = rig.gate();
    rig.model.scripts.push([{ hold: gate.opened }, ...says('Hello there.', { input: 50, output: 5 })]);
    const sending = rig.conversation.send('hi', 'turn-1');
    await rig.until(() => rig.model.requests.length === 1);
    storedAtRequest = (await rig.store.page(rig.session, { limit: 10 })).entries.map(({ content }) => entryText(content));
    gate.open();
    assert.deepEqual(await sending, { id: 'turn-1', begun: true, ok: true, text: 'Hello there.', error: null });
    assert.deepEqual(storedAtRequest, ['hi']);
    const { entries } = await rig.store.page(rig.session, { limit: 10 });
    assert.deepEqual(
      entries.map(({ content }) => [content.type, entryText(content)]),
      [
        ['message', 'hi'],
        ['message', 'Hello there.'],
      ],
    );
    const deltas = rig.events.filter((event) => event.type === 'text_delta');
    assert.equal(deltas.map((event) => event.text).join(''), 'Hello there.');
    assert.equal(rig.conversation.snapshot.used, 55);
    assert.equal(rig.conversation.snapshot.provenance, 'exact');
    assert.equal(rig.conversation.session.title, 'hi');
  });

  it('refuses an empty message and keeps everything as it was', async () => {
    const outcome = await rig.conversation.send('  \n');
    assert.equal(outcome.ok, false);
    assert.equal(outcome.error?.message, 'The message is empty.');
    const sending = untilAccepted((accepted) => rig.conversation.send(' ', 'a', [], accepted));
    await assert.rejects(sending, { message: 'The message is empty.' });
    assert.deepEqual((await rig.store.page(rig.session, { limit: 10 })).entries, []);
  });

  it('says when it became idle, after the last of what was asked for', async () => {
    rig.model.scripts.push(says('first'), says('second'));
    const told: [string, boolean][] = [];
    rig.conversation.onDidEmit(({ type }) => {
      if (type === 'turn_ended' || type === 'became_idle') told.push([type, rig.conversation.isBusy]);
    });
    await Promise.all([rig.conversation.send('one'), rig.conversation.send('two')]);
    assert.deepEqual(told, [
      ['turn_ended', true],
      ['turn_ended', true],
      ['became_idle', false],
    ]);
  });

  it('queues a second message behind the running turn, on disk, and sends it afterwards', async () => {
    const gate = rig.gate();
    rig.model.scripts.push([{ hold: gate.opened }, ...says('first')], says('second'));
    const first = rig.conversation.send('one', 'a');
    const second = rig.conversation.send('two', 'b');
    await rig.until(async () => (await rig.store.queue(rig.session)).length === 1);
    assert.deepEqual(await rig.store.queue(rig.session), [{ id: 'b', text: 'two' }]);
    gate.open();
    assert.deepEqual([(await first).text, (await second).text], ['first', 'second']);
    assert.deepEqual(await rig.store.queue(rig.session), []);
    assert.deepEqual(await rig.texts(), ['one', 'first', 'two', 'second']);
  });

  it('counts the draft while it is one, and the message once it is sent', async () => {
    const text = rig.words(500);
    const empty = rig.conversation.snapshot.used;
    await rig.conversation.measureDraft(text);
    const draft = rig.conversation.snapshot;
    assert.equal(draft.used, empty + draft.segments.find(({ kind }) => kind === 'draft')!.tokens);
    rig.model.scripts.push(fails('bad_key'));
    await rig.conversation.send(text);
    assert.equal(rig.conversation.snapshot.segments.find(({ kind }) => kind === 'draft')!.tokens, 0);
    assert.ok(rig.conversation.snapshot.used < draft.used + 20, 'not counted twice');
  });

  it('says so when there is no answer at all', async () => {
    rig.model.scripts.push([{ type: 'stopped', reason: 'end_turn' }]);
    assert.match((await rig.conversation.send('hello?')).error!.message, /gave no answer/);
  });

  it('keeps what had been shown when the store fails under an answer, at the end of the conversation', async () => {
    const gate = rig.gate();
    rig.model.scripts.push([
      { type: 'text_delta', index: 0, text: 'shown before ' },
      { hold: gate.opened },
      ...says('shown before the disk was full').slice(1),
    ]);
    const sending = rig.conversation.send('go');
    await rig.until(() => rig.events.some((event) => event.type === 'text_delta'));
    rig.failAppends(new StoreError('disk_full', 'no space'));
    gate.open();
    assert.match((await sending).error!.message, /The disk is full\. Your message is saved/);
    rig.failAppends(null);
    rig.model.scripts.push(says('better now'));
    await rig.conversation.send('again');
    const shown = rig.events
      .flatMap((event) => (event.type === 'text_delta' ? [event.text] : []))
      .join('')
      .replace('better now', '');
    assert.ok(shown.startsWith('shown before '));
    assert.deepEqual(await rig.texts(), ['go', shown, 'again', 'better now']);
  });

  it('records that another model answers from here on', async () => {
    rig.model.scripts.push(says('one'), says('two'));
    await rig.conversation.send('first');
    rig.modelId = 'scripted-2';
    await rig.conversation.send('second');
    const { entries } = await rig.store.page(rig.session, { limit: 10 });
    assert.deepEqual(
      entries.map(({ content }) => (content.type === 'model_change' ? content.model : entryText(content))),
      ['first', 'one', 'second', 'scripted-2', 'two'],
    );
  });

  it('says that an answer was cut, and keeps it', async () => {
    rig.model.scripts.push([...says('as far as it').slice(0, -1), { type: 'stopped', reason: 'max_tokens' }]);
    const outcome = await rig.conversation.send('write a book');
    assert.deepEqual([outcome.ok, outcome.text], [false, 'as far as it']);
    assert.match(outcome.error!.message, /length limit.*continue/);
  });

  it('accepts a message once it is on disk or in the queue, while its answer is still awaited', async () => {
    const gate = rig.gate();
    rig.model.scripts.push([{ hold: gate.opened }, ...says('first')], says('second'));
    await untilAccepted((accepted) => rig.conversation.send('one', 'a', [], accepted));
    const { entries } = await rig.store.page(rig.session, { limit: 10 });
    assert.deepEqual(
      entries.map(({ content }) => entryText(content)),
      ['one'],
    );
    await untilAccepted((accepted) => rig.conversation.send('two', 'b', [], accepted));
    assert.deepEqual(await rig.store.queue(rig.session), [{ id: 'b', text: 'two' }]);
    gate.open();
    await rig.until(() => !rig.conversation.isBusy);
  });

  it('accepts a repeated request when it is under way', async () => {
    rig.model.scripts.push(fails('invalid_request'));
    await rig.conversation.send('one', 'a');
    const gate = rig.gate();
    rig.model.scripts.push([{ hold: gate.opened }, ...says('answer')]);
    await untilAccepted((accepted) => rig.conversation.retry('b', accepted));
    assert.equal(rig.conversation.isBusy, true);
    gate.open();
    await rig.until(() => !rig.conversation.isBusy);
  });

  it('begins nothing from the queue once it is closed, and keeps it on disk', async () => {
    const gate = rig.gate();
    rig.model.scripts.push([{ hold: gate.opened }, ...says('first')]);
    const first = rig.conversation.send('one', 'a');
    const second = rig.conversation.send('two', 'b');
    await rig.until(async () => (await rig.store.queue(rig.session)).length === 1);
    rig.conversation.dispose();
    assert.deepEqual([(await first).ok, (await second).error?.reason], [false, 'cancelled']);
    assert.deepEqual(await rig.store.queue(rig.session), [{ id: 'b', text: 'two' }]);
    assert.deepEqual(await rig.texts(), ['one']);
  });

  it('stop keeps what was shown, marks it, and hands the queue back', async () => {
    const gate = rig.gate();
    rig.model.scripts.push([{ type: 'text_delta', index: 0, text: 'half an ans' }, { hold: gate.opened }]);
    const sending = rig.conversation.send('go', 'a');
    await rig.until(() => rig.events.some((event) => event.type === 'text_delta'));
    const queued = rig.conversation.send('next', 'b');
    assert.deepEqual(await rig.conversation.stop(), [{ id: 'b', text: 'next' }]);
    const outcome = await sending;
    assert.deepEqual([outcome.ok, outcome.text, outcome.error?.reason], [false, 'half an ans', 'cancelled']);
    assert.equal((await queued).error?.reason, 'cancelled');
    const last = (await rig.store.page(rig.session, { limit: 10 })).entries.at(-1);
    assert.ok(last?.content.type === 'message');
    assert.deepEqual([last.content.text, last.content.interrupted], ['half an ans', 'stopped']);
  });

  it('retries what goes away by waiting, as long as the provider asks, and drops the failed attempt from the prompt', async () => {
    rig.model.scripts.push(
      fails('overloaded', { retryAfterMs: 7_000 }),
      [{ type: 'text_delta', index: 0, text: 'lost in mid-' }, ...fails('network')],
      says('whole'),
    );
    const outcome = await rig.conversation.send('q');
    assert.deepEqual([outcome.ok, outcome.text.endsWith('whole')], [true, true]);
    const waits = rig.events.filter((event) => event.type === 'retry_scheduled').map(({ delayMs, reason }) => [reason, delayMs]);
    assert.deepEqual(waits, [
      ['overloaded', 7_000],
      ['network', 2_000],
    ]);
    assert.equal(rig.model.requests[2]!.messages.length, 1, 'the failed attempt is not sent');
    assert.deepEqual(await rig.texts(), ['q', 'lost in mid-', 'whole'], 'and still in the history');
  });

  it('says what to do when it cannot go on, in the transcript too', async () => {
    rig.model.scripts.push(fails('bad_key', { detail: 'invalid x-api-key', status: 401 }), says('later'));
    const outcome = await rig.conversation.send('q');
    assert.equal(outcome.error?.reason, 'bad_key');
    assert.match(outcome.error.message, /Set API Key….*Your message is saved\.$/);
    assert.equal(outcome.error.detail, 'invalid x-api-key');
    const { entries } = await rig.store.page(rig.session, { limit: 10 });
    assert.equal(entries.at(-1)?.content.type, 'custom');
    assert.equal((await rig.conversation.retry()).text, 'later');
    assert.deepEqual(
      rig.model.requests[1]!.messages.map(({ role }) => role),
      ['user'],
    );
  });

  it('runs tools until the model is done', async () => {
    rig.model.scripts.push(calls('echo', { text: 'ping' }, 'c1'), calls('nope', {}, 'c2'), says('done'));
    const outcome = await rig.conversation.send('use the tool');
    assert.equal(outcome.text, 'done');
    const blocks = rig.model.requests[2]!.messages.flatMap((message) => message.blocks);
    assert.deepEqual(
      blocks.filter((block) => block.type === 'tool_result').map((block) => [block.callId, block.text, block.isError]),
      [
        ['c1', 'echo: ping', false],
        ['c2', 'There is no tool called "nope". Available: write_file, dump, echo.', true],
      ],
    );
  });

  it('tells calls apart whose server counts them anew with every answer', async () => {
    const both = [...calls('echo', { text: 'b1' }, '0').slice(0, 1), ...calls('echo', { text: 'b2' }, '0')];
    rig.model.scripts.push(calls('echo', { text: 'a' }, '0'), both, says('done'));
    await rig.conversation.send('use the tool');
    const blocks = rig.model.requests[2]!.messages.flatMap((message) => message.blocks);
    const asked = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.callId] : []));
    const answered = blocks.flatMap((block) => (block.type === 'tool_result' ? [[block.callId, block.text]] : []));
    assert.deepEqual(answered, [
      [asked[0], 'echo: a'],
      [asked[1], 'echo: b1'],
      [asked[2], 'echo: b2'],
    ]);
    assert.deepEqual([asked[0], new Set(asked).size, asked.every((id) => id.length <= 40)], ['0', 3, true]);
  });

  it('appends one nudge per threshold to the turn that crosses it', async () => {
    for (const tokens of [1_900, 1_950, 1_500, 1_200]) {
      rig.model.scripts.push(says('noted'));
      await rig.conversation.send(rig.words(tokens));
    }
    const nudges = rig.model.requests.map(
      ({ messages }) =>
        messages.flatMap(({ blocks }) => blocks).filter((block) => block.type === 'text' && block.text.includes('kind="notes"')).length,
    );
    assert.deepEqual(nudges, [0, 0, 1, 2]);
    assert.deepEqual(
      rig.conversation.snapshot.thresholds.map(({ kind, state }) => [kind, state]),
      [
        ['nudge', 'delivered'],
        ['nudge', 'delivered'],
        ['compaction', 'ahead'],
        ['limit', 'ahead'],
      ],
    );
  });
});

describe('Conversation: compaction', () => {
  let rig: ConversationRig;
  beforeEach(async () => {
    rig = await ConversationRig.create();
  });
  afterEach(() => rig.dispose());

  async function fill(turns: number, tokens: number, name = 'question'): Promise<void> {
    for (let i = 0; i < turns; i++) {
      rig.model.scripts.push(says(`answer ${i} ${rig.words(tokens / 2)}`));
      await rig.conversation.send(`${name} ${i} ${rig.words(tokens / 2)}`);
    }
  }

  it('folds on command, keeps the newest turns and can be undone', async () => {
    await fill(5, 800);
    const before = rig.conversation.snapshot.used;
    const result = await rig.conversation.compact();
    assert.equal(result.message, null);
    assert.equal(result.entry?.content.rung, 'model');
    assert.equal(result.entry.content.tokensBefore, before);
    assert.equal(result.entry.content.tokensAfter, rig.conversation.snapshot.used);
    assert.ok(rig.conversation.snapshot.used < before * 0.75, `${rig.conversation.snapshot.used} of ${before}`);
    assert.match(result.entry.content.summaryText, /the plan is set/);
    assert.match(result.entry.content.summaryText, /\(#1\) question 0/);

    rig.model.scripts.push(says('after'));
    await rig.conversation.send('and now?');
    const texts = rig.model.requests
      .at(-1)!
      .messages.flatMap(({ blocks }) => blocks)
      .map((block) => (block.type === 'text' ? block.text : ''));
    assert.ok(texts[0]!.startsWith('<conversation-state-'));
    assert.ok(!texts.some((text) => text.startsWith('question 0')));
    assert.ok(texts.some((text) => text.startsWith('question 4')));

    assert.equal(rig.conversation.undoPreview()?.fits, true);
    assert.equal((await rig.conversation.undoCompaction()).message, null);
    rig.model.scripts.push(says('restored'));
    await rig.conversation.send('again');
    const restored = rig.model.requests
      .at(-1)!
      .messages.flatMap(({ blocks }) => blocks)
      .map((block) => (block.type === 'text' ? block.text : ''));
    assert.ok(restored[0]!.startsWith('question 0'));
    assert.ok(restored.includes('and now?'), 'turns made since stay');
    assert.equal((await rig.conversation.undoCompaction()).message, 'There is no compaction to undo.');
  });

  it('compacts by itself before the request that would pass the trigger, and tells what it did', async () => {
    await fill(9, 900);
    rig.model.scripts.push(says('ok'));
    await rig.conversation.send(`one more ${rig.words(300)}`);
    const ended = rig.events.filter((event) => event.type === 'compaction_ended');
    assert.deepEqual(
      ended.map(({ entry }) => [entry?.content.trigger, entry?.content.rung]),
      [['automatic', 'model']],
    );
    for (const request of rig.model.requests)
      assert.ok(rig.size(request) <= rig.conversation.snapshot.limit, 'nothing over the limit was sent');
    assert.ok(types(rig.events).includes('compaction_started'));
  });

  it('uses verbatim passages when the summariser fails, and says so', async () => {
    rig.summarizer.fail = 'overloaded';
    await fill(5, 800);
    const result = await rig.conversation.compact();
    assert.deepEqual([result.entry?.content.rung, result.entry?.content.needsSummaryRetry], ['extractive', true]);
    assert.match(result.entry!.content.note!, /could not summarize/);
  });

  it('changes nothing when it is stopped', async () => {
    await fill(5, 800);
    rig.summarizer.hold = rig.gate();
    const before = rig.conversation.snapshot.used;
    const compacting = rig.conversation.compact();
    await rig.until(() => rig.summarizer.prompts.length === 1);
    await rig.conversation.stop();
    assert.deepEqual(await compacting, { entry: null, message: 'Cancelled: nothing was changed.', isNothing: true });
    assert.equal(rig.conversation.snapshot.used, before);
  });

  it('takes the next rung when only the compaction is cancelled, and the turn goes on', async () => {
    await fill(7, 900);
    assert.deepEqual(rig.summarizer.prompts, []);
    rig.summarizer.hold = rig.gate();
    rig.model.scripts.push(says('went on'));
    const sending = rig.conversation.send(`one more ${rig.words(800)}`);
    await rig.until(() => rig.summarizer.prompts.length === 1);
    rig.conversation.cancelCompaction();
    assert.equal((await sending).text, 'went on');
    assert.equal(rig.events.find((event) => event.type === 'compaction_ended')?.entry?.content.rung, 'extractive');
  });

  it('does not run by itself when it is switched off', async () => {
    rig.autoCompact = false;
    await fill(8, 900);
    const outcome = await rig.conversation.send(rig.words(2_100));
    assert.match(outcome.error!.message, /Automatic compaction is off/);
    assert.equal(
      rig.events.some((event) => event.type === 'compaction_started'),
      false,
    );
    assert.equal((await rig.conversation.compact()).entry?.content.rung, 'model');
  });

  it('folds again from where the last compaction stopped, merging its state', async () => {
    await fill(5, 800);
    await rig.conversation.compact();
    await fill(3, 800, 'later');
    const second = await rig.conversation.compact();
    assert.match(rig.summarizer.prompts[1]!, /<previous-state-\d+>.*the plan is set/s);
    assert.match(second.entry!.content.summaryText, /\(#1\) question 0/);
    assert.ok(!rig.summarizer.prompts[1]!.includes('question 0 '), 'the first range is not summarised twice');
  });

  it('recovers from an overflow the provider reports, once, by folding and asking again', async () => {
    await fill(6, 900);
    rig.model.scripts.push(fails('overflow', { status: 400 }), says('fits now'));
    const outcome = await rig.conversation.send('go on');
    assert.deepEqual([outcome.ok, outcome.text], [true, 'fits now']);
    assert.deepEqual(
      rig.events.filter((event) => event.type === 'compaction_ended').map(({ entry }) => entry?.content.trigger),
      ['overflow'],
    );
  });

  it('follows changed standing instructions with the next message, declared as a prefix break', async () => {
    rig.model.scripts.push(says('one'), says('two'), says('three'));
    await rig.conversation.send('first');
    rig.instructions = 'Be brief.';
    await rig.conversation.send('second');
    await rig.conversation.send('third');
    assert.deepEqual(
      rig.model.requests.map(({ system }) => system.includes('Be brief.')),
      [false, true, true],
    );
    const changes = rig.conversation.entries.flatMap(({ content }) => (content.type === 'instructions_change' ? [content.text] : []));
    assert.deepEqual(changes, ['Be brief.']);
  });

  it('never sends what cannot fit, keeps the message and says how large it is', async () => {
    const tiny = await ConversationRig.create({ window: 1_200, instructions: rig.words(1_500) });
    const outcome = await tiny.conversation.send('hello');
    assert.equal(outcome.error?.reason, 'too_long');
    assert.equal(tiny.model.requests.length, 0);
    assert.deepEqual(await tiny.texts(), ['hello']);
    await tiny.dispose();
  });

  it('shows less of a paste where instructions leave no room for the share that the policy gives it', async () => {
    const small = await ConversationRig.create({ window: 3_000, instructions: rig.words(1_050) });
    small.model.scripts.push(says('read'), says('and on'));
    for (const text of [small.words(20_000), 'and now?']) assert.deepEqual((await small.conversation.send(text)).error, null);
    const [first, second] = small.model.requests.map(({ messages }) => messages);
    assert.ok(JSON.stringify(first).includes('characters of #'), 'head and tail');
    assert.deepEqual(
      second!.slice(0, 1).map(({ blocks }) => blocks),
      first!.slice(0, 1).map(({ blocks }) => blocks),
      'the same in the next prompt',
    );
    const bounds = () => small.conversation.entries.flatMap((entry) => policyChangeOf(entry) ?? []);
    const before = bounds();
    assert.ok(before.at(-1)!.oversized < before.at(-1)!.insteadOf!, 'less than the policy has');
    await small.reopen();
    small.model.scripts.push(says('as before'));
    assert.deepEqual((await small.conversation.send('go on')).error, null);
    const third = small.model.requests.at(-1)!.messages;
    assert.deepEqual([third[0]!.blocks, bounds()], [first![0]!.blocks, before], 'in a new process too');
    small.model.scripts.push(says('short again'));
    await small.conversation.send(small.words(before.at(-1)!.oversized + 40));
    assert.equal(bounds()[before.length]!.oversized, before.at(-1)!.insteadOf, 'a compaction begins with what the policy has');
    await small.dispose();
  });

  it('answers although one step returns several times the window', async () => {
    const step = Array.from({ length: 8 }, (_, i) => calls('dump', { tokens: 4_000 }, `c${i}`)[0]!);
    rig.model.scripts.push([...step, { type: 'stopped', reason: 'tool_use' }], says('done'));
    const outcome = await rig.conversation.send('read all of it');
    assert.deepEqual([outcome.error, outcome.text, rig.model.requests.length], [null, 'done', 2]);
  });

  it('carries the request of a long turn on, also when it is folded a second time after a restart', async () => {
    const dumps = (from: number) => Array.from({ length: 4 }, (_, i) => calls('dump', { tokens: 2_200 }, `c${from + i}`));
    rig.model.scripts.push(...dumps(0), fails('invalid_request'));
    await rig.conversation.send('Count the lighthouses of Brittany.');
    const records = () => rig.conversation.entries.filter(({ content }) => content.type === 'compaction').length;
    assert.equal(records(), 1);
    await rig.reopen();
    assert.ok(!rig.conversation.entries.some(({ content }) => entryText(content).startsWith('Count the')), 'no longer in memory');
    rig.model.scripts.push(...dumps(4), says('done'));
    assert.deepEqual((await rig.conversation.retry()).error, null);
    assert.ok(records() >= 1);
    assert.match(
      JSON.stringify(rig.model.requests.at(-1)!.messages),
      /The request you are working on \(#1, verbatim\)\\n {2}Count the lighthouses of Brittany\./,
    );
  });

  it('takes a run of one character for more than our own tokenizer does', async () => {
    const rig = await ConversationRig.create({ counts: 1 });
    rig.model.scripts.push(says('ok'));
    await rig.conversation.send(`${' '.repeat(80_000)}x`);
    const [message] = rig.model.requests[0]!.messages;
    assert.ok(JSON.stringify(message).length < 30_000, 'head and tail');
    await rig.dispose();
  });

  it('sends a paste far over the window as head and tail, and keeps all of it', async () => {
    const paste = `START ${rig.words(40_000)} END`;
    rig.model.scripts.push(says('read it'));
    const outcome = await rig.conversation.send(paste);
    assert.equal(outcome.ok, true);
    assert.ok(rig.size(rig.model.requests[0]!) <= rig.conversation.snapshot.limit);
    assert.equal((await rig.texts())[0], paste);
  });

  it('finds everything again after it was opened anew', async () => {
    await fill(4, 800);
    await rig.conversation.compact();
    const before = rig.conversation.snapshot;
    await rig.reopen();
    const after = rig.conversation.snapshot;
    assert.deepEqual({ ...after, updatedAt: 0 }, { ...before, updatedAt: 0 });
  });
});
