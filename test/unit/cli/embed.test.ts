import { deepEqual, equal, match } from 'node:assert/strict';
import { ollamaEmbedder, startOllamaServer } from '../../support/servers/ollamaServer';
import { openaiEmbedder, startOpenaiServer } from '../../support/servers/openaiServer';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';

const key = 'sk-embeddings-0123456789';

describe('threadkeeper embed, and search by meaning', () => {
  let temp: TempFolder;
  before(async () => {
    temp = tempFolder();
    const store = await openTestStore(temp.path);
    await store.createSession({ uuid: 's', channel: 'cli', createdAt: 1 });
    const texts = ['The saloon needs new tyres before winter.', 'We adopted two puppies.', 'thanks'];
    let parent: string | null = null;
    for (const text of texts) {
      const entry = userMessage('s', parent, text);
      await store.append('s', { entries: [entry] });
      parent = entry.uuid;
    }
    await store.close();
  });
  after(() => temp.remove());

  const run = (command: string, ...args: string[]) =>
    runCliToEnd([command, '--store', temp.path, ...args], { ...process.env, THREADKEEPER_EMBEDDINGS_KEY: key });
  /** Tried again where a busy machine has the server answer later than a search waits for it. */
  const search = (...args: string[]) =>
    waitFor('an answer in time', async () => {
      const ended = await run('search', ...args);
      return ended.err.includes('has not answered within') ? undefined : ended;
    });
  const status = async () => JSON.parse((await run('embed', '--status', '--json')).out) as unknown;

  it('reads the history with the model that is named, and finds what has none of the words', async () => {
    deepEqual(await status(), { model: null, embedded: 0, passages: 0, bytes: 0, full: false });
    const openai = await startOpenaiServer({ apiKey: key });
    const ollama = await startOllamaServer();
    for (const [name, server] of [
      [`openai-compatible/${openaiEmbedder}`, openai],
      [`ollama/${ollamaEmbedder}`, ollama],
    ] as const) {
      const model = ['--embeddings', name, '--embeddings-url', server.url];
      const before = await search('automobile', ...model);
      equal(before.code, 3);
      match(
        before.err,
        /Searched by words alone\. This model has not read the history: threadkeeper embed --embeddings \S+ has it do so\./,
      );
      const made = await run('embed', ...model);
      deepEqual([made.code, made.out], [0, `2 of 2 passages have a vector of ${name}, 0.0 MB.\n`]);
      deepEqual(await status(), { model: name, embedded: 2, passages: 2, bytes: 16, full: false });
      const found = await search('automobile', '--json', ...model);
      equal(found.err, '');
      const [first] = found.out.split('\n').map((line) => (line === '' ? {} : (JSON.parse(line) as Record<string, unknown>)));
      deepEqual([first?.['text'], first?.['meant']], ['The saloon needs new tyres before winter.', true]);
      match((await search('automobile', ...model)).out, /\(has none of the words; found by its meaning\)\n {4}The saloon/);
      await server.close();
      const away = await search('tyres', ...model);
      deepEqual([away.code, /Searched by words alone\. The embedding server does not answer/.test(away.err)], [0, true]);
    }
  });

  it('says what is wrong with the command line', async () => {
    for (const [args, text] of [
      [['embed'], /--embeddings is missing/],
      [['embed', '--embeddings', 'claude/x'], /is ollama\/MODEL or openai-compatible\/MODEL; "claude\/x" is neither/],
      [['search', 'x', '--embeddings', 'openai-compatible/x'], /needs --embeddings-url/],
      [['search', 'x', '--embeddings-url', 'http://localhost'], /needs --embeddings PROVIDER\/MODEL/],
    ] as const) {
      const { code, err } = await run(args[0], ...args.slice(1));
      equal(code, 2, err);
      match(err, text);
    }
  });
});
