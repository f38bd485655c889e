import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { resolveStoreFolder } from '../../../src/node/workspaces/workspaceRegistry';
import { splitWords } from '../../../src/node/cli/flags';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';

describe('threadkeeper search', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let ids: string[];
  const at = Date.UTC(2026, 10, 20, 12);

  before(async () => {
    temp = tempFolder();
    store = await openTestStore(temp.path);
    ids = [];
    for (const [uuid, title, texts] of [
      ['s1', 'Ports', ['It listens on 54329 \u001b[31mred', 'filler']],
      ['s2', '', ['Another 54329 here']],
    ] as const) {
      ids.push(
        (
          await store.createSession({
            uuid,
            key: `cli:${uuid}`,
            channel: 'cli',
            title,
            createdAt: at,
            metadata: uuid === 's1' ? { tags: ['net'], ticket: 7 } : {},
          })
        ).id,
      );
      let parent: string | null = null;
      for (const text of texts) {
        const entry = userMessage(uuid, parent, text, { createdAt: at, uuid: `${uuid}-${text.slice(0, 2)}` });
        await store.append(uuid, { entries: [entry] });
        parent = entry.uuid;
      }
    }
  });
  after(async () => {
    await store.close();
    temp.remove();
  });

  /** While another program owns the store. */
  const run = (...args: string[]) => runCliToEnd(['search', ...args]);
  const json = async (...args: string[]) => {
    const { code, out, err } = await run('--store', temp.path, '--json', ...args);
    assert.equal(code, 0, err);
    return out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  it('prints a JSON object a line with what each result is', async () => {
    const [first, ...more] = await json('54329', '--k', '1');
    assert.deepEqual([Object.keys(first!), more.length], [['entryId', 'sessionId', 'role', 'time', 'score', 'text'], 0]);
    const all = await json('54329', '--all');
    assert.deepEqual(
      all
        .filter(({ text }) => String(text).includes('54329'))
        .map(({ entryId, sessionId, role, time }) => ({ entryId, sessionId, role, time }))
        .sort((x, y) => String(x.entryId).localeCompare(String(y.entryId))),
      [
        { entryId: 's1-It', sessionId: ids[0], role: 'user', time: '2026-11-20T12:00:00.000Z' },
        { entryId: 's2-An', sessionId: ids[1], role: 'user', time: '2026-11-20T12:00:00.000Z' },
      ],
    );
    assert.ok(all.every(({ score }) => typeof score === 'number' && score > 0));
  });

  it('keeps to a session, by its id or uuid', async () => {
    for (const name of [ids[1]!, 's2'])
      assert.deepEqual(
        (await json('54329', '--session', name)).map(({ entryId }) => entryId),
        ['s2-An'],
      );
  });

  it('keeps to a role and to days', async () => {
    assert.equal((await json('54329', '--role', 'user', '--from', '2026-11-19', '--to', '2026-11-21')).length, 3);
    for (const filter of [
      ['--role', 'assistant'],
      ['--from', '2026-11-22'],
      ['--to', '2026-11-18'],
    ])
      assert.equal((await run('54329', '--store', temp.path, ...filter)).code, 3);
    for (const filter of [
      ['--role', 'me'],
      ['--from', 'yesterday'],
      ['--to', '2026-02-30'],
    ])
      assert.equal((await run('54329', '--store', temp.path, ...filter)).code, 2);
  });

  it('keeps to a tag, to values of the metadata and to a model', async () => {
    for (const filter of [
      ['--tag', 'net'],
      ['--meta', 'ticket=7'],
    ])
      assert.deepEqual(new Set((await json('54329', ...filter)).map(({ sessionId }) => sessionId)), new Set([ids[0]]));
    for (const filter of [
      ['--tag', 'other'],
      ['--meta', 'ticket=8'],
      ['--model', 'large'],
    ])
      assert.equal((await run('54329', '--store', temp.path, ...filter)).code, 3);
    assert.equal((await run('54329', '--store', temp.path, '--meta', 'ticket')).code, 2);
  });

  it('prints a line for people, without control characters of the history', async () => {
    const { code, out } = await run('54329', '--store', temp.path, '--session', 's1');
    assert.equal(code, 0);
    assert.match(out, /^s1-It {2}\d{8}_001 Ports {2}user {2}2026-11-20 \d\d:00 {2}\d+\.\d\d\n {4}It listens on 54329  ?\[31mred\n/);
  });

  it('searches the histories of all workspaces, and names those that it could not read', async () => {
    const registry = join(temp.path, 'global');
    const folders: string[] = [];
    for (const name of ['harbor', 'quay', 'wreck']) {
      const options = { globalDir: registry, candidateDir: join(temp.path, name), workspaceUris: [`file:///home/me/${name}`] };
      folders.push((await resolveStoreFolder(options)).folder);
    }
    for (const [i, text] of ['ferry 54330', 'the ferry leaves'].entries()) {
      const one = await openTestStore(folders[i]!);
      await one.createSession({ uuid: 'f', channel: 'cli', createdAt: at });
      await one.append('f', { entries: [userMessage('f', null, text, { createdAt: at, uuid: `f${i}` })] });
      await one.close();
    }
    mkdirSync(folders[2]!, { recursive: true });
    writeFileSync(join(folders[2]!, 'threadkeeper.db'), 'x'.repeat(4096));
    const { code, out, err } = await run('ferry 54330', '--everywhere', '--registry', registry, '--json');
    const found = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      [code, found.map(({ workspace, entryId }) => [workspace, entryId])],
      [
        0,
        [
          ['harbor', 'f0'],
          ['quay', 'f1'],
        ],
      ],
      err,
    );
    assert.match(err, /^Not searched: wreck: /m);
    const nothing = await run('zebra', '--everywhere', '--registry', registry);
    assert.match(nothing.err, /^Nothing matches "zebra" in 2 workspaces\.$/m);
    const byMeaning = await run('ferry', '--everywhere', '--registry', registry, '--embeddings', 'ollama/any');
    assert.match(byMeaning.err, /--everywhere searches by words alone/);
    assert.deepEqual([nothing.code, byMeaning.code], [1, 2]);
  });

  it('tells what is wrong by its exit code', async () => {
    const cases: [string[], number, RegExp][] = [
      [['--help'], 0, /^$/],
      [['zebra', '--store', temp.path], 3, /Nothing matches "zebra"/],
      [['the', '--store', temp.path], 3, /no words to search for/],
      [['--store', temp.path], 2, /A query is missing.*search --help/s],
      [['54329'], 2, /Say either --store DIR or --everywhere/],
      [['54329', '--store', temp.path, '--k', '0'], 2, /--k is a whole number/],
      [['54329', '--store', temp.path, '--all', '--session', 's1'], 2, /exclude each other/],
      [['54329', '--store', temp.path, '--session', 'nobody'], 1, /There is no session "nobody"/],
      [['54329', '--store', join(temp.path, 'nowhere')], 1, /does not exist/],
      [['--store', temp.path, '--', '--store', '" OR (*'], 3, /Nothing matches/],
    ];
    for (const [args, code, message] of cases) {
      const result = await run(...args);
      assert.equal(result.code, code, `${args.join(' ')}: ${result.err}`);
      assert.match(result.err, message);
    }
  });

  it('parts words from flags wherever they stand', () => {
    const specs = [
      { name: 'store', value: 'DIR', help: '' },
      { name: 'json', help: '' },
    ];
    assert.deepEqual(splitWords(['a', '--store', 'x', 'b', '--json', 'c', '--', '--d'], specs), {
      words: ['a', 'b', 'c', '--d'],
      rest: ['--store', 'x', '--json'],
    });
  });
});
