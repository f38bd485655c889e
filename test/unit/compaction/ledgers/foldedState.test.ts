import assert from 'node:assert/strict';
import {
  carriedRequest,
  emptyFoldedState,
  fittingRequest,
  readableSummary,
  renderFoldedState,
} from '../../../../src/core/compaction/ledgers/foldedState';
import { extendLedger } from '../../../../src/core/compaction/ledgers/userLedger';
import { parseSessionState } from '../../../../src/core/compaction/summary/summaryFormat';
import { estimateTokens } from '../../../../src/core/context/measure/estimateTokens';
import type { Attachment } from '../../../../src/core/session/userMessage';
import { BranchBuilder } from '../../../support/chat/branchBuilder';

describe('parseSessionState', () => {
  const state = { logos: ['a'], pathos: [], abstract: [], conversation_summary: 's' };

  it('reads bare, fenced and talked-around JSON', () => {
    for (const answer of [
      JSON.stringify(state),
      `\`\`\`json\n${JSON.stringify(state)}\n\`\`\``,
      `Here it is: ${JSON.stringify(state)} Done.`,
    ]) {
      assert.deepEqual(parseSessionState(answer), state);
    }
  });

  it('forgives single strings, missing lists and objects in lists', () => {
    assert.deepEqual(parseSessionState('{"logos":"one fact","pathos":null,"abstract":[{"x":1}],"conversation_summary":"s"}'), {
      logos: ['one fact'],
      pathos: [],
      abstract: ['{"x":1}'],
      conversation_summary: 's',
    });
  });

  it('refuses half an object, words and an empty state', () => {
    for (const answer of ['{"logos":["a"', 'no json', '', '{"logos":[],"pathos":[],"abstract":[],"conversation_summary":" "}'])
      assert.equal(parseSessionState(answer), undefined);
  });
});

describe('the user ledger', () => {
  it('keeps every user message verbatim with its id', () => {
    const b = new BranchBuilder();
    b.user('use tabs');
    b.assistant('ok');
    b.user('rename it to foo');
    assert.deepEqual(extendLedger(emptyFoldedState, b.entries, 1_000, estimateTokens), {
      ledger: [
        { ref: '#1', text: 'use tabs' },
        { ref: '#3', text: 'rename it to foo' },
      ],
      earlier: [],
      orders: [],
      values: [],
    });
  });

  it('shortens long pastes before it drops short orders', () => {
    const b = new BranchBuilder();
    b.user('never touch the lock file');
    b.user(`a log: ${'x'.repeat(5_000)} end`);
    const { ledger, earlier } = extendLedger(emptyFoldedState, b.entries, 120, estimateTokens);
    assert.deepEqual([ledger[0], earlier], [{ ref: '#1', text: 'never touch the lock file' }, []]);
    assert.match(ledger[1]!.text, /^a log: x+ \[… \d+ characters …\] x+ end$/);
    assert.ok(ledger[1]!.text.length < 340);
  });

  it('keeps a standing order whole when its message is shortened, dropped and folded again and again', () => {
    const b = new BranchBuilder();
    b.user(`${'Today was long. '.repeat(40)}Never mention the keeper by name. ${'It rained. '.repeat(40)}`);
    let state = { ...emptyFoldedState, ...extendLedger(emptyFoldedState, b.entries, 200, estimateTokens) };
    for (let round = 0; round < 300; round++) {
      state = { ...state, ...extendLedger(state, [b.user(`round ${round}: ${'x'.repeat(200)}`)], 200, estimateTokens) };
    }
    assert.deepEqual(state.orders, [{ ref: '#1', text: 'Never mention the keeper by name.' }]);
    assert.match(
      renderFoldedState(state, null, 1_000),
      /## Standing orders of the user \(verbatim\)\n- \(#1\) Never mention the keeper by name\./,
    );
  });

  it('keeps the values that the user gave when their messages no longer fit, and no prose', () => {
    const b = new BranchBuilder();
    b.user(`${'Nothing happened then. '.repeat(30)}The gate code is Q48213-7. ${'It rained all day. '.repeat(30)}`);
    let state = { ...emptyFoldedState, ...extendLedger(emptyFoldedState, b.entries, 300, estimateTokens) };
    for (let round = 0; round < 50; round++) {
      state = {
        ...state,
        ...extendLedger(
          state,
          [b.user('Somebody said something again and we went on to the next thing. '.repeat(20))],
          300,
          estimateTokens,
        ),
      };
    }
    assert.deepEqual(state.values, [{ ref: '#1', text: 'The gate code is Q48213-7.' }]);
    assert.match(renderFoldedState(state, null, 1_000), /## Exact values that the user gave\n- \(#1\) The gate code is Q48213-7\./);
  });

  it('has a message once that stayed verbatim when its summary was used, and was folded again', () => {
    const b = new BranchBuilder();
    for (const text of ['first', 'second', 'third']) b.user(text);
    const once = { ...emptyFoldedState, ...extendLedger(emptyFoldedState, b.entries, 1_000, estimateTokens) };
    const twice = extendLedger(once, b.entries.slice(1), 1_000, estimateTokens);
    assert.deepEqual(
      twice.ledger.map(({ ref, text }) => `${ref} ${text}`),
      ['#1 first', '#2 second', '#3 third'],
    );
  });

  it('says an order once: where its message is spelled out it is not repeated', () => {
    const b = new BranchBuilder();
    b.user('Always use tabs.');
    const text = renderFoldedState(
      { ...emptyFoldedState, ...extendLedger(emptyFoldedState, b.entries, 1_000, estimateTokens) },
      null,
      1_000,
    );
    assert.equal(text.split('Always use tabs.').length - 1, 1);
  });

  it('names by id what no longer fits, over several compactions', () => {
    const b = new BranchBuilder();
    for (let i = 0; i < 5; i++) b.user(`message ${i} ${'x'.repeat(100)}`);
    const first = extendLedger(emptyFoldedState, b.entries.slice(0, 3), 150, estimateTokens);
    const second = extendLedger({ ...emptyFoldedState, ...first }, b.entries.slice(3), 150, estimateTokens);
    assert.deepEqual(
      [second.ledger.map((line) => line.ref), second.earlier],
      [
        ['#4', '#5'],
        ['#1', '#2', '#3'],
      ],
    );
    assert.match(renderFoldedState({ ...emptyFoldedState, ...second }, null, 1_000), /through recall: #1, #2, #3/);
  });

  it('carries the request being worked on when its turn was cut', () => {
    const b = new BranchBuilder();
    const request = b.user('do the thing');
    assert.match(
      renderFoldedState(emptyFoldedState, request, 1_000),
      /## The request you are working on \(#1, verbatim\)\n  do the thing$/,
    );
  });

  it('carries what was attached to the request as far as there is room, images first, and names the rest', () => {
    const b = new BranchBuilder();
    const of = (kind: Attachment['kind'], name: string, tokens: number): Attachment => ({ kind, name, hash: name, mime: 'x/y', tokens });
    const [long, short, shot, huge] = [
      of('file', 'long.log', 900),
      of('file', 'short.ts', 20),
      of('image', 'shot.png', 300),
      of('image', 'huge.png', 1_600),
    ];
    const request = carriedRequest(b.user('do the thing', [long, short, shot, huge]), 1_500);
    assert.deepEqual(request, { ref: '#1', text: 'do the thing', attachments: [short, shot], leftOut: [long, huge] });
    assert.match(
      renderFoldedState({ ...emptyFoldedState, request }, null, 1_500),
      /\n {2}do the thing\n {2}\[attached file: short\.ts\]\n {2}\[attached image: shot\.png\]\n {2}\[attached file: long\.log\] \(recall #1\)\n {2}\[attached image: huge\.png\] \(no room for it here\)$/,
    );
    assert.deepEqual(carriedRequest(b.user('x'.repeat(1_500), [shot]), 1_500)?.attachments, undefined);
    assert.deepEqual(fittingRequest(request!, 100), { ref: '#1', text: 'do the thing', leftOut: [long, huge, short, shot] }, 'less later');
  });

  it('is shown to people without what is said to the model', () => {
    const todos = [{ text: 'Measure', status: 'pending' as const }];
    const text = renderFoldedState({ ...emptyFoldedState, raw: 'It is **set**.', todos }, null, 1_000);
    assert.match(text, /recall \{"query"/);
    assert.equal(readableSummary(text), 'It is **set**.\n\n## To-do list\n- [ ] Measure');
    assert.equal(readableSummary('What I wrote.\n\nAll of it.'), 'What I wrote.\n\nAll of it.');
  });
});
