import { deepStrictEqual, match, ok } from 'node:assert';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { HistoryDirectory } from '../../../src/node/sync/historyDirectory';
import { readPhrase } from '../../../src/node/sync/historyKeys';
import { PostgresServer } from '../../support/sync/postgresServer';
import { CliRun } from '../../support/run/cliRun';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { waitFor } from '../../support/waitFor';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../support/store/storeTemp';

describe('threadkeeper sync', function () {
  this.timeout(240_000);
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  /** Each device has its own settings, where its key is. */
  const sync = (device: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runCliToEnd(['sync', '--store', join(temp.path, device), ...args], {
      ...process.env,
      XDG_CONFIG_HOME: join(temp.path, `${device}-settings`),
      ...more,
    });
  const inStore = async <T>(device: string, work: (store: Awaited<ReturnType<typeof openTestStore>>) => Promise<T>): Promise<T> => {
    const store = await openTestStore(join(temp.path, device));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  const say = (device: string, session: string, text: string) =>
    inStore(device, async (store) => {
      const { leaf } = await store.createSession({ uuid: session, channel: 'cli', createdAt: 1_763_800_000_000, title: 'Marmalade' });
      await store.append(session, { entries: [userMessage(session, leaf, text)] });
    });
  const texts = (device: string, session: string) =>
    inStore(device, async (store) => {
      const { entries } = await store.liveBranch(session);
      return entries.flatMap(({ content }) => (content.type === 'message' ? [content.text] : []));
    });

  const engines: readonly (readonly [string, () => Promise<{ address: string; content(): string; stop(): Promise<void> }>])[] = [
    [
      'a folder',
      () => {
        const folder = join(temp.path, 'carried');
        mkdirSync(folder);
        const content = () =>
          readdirSync(folder, { recursive: true, encoding: 'utf8' })
            .map((name) => join(folder, name))
            .map((file) => (statSync(file).isFile() ? `${file}\n${readFileSync(file, 'latin1')}` : file))
            .join('\n');
        return Promise.resolve({ address: folder, content, stop: () => Promise.resolve() });
      },
    ],
    [
      'a PostgreSQL server',
      async () => {
        const server = await PostgresServer.start();
        const content = () =>
          readdirSync(server.folder, { recursive: true, encoding: 'utf8' })
            .map((name) => join(server.folder, name))
            .filter((file) => statSync(file).isFile())
            .map((file) => readFileSync(file, 'latin1'))
            .join('\n');
        return { address: server.address, content, stop: () => server.stop() };
      },
    ],
  ];

  for (const [name, start] of engines) {
    it(`carries what is said from one store to another over ${name}, which has none of it`, async function () {
      if (name !== 'a folder' && !PostgresServer.isThere) this.skip();
      const engine = await start();
      const session = testUuid();
      await say('one', session, 'The quince marmalade needs more sugar.');
      const begun = await sync('one', ['--new', engine.address]);
      deepStrictEqual([begun.code, begun.err], [0, '']);
      const phrase = /\n\n((?:[a-z]+ ){23}[a-z]+)\n\n/.exec(begun.out)?.[1] ?? '';
      match(begun.out, /Recovery phrase, shown this once[\s\S]*\n0 records received, 3 sent\.\n$/);
      const joined = await sync('two', ['--join', engine.address], { THREADKEEPER_SYNC_PHRASE: phrase });
      deepStrictEqual([joined.code, joined.out, joined.err], [0, '3 records received, 0 sent.\n', '']);
      deepStrictEqual(await texts('two', session), ['The quince marmalade needs more sugar.']);
      await say('two', session, 'Said on the second machine.');
      deepStrictEqual((await sync('two', [])).out, '0 records received, 1 sent.\n');
      deepStrictEqual((await sync('one', ['--once'])).out, '1 record received, 0 sent.\n');
      deepStrictEqual(await texts('one', session), ['The quince marmalade needs more sugar.', 'Said on the second machine.']);
      const {
        engine: address,
        records,
        devices,
        waits,
      } = JSON.parse((await sync('one', ['--status', '--json'])).out) as Record<string, unknown>;
      deepStrictEqual([address, records, devices, waits], [engine.address, 4, 2, false]);
      const kept = engine.content();
      ok(kept.length > 1_000);
      for (const word of ['quince', 'Marmalade', 'second machine', session, phrase.split(' ').slice(0, 3).join(' ')])
        ok(!kept.includes(word), `${word} is in ${name}`);
      await engine.stop();
    });
  }

  it('keeps the key in a file that only the user can open, and nothing of it in the store', async () => {
    const folder = join(temp.path, 'carried');
    mkdirSync(folder);
    await say('one', testUuid(), 'Hello');
    const { out } = await sync('one', ['--new', folder]);
    const phrase = /\n\n((?:[a-z]+ ){23}[a-z]+)\n\n/.exec(out)![1]!;
    const keys = join(temp.path, 'one-settings', 'threadkeeper', 'sync');
    const kept = readdirSync(keys).map((name) => join(keys, name));
    deepStrictEqual([kept.length, kept.map((file) => extname(file))], [1, ['.key']]);
    if (process.platform !== 'win32') deepStrictEqual((statSync(kept[0]!).mode & 0o777).toString(8), '600');
    const entropy = Buffer.from(readPhrase(phrase));
    ok(Buffer.from(readFileSync(kept[0]!, 'utf8').trim(), 'hex').equals(entropy), 'the file has the key');
    const store = readdirSync(join(temp.path, 'one'), { recursive: true, encoding: 'utf8' })
      .map((name) => join(temp.path, 'one', name))
      .filter((file) => statSync(file).isFile())
      .map((file) => readFileSync(file, 'latin1'))
      .join('\n');
    ok(store.length > 1_000);
    for (const form of [entropy.toString('latin1'), entropy.toString('hex'), entropy.toString('base64'), phrase.slice(0, 30)])
      ok(!store.includes(form), 'the store has the key');
  });

  it('goes on until it is interrupted: what is said on one machine comes to the other, and the status says what is there', async () => {
    const folder = join(temp.path, 'carried');
    mkdirSync(folder);
    const begun = await sync('one', ['--new', folder]);
    const phrase = /\n\n((?:[a-z]+ ){23}[a-z]+)\n\n/.exec(begun.out)![1]!;
    deepStrictEqual((await sync('two', ['--join', folder], { THREADKEEPER_SYNC_PHRASE: phrase })).code, 0);
    const watching = ['one', 'two'].map(
      (device) =>
        new CliRun(['sync', '--store', join(temp.path, device), '--watch', '--json'], {
          XDG_CONFIG_HOME: join(temp.path, `${device}-settings`),
        }),
    );
    const [one, two] = watching as [CliRun, CliRun];
    // It is told, and has waited since.
    const session = testUuid();
    await say('one', session, 'More sugar.');
    // In one piece or in two: a round may come between the session and its message.
    const sum = (run: CliRun, what: string) => run.lines.reduce((all, line) => all + Number(line[what] ?? 0), 0);
    await waitFor('the message to come over', async () => (await texts('two', session)).length > 0);
    await waitFor('both to tell of it', () => sum(one, 'pushed') > 0 && sum(one, 'pushed') === sum(two, 'pulled'));
    const records = sum(one, 'pushed');
    for (const { pid } of watching) process.kill(pid!, 'SIGINT');
    deepStrictEqual(
      [await Promise.all(watching.map(({ exited }) => exited)), await texts('two', session)],
      [[0, 0], ['More sugar.']],
      watching.map(({ stderr }) => stderr).join(''),
    );
    const device = await inStore('two', async (store) => (await store.syncHeld()).device);
    const status = async () => (await sync('two', ['--status'])).out;
    const head = `History "main" over ${folder}\nThis device: ${device}\n${records} records of 1 device\n`;
    deepStrictEqual(await status(), `${head}Everything of this store stands in its log.\n`);
    await say('two', testUuid(), 'And salt.');
    deepStrictEqual(await status(), `${head}There are changes to be sent.\n`);
  });

  it('refuses a wrong phrase before anything is taken over, and says what is wrong', async () => {
    const folder = join(temp.path, 'carried');
    mkdirSync(folder);
    await say('one', testUuid(), 'Hello');
    deepStrictEqual((await sync('one', [])).code, 2);
    const begun = await sync('one', ['--new', folder]);
    const phrase = /\n\n((?:[a-z]+ ){23}[a-z]+)\n\n/.exec(begun.out)![1]!;
    const other = await sync('three', ['--new', join(temp.path)]);
    const wrong = /\n\n((?:[a-z]+ ){23}[a-z]+)\n\n/.exec(other.out)![1]!;
    const join2 = (typed: string, more: readonly string[] = []) =>
      sync('two', ['--join', folder, ...more], { THREADKEEPER_SYNC_PHRASE: typed });
    for (const [attempt, said] of [
      [() => join2(wrong), /carried has no history of this recovery phrase and name/],
      [() => join2(phrase, ['--name', 'other']), /carried has no history of this recovery phrase and name/],
      [() => join2(phrase.replace(/^\S+/, 'threadkeeper')), /Word 1 of the recovery phrase, "threadkeeper", is not in the list of words/],
      [() => join2('zoo zoo'), /A recovery phrase has 24 words; this one has 2/],
    ] as const) {
      const { code, err, out } = await attempt();
      deepStrictEqual([code, out], [1, '']);
      match(err, said);
    }
    deepStrictEqual(await inStore('two', async (store) => [await store.syncSetup(), await store.listSessions()]), [null, []]);
    deepStrictEqual((await sync('one', ['--join', folder])).code, 2);
    match((await sync('two', ['--new', 'postgres://me:secret@db.example.com/d'])).err, /Leave the password out of the address/);
    const settings = join(temp.path, 'one-settings', 'threadkeeper', 'sync');
    const [key] = readdirSync(settings);
    if (process.platform !== 'win32')
      deepStrictEqual([statSync(settings).mode & 0o777, statSync(join(settings, key!)).mode & 0o777], [0o700, 0o600]);
    const { history } = JSON.parse((await sync('one', ['--status', '--json'])).out) as { readonly history: string };
    const store = readFileSync(join(temp.path, 'one', 'threadkeeper.db'), 'latin1');
    ok(!store.includes(readFileSync(join(settings, key!), 'utf8').trim()) && key === `${history}.key`);
    // By the phrase alone, which has one history.
    deepStrictEqual((await sync('four', ['--join', folder], { THREADKEEPER_SYNC_PHRASE: phrase })).code, 0);
    const directory = await HistoryDirectory.open(folder, readPhrase(phrase), { create: false, bundles: '' });
    const listed = await directory.list();
    deepStrictEqual([listed.histories.map(({ name }) => name), listed.devices.length], [['main'], 2]);
    await directory.close();
    deepStrictEqual((await sync('four', ['--remove'])).code, 2);
    match((await sync('four', ['--leave', '--remove'])).out, /has nothing of it any more/);
    match((await sync('one', [])).err, /carried has no history of this recovery phrase and name/);
    const left = await sync('one', ['--leave']);
    match(left.out, /This store goes on by itself/);
    deepStrictEqual([readdirSync(settings), (await sync('one', ['--status'])).out], [[], 'This store is not synchronized.\n']);
  });

  it('sets nothing up whose key it cannot keep: nobody would ever see the phrase', async () => {
    await inStore('one', async () => undefined);
    writeFileSync(join(temp.path, 'blocked'), 'a file');
    mkdirSync(join(temp.path, 'carried'));
    const { code } = await sync('one', ['--new', join(temp.path, 'carried')], { XDG_CONFIG_HOME: join(temp.path, 'blocked') });
    deepStrictEqual([code, (await sync('one', ['--status'])).out], [1, 'This store is not synchronized.\n']);
  });
});
