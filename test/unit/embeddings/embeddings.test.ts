import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { EmbeddingChoice, EmbeddingProgress } from '../../../src/core/embeddings/embeddings';
import type { SessionStore } from '../../../src/core/ports';
import { ModelError } from '../../../src/core/models/modelEvent';
import { createRecallTool } from '../../../src/core/recall/recallTool';
import { sealDigits } from '../../../src/core/frames/frames';
import { problemOf } from '../../../src/node/embeddings/embeddingEndpoint';
import { Embeddings } from '../../../src/node/embeddings/embeddings';
import { usualPatienceMs } from '../../../src/node/embeddings/queryVectors';
import { systemClock } from '../../../src/node/runtime/systemClock';
import { silentLog } from '../../support/chat/conversationRig';
import { unreadable } from '../../support/servers/madeVectors';
import { ollamaEmbedder, startOllamaServer } from '../../support/servers/ollamaServer';
import { openaiEmbedder, startOpenaiServer } from '../../support/servers/openaiServer';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';

const key = 'sk-embeddings-0123456789';

const servers = {
  ollama: { start: () => startOllamaServer(), model: ollamaEmbedder, path: '/api/embed' },
  'openai-compatible': { start: () => startOpenaiServer({ apiKey: key }), model: openaiEmbedder, path: '/v1/embeddings' },
} as const;

for (const provider of ['ollama', 'openai-compatible'] as const) {
  describe(`finding by meaning over ${provider}`, () => {
    const { start, model, path } = servers[provider];
    let temp: TempFolder;
    let server: Awaited<ReturnType<typeof startOllamaServer>> | Awaited<ReturnType<typeof startOpenaiServer>>;
    let store: SessionStore;
    let choice: EmbeddingChoice | null;
    let embeddings: Embeddings;
    let told: EmbeddingProgress[];
    let address: string;
    let last: string | null;
    let isClosed: boolean;
    /** The model of a busy machine is no slow server. */
    let queryMs: number;

    beforeEach(async () => {
      temp = tempFolder();
      server = await start();
      address = server.url;
      choice = { provider, model };
      told = [];
      [last, isClosed, queryMs] = [null, false, 20_000];
      embeddings = new Embeddings({
        choice: () => choice,
        reach: async (asked, url = address) =>
          asked === 'ollama'
            ? { provider: 'ollama', baseURL: url, contextTokens: null }
            : { provider: 'openai-compatible', baseURL: url, apiKey: key, api: 'chat-completions', contextTokens: null },
        clock: { ...systemClock, after: (ms, run) => systemClock.after(ms === usualPatienceMs ? queryMs : ms, run) },
        log: silentLog,
      });
      embeddings.onDidChange((progress) => told.push(progress));
      store = embeddings.searching(await openTestStore(temp.path));
      await store.createSession({ uuid: 's', channel: 'cli', createdAt: 1 });
    });
    afterEach(async () => {
      embeddings.dispose();
      await store.close();
      if (!isClosed) await server.close();
      temp.remove();
    });

    const say = async (...texts: string[]) => {
      for (const text of texts) {
        const entry = userMessage('s', last, text);
        await store.append('s', { entries: [entry] });
        last = entry.uuid;
      }
    };
    const found = async (text: string) =>
      (await store.search({ text, limit: 3, byMeaning: true })).hits.map((hit) => [hit.text, hit.meant === true]);
    const asked = () => server.requests.filter((request) => request.path === path);
    const saloon = 'The saloon needs new tyres before winter.';

    it('has vectors made of what was said, and finds what has none of the words', async () => {
      await say(saloon, 'We adopted two puppies.', 'Nothing else of note today.');
      deepEqual(await found('automobile'), []);
      await embeddings.finish(store);
      deepEqual((await found('automobile'))[0], [saloon, true]);
      // What the program asks by itself, and often, is not sent.
      deepEqual((await store.search({ text: 'vehicle', limit: 3 })).hits, []);
      const inputs = asked().flatMap(({ body }) => body['input']);
      deepEqual(inputs, ['automobile', saloon, 'We adopted two puppies.', 'Nothing else of note today.']);
      deepEqual(told.at(-1), { model, embedded: 3, passages: 3, full: false, state: 'done', error: null });
      const tool = createRecallTool({ store, session: () => 's', newSeal: () => '0'.repeat(sealDigits) });
      match(
        (await tool.run({ query: 'hound' }, new AbortController().signal)).text,
        /id="#2"[^\n]* found="by meaning">\nWe adopted two puppies/,
      );
    });

    it('goes on in the background with what is said later, until the store is closed', async () => {
      await say(saloon);
      embeddings.follow(store);
      await waitFor('vectors', async () => (await store.vectorStatus()).embedded === 1);
      await waitFor('progress', () => told.at(-1)?.state === 'done');
      await say('The ferry leaves at seven.');
      embeddings.wake();
      await waitFor('vectors', async () => (await store.vectorStatus()).embedded === 2);
      deepEqual((await found('vessel'))[0], ['The ferry leaves at seven.', true]);
    });

    it('searches by words at once when the server is away, and says why', async () => {
      await say(saloon);
      await embeddings.finish(store);
      await server.close();
      isClosed = true;
      deepEqual(await found('tyres winter'), [[saloon, false]]);
      match(embeddings.searchProblem ?? '', /The embedding server does not answer/);
      embeddings.follow(store);
      await say('The ferry leaves at seven.');
      embeddings.wake();
      await waitFor('progress', () => told.at(-1)?.state === 'waiting');
      match(told.at(-1)?.error ?? '', /The embedding server does not answer/);
      equal(told.at(-1)?.embedded, 1);
    });

    it('waits once for a slow server, not again until it has answered, and then uses it', async () => {
      await say(saloon);
      await embeddings.finish(store);
      queryMs = usualPatienceMs;
      let answer = () => undefined as void;
      server.listing = new Promise((resolve) => (answer = resolve));
      const atFirst = asked().length;
      deepEqual(await found('automobile'), []);
      match(embeddings.searchProblem ?? '', /has not answered within 400 ms/);
      await waitFor('the request to arrive', () => asked().length > atFirst);
      const before = asked().length;
      deepEqual(await found('vehicle'), []);
      equal(asked().length, before);
      answer();
      // Until then every search by words alone is told why: the late answer takes nothing back of that.
      await waitFor('its answer', async () => {
        const [first] = await found('automobile');
        if (first?.[1] === true) return true;
        match(embeddings.searchProblem ?? '', /has not answered within 400 ms/);
        return undefined;
      });
      equal(embeddings.searchProblem, null);
      // The vector that came late is kept.
      equal(asked().length, before);
    });

    it('leaves out a text that the model cannot read, and is stopped by nothing else than the server', async () => {
      await say(saloon, `A page that is ${unreadable}.`, 'We adopted two puppies.');
      await embeddings.finish(store);
      deepEqual((await found('hound'))[0], ['We adopted two puppies.', true]);
      deepEqual((await found('vehicle'))[0], [saloon, true]);
      const before = asked().length;
      await embeddings.finish(store);
      equal(asked().length, before);
      choice = { provider, model: 'nobody-knows-it' };
      await say('The ferry leaves at seven.');
      const failure = await embeddings.finish(store).catch((error: unknown) => error);
      ok(ModelError.is(failure));
      equal(failure.failure.reason, 'unknown_model');
    });

    it('does nothing where no model is named', async () => {
      choice = null;
      await say(saloon);
      await embeddings.finish(store);
      deepEqual(await found('tyres'), [[saloon, false]]);
      deepEqual(
        [server.requests, embeddings.progress, embeddings.searchProblem, (await store.vectorStatus()).space],
        [[], null, null, null],
      );
    });
  });
}

describe('what is wrong with an embedding server', () => {
  it('is told by what somebody can do about it', () => {
    const reasons = ['network', 'overloaded', 'rate_limited', 'no_key', 'bad_key', 'redirected', 'unknown_model'] as const;
    deepEqual(
      [...reasons.map((reason) => problemOf(new ModelError({ reason, detail: 'x' }))), problemOf(new Error('y'))],
      [
        ...['network', 'overloaded', 'rate_limited'].map(() => 'The embedding server does not answer: x'),
        ...['no_key', 'bad_key'].map(() => 'The embedding server refuses the key: x'),
        'x',
        'The embedding server cannot do it: x',
        'y',
      ],
    );
  });
});
