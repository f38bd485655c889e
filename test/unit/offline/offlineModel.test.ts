import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { isNudgeText, OfflineModel, type OfflineDependencies } from '../../../src/core/offline/offlineModel';
import { ModelError, type ModelEvent } from '../../../src/core/models/modelEvent';
import { StoreError } from '../../../src/core/errors';
import type { ModelMessage, ModelRequest } from '../../../src/core/models/modelRequest';
import type { Passage } from '../../../src/core/ports';
import type { SearchQuery } from '../../../src/core/session/searchQuery';
import type { StoredEntry } from '../../../src/core/session/entry';
import { assistant, entriesOf, historyOf, result, user } from '../recall/entries';
import { testFrames } from '../../support/chat/testFrames';

const opening = 'Offline: searches your files, notes and past chats. No AI answers.';
const never = new AbortController().signal;

const asked = (...texts: string[]): ModelRequest => ({
  model: 'offline',
  system: '',
  tools: [],
  maxOutputTokens: 1_000,
  messages: [{ role: 'user', blocks: texts.map((text) => ({ type: 'text', text })) }],
});

const modelOver = (entries: readonly StoredEntry[], more: Partial<OfflineDependencies> = {}) =>
  new OfflineModel({
    store: historyOf(entries, { s1: { title: 'Staging' }, s2: { title: 'Weather' } }),
    notes: { list: async () => [], read: async () => undefined },
    files: null,
    session: () => 's1',
    ...more,
  });

async function eventsOf(model: OfflineModel, request: ModelRequest, signal = never): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, signal)) events.push(event);
  return events;
}

async function answerOf(model: OfflineModel, request: ModelRequest): Promise<string> {
  const block = (await eventsOf(model, request)).find((event) => event.type === 'block');
  return block?.type === 'block' && block.block.type === 'text' ? block.block.text : '';
}

describe('offline mode', () => {
  const talk = entriesOf([
    user('The staging database listens on 54329.'),
    assistant('Noted, 54329.'),
    user('The sky over Paris is grey.', 's2'),
    { ...assistant('I am offline: 54329'), provider: 'offline' },
    user('Which port does the staging database use?'),
  ]);

  it('says that it does not generate, and quotes what it found with where it is from', async () => {
    deepEqual(
      await answerOf(modelOver(talk), asked('Which port does the staging database use?')),
      [
        opening,
        'The best of what I found:',
        '> The staging database listens on 54329.',
        '— Staging, 2026-11-20 12:00, you',
        '> Noted, 54329.',
        '— Staging, 2026-11-20 12:01, assistant (beside a match)',
      ].join('\n\n'),
    );
  });

  it('puts what is told of behind what tells of it: a README behind the code, unless it alone says so', async () => {
    const file = (id: string, text: string): Passage => ({ source: 'file', id, title: `${id}:1`, text, at: null });
    const places = async (...passages: Passage[]): Promise<string[]> => {
      const answer = await answerOf(modelOver([], { files: { candidates: async () => passages } }), asked('plateau of the tide table'));
      return [...answer.matchAll(/^— \[`([^`]+):\d+`/gm)].map(([, path]) => path!);
    };
    const readme = file('README.md', 'The tide table: what a plateau of the tide table is, and how the tide table finds a plateau.');
    const code = file('src/table.js', 'export const plateau = 2; // minutes of a plateau in the tide table');
    deepEqual(await places(readme, code), ['src/table.js', 'README.md']);
    deepEqual(await places(readme, file('src/lamp.js', 'export const tide = 1;')), ['README.md', 'src/lamp.js']);
  });

  it('searches notes and files with the same ranking', async () => {
    const notes = new Map([
      ['ops/ports.md', 'intro\n\nThe lighthouse lamp has 40 watts.\n'],
      ['unreadable.md', ''],
    ]);
    const wanted: unknown[] = [];
    const files = {
      candidates: async (terms: readonly string[], limit: number): Promise<Passage[]> => {
        wanted.push([terms, limit > 0]);
        return [
          {
            source: 'file',
            id: 'src/lamp.ts',
            title: 'src/lamp.ts:7',
            text: 'export const lighthouseLamps = 2;\nexport const other = 1;\n',
            at: null,
          },
        ];
      },
    };
    const model = modelOver(talk, {
      files,
      notes: {
        list: async () => [...notes.keys()].map((path) => ({ path, bytes: 1, modifiedAt: 1 })),
        read: async (path) => (path === 'unreadable.md' ? Promise.reject(new Error('not text')) : notes.get(path)),
      },
    });
    deepEqual((await answerOf(model, asked('lighthouse lamps?'))).split('\n\n'), [
      opening,
      'The best of what I found:',
      '> intro\n> \n> The lighthouse lamp has 40 watts.',
      '— note `ops/ports.md`',
      '```ts\nexport const lighthouseLamps = 2;\nexport const other = 1;\n```',
      '— [`src/lamp.ts:7`](src/lamp.ts#L7)',
    ]);
    deepEqual(wanted, [[['lighthous', 'lamp'], true]]);
  });

  it('streams in pieces that make up the block, reports no usage, and ends once', async () => {
    const events = await eventsOf(modelOver(talk), asked('staging database'));
    const text = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []));
    ok(text.length > 3);
    deepEqual(events.slice(text.length), [
      { type: 'block', index: 0, block: { type: 'text', text: text.join('') } },
      { type: 'stopped', reason: 'end_turn' },
    ]);
  });

  it('never gives the question as its own answer', async () => {
    const repeated = entriesOf([
      user('Which lighthouse is red?'),
      assistant('The northern lighthouse is red.'),
      user('is the lighthouse RED, which?'),
      user('Which lighthouse is red?', 's2'),
      user('Which lighthouse is red? And a long paste that was not sent in full.'),
    ]);
    const text = await answerOf(modelOver(repeated), asked('Which lighthouse is red?'));
    deepEqual(text.match(/^> .*/gm), ['> The northern lighthouse is red.']);
  });

  it('says so when nothing matches', async () => {
    const text = await answerOf(modelOver(talk), asked('zeppelin'));
    match(text, /^Offline: .*\n\nNothing there matches your question\. .*\n\nTo chat with a model, set an API key: /);
    match(await answerOf(modelOver([], { keyHint: () => 'Set a key first.' }), asked('zeppelin')), /\n\nSet a key first\.$/);
  });

  it('explains itself when there is nothing to search for', async () => {
    for (const question of ['Hello!', 'What is this?', '?', 'thanks, bye']) {
      match(
        await answerOf(modelOver(talk), asked(question)),
        /^Offline: .*\n\nAsk about something .*\n\nTo chat with a model, set an API key: /s,
      );
    }
    equal((await answerOf(modelOver(talk), { ...asked(), messages: [] })).startsWith(opening), true);
  });

  it('answers what the user wrote last, not the notices and results around it', async () => {
    const notice = testFrames.notice('usage', 'Paris');
    const messages: ModelMessage[] = [
      { role: 'user', blocks: [{ type: 'text', text: 'Tell me about staging.' }] },
      { role: 'assistant', blocks: [{ type: 'text', text: 'Paris' }] },
      {
        role: 'user',
        blocks: [
          { type: 'tool_result', callId: 'c', text: 'Paris', isError: false },
          { type: 'text', text: 'What about the sky?' },
          { type: 'text', text: notice },
        ],
      },
    ];
    deepEqual((await answerOf(modelOver(talk), { ...asked(), messages })).match(/^> .*/gm), ['> The sky over Paris is grey.']);
  });

  it('shows at most six passages, at most two of one source, each cut to the part that matches', async () => {
    const long = Array.from({ length: 60 }, (_, i) =>
      i === 40 ? 'The beacon is lit.' : `Filler sentence number ${i} about nothing.`,
    ).join(' ');
    const many = entriesOf([
      result('read_file', `${`beacon ${'x '.repeat(500)}\n\n`.repeat(9)}`),
      user(long),
      ...Array.from({ length: 12 }, (_, i) => assistant(`beacon number ${i}`)),
    ]);
    const text = await answerOf(modelOver(many, { session: () => null }), asked('beacon lit'));
    const quotes = text.split('\n\n').filter((part) => part.startsWith('> '));
    equal(quotes.length, 6);
    ok(quotes.every((quote) => quote.length < 750) && quotes.some((quote) => quote.includes('The beacon is lit.')));
  });

  it('does not let files crowd out what was said', async () => {
    const files = {
      candidates: async (): Promise<Passage[]> =>
        Array.from({ length: 20 }, (_, i) => ({
          source: 'file',
          id: `f${i}.md`,
          title: '',
          text: `lighthouse lighthouse lamp ${i}`,
          at: null,
        })),
    };
    const said = entriesOf([
      ...Array.from({ length: 30 }, (_, i) => user(`Something else, number ${i}.`)),
      user('We painted the old lighthouse red in the spring of that year, I think.'),
      assistant('Good.'),
    ]);
    const text = await answerOf(modelOver(said, { files, session: () => null }), asked('lighthouse lamp'));
    deepEqual([text.match(/^— \[`f/gm)?.length, text.includes('> We painted the old lighthouse red')], [3, true]);
    const onlyFiles = await answerOf(modelOver([], { files }), asked('lighthouse lamp'));
    equal(onlyFiles.match(/^— \[`f/gm)?.length, 6);
  });

  it('fences code so that its own fences stay inside', async () => {
    const files = {
      candidates: async (): Promise<Passage[]> => [
        { source: 'file', id: 'a.ts', title: 'a.ts:1', text: 'const zeppelin = `\n```\n`;\n', at: null },
      ],
    };
    match(
      await answerOf(modelOver([], { files }), asked('zeppelin')),
      /\n````ts\nconst zeppelin = `\n```\n`;\n````\n\n— \[`a\.ts:1`\]\(a\.ts#L1\)/,
    );
  });

  it('proposes a note when the request asks for notes', async () => {
    const nudge = testFrames.notice('notes', 'The context window is 50 % full.', { from: 'user' });
    equal(isNudgeText(nudge), true);
    const text = await answerOf(modelOver([]), asked('Remember that Priya owns the audit, due 12 March.', nudge));
    match(text, /\n\n---\nThe context is filling up, .*:\n\n- Remember that Priya owns the audit, due 12 March\.$/s);
    equal((await answerOf(modelOver([]), asked('Priya owns the audit.'))).includes('save this as a note'), false);
    const custom = modelOver([], { isNudge: (block) => block === 'NUDGE' });
    equal((await answerOf(custom, asked('NUDGE', 'Priya owns the audit.'))).includes('- Priya owns the audit.'), true);
  });

  it('names what could not be searched and answers from the rest', async () => {
    const store = { ...historyOf([]), search: () => Promise.reject(new StoreError('io', 'disk gone')) };
    const files = {
      candidates: async (): Promise<Passage[]> => [{ source: 'file', id: 'a.ts', title: 'a.ts:1', text: 'zeppelin', at: null }],
    };
    const text = await answerOf(modelOver([], { store, files }), asked('zeppelin'));
    match(text, /\n```ts\nzeppelin\n```\n\n— \[`a\.ts:1`\]\(a\.ts#L1\)\n\nThe history could not be searched: disk gone$/);
  });

  it('ends as cancelled when aborted, before, while and after searching', async () => {
    const cancelled = { type: 'failed', failure: { reason: 'cancelled', detail: 'Cancelled' } };
    deepEqual(await eventsOf(modelOver(talk), asked('staging'), AbortSignal.abort()), [cancelled]);

    const during = new AbortController();
    const history = historyOf(talk);
    const store = { ...history, search: (query: SearchQuery) => (during.abort(), history.search(query)) };
    deepEqual((await eventsOf(modelOver([], { store }), asked('staging'), during.signal)).at(-1), cancelled);

    const between = new AbortController();
    const events: ModelEvent[] = [];
    for await (const event of modelOver(talk).stream(asked('staging'), between.signal)) {
      events.push(event);
      if (events.length === 2) between.abort();
    }
    deepEqual([events.length, events.at(-1)], [3, cancelled]);
  });

  it('describes itself', async () => {
    const info = {
      provider: 'offline',
      id: 'offline',
      name: 'Offline',
      window: 200_000,
      maxOutput: 8_192,
      source: 'table',
      thinking: 'none',
    };
    const model = modelOver([]);
    deepEqual(
      {
        provider: model.provider,
        generates: model.generates,
        listModels: await model.listModels(),
        describe: await model.describe('offline'),
      },
      { provider: 'offline', generates: false, listModels: [info], describe: info },
    );
    await rejects(model.describe('other'), (error) => ModelError.is(error) && error.failure.reason === 'unknown_model');
  });

  it('takes a pasted page as a question', async () => {
    const page = Array.from({ length: 20_000 }, (_, i) => `word${i}`).join(' ');
    const text = await answerOf(modelOver(entriesOf([assistant('word19999 is the last')])), asked(page));
    match(text, /> word19999 is the last/);
  });
});
