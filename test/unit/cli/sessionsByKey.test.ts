import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { endRuns } from '../../support/endRuns';
import { projectRoot } from '../../support/paths';
import { CliRun } from '../../support/run/cliRun';
import { MessagesApi } from '../../support/messagesApi/messagesApi';
import { reply } from '../../support/messagesApi/messagesApiScript';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';

describe('threadkeeper with sessions by key, metadata and without history', function () {
  // Up to eight processes one after the other, each of which opens the store.
  this.timeout(60_000);
  let folder: string;
  let api: MessagesApi;
  const runs: CliRun[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'threadkeeper-key-'));
    api = await MessagesApi.start();
    api.setModel('claude-test', { window: 12_000, maxOutput: 1_000 });
  });
  afterEach(async () => {
    await endRuns(runs);
    await api.close();
    await rm(folder, { recursive: true, force: true });
  });

  const provider = () => ['--base-url', api.url, '--model', 'claude-test'];
  const env = () => ({ PATH: process.env['PATH'], ANTHROPIC_API_KEY: api.apiKey });

  function start(...flags: string[]): CliRun {
    const run = new CliRun(['run', ...provider(), ...flags], { ANTHROPIC_API_KEY: api.apiKey });
    runs.push(run);
    return run;
  }

  async function say(text: string, ...flags: string[]): Promise<Record<string, unknown>> {
    const run = start('--store', folder, ...flags);
    const ready = await run.until(({ type }) => type === 'ready');
    run.send({ cmd: 'send', id: 1, text });
    await run.done(1);
    run.end();
    await run.exited;
    return ready;
  }

  async function inStore<T>(work: (store: SessionStore) => Promise<T>): Promise<T> {
    const store = await openTestStore(folder);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  const said = (uuid: string) =>
    inStore(async (store) =>
      (await store.page(uuid, { limit: 100 })).entries.flatMap(({ content }) => (content.type === 'message' ? [content.text] : [])),
    );

  const list = async (...flags: string[]) =>
    (await runCliToEnd(['sessions', '--store', folder, '--json', ...flags])).out
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('goes on in the session with a key, and begins another for another key (seed 003)', async () => {
    const first = await say('one', '--key', 'telegram:123456');
    const other = await say('else', '--key', 'whatsapp:+1234567890');
    const again = await say('two', '--key', 'telegram:123456');
    assert.deepEqual(
      { firstResumed: first['resumed'], againResumed: again['resumed'], againUuid: again['uuid'] },
      { firstResumed: false, againResumed: true, againUuid: first['uuid'] },
    );
    assert.notEqual(other['uuid'], first['uuid']);
    assert.deepEqual([again['key'], (await list('--key', 'telegram:123456')).length, (await list()).length], ['telegram:123456', 1, 2]);
    await inStore((store) => store.updateSession(String(first['uuid']), { deletedAt: 1 }));
    assert.equal((await say('three', '--key', 'telegram:123456'))['uuid'], first['uuid']);
    assert.equal((await list('--trashed')).length, 0, 'a key never leads into the trash');
    const bad = await runCliToEnd(['run', '--store', folder, ...provider(), '--key', 'nochannel'], env());
    assert.deepEqual([bad.code, /CHANNEL:CHAT/.test(bad.err)], [2, true]);
  });

  it('writes metadata, a cost limit and values of the policy into the session, and lists by them (seed 000)', async () => {
    const flags = [
      '--meta',
      'user_id=user_123',
      '--meta',
      'channel=telegram',
      '--meta',
      'retries=3',
      '--meta',
      'tags=["competitor-analysis","automated"]',
      '--cost-limit',
      '0.50',
      '--set',
      'compaction.triggerPercent=60',
      '--set',
      'compaction.whenFull=truncate',
    ];
    const { uuid } = await say('one', '--policy', 'goose', ...flags);
    await say('other', '--meta', 'user_id=user_9');
    const [session, ...more] = await list('--meta', 'user_id=user_123', '--meta', 'retries=3');
    assert.deepEqual(
      { uuid: session!['uuid'], moreCount: more.length, costLimit: session!['costLimit'], metadata: session!['metadata'] },
      {
        uuid,
        moreCount: 0,
        costLimit: 0.5,
        metadata: { user_id: 'user_123', channel: 'telegram', retries: 3, tags: ['competitor-analysis', 'automated'] },
      },
    );
    assert.deepEqual(session!['policy'], {
      preset: 'goose',
      overrides: { 'compaction.triggerPercent': 60, 'compaction.whenFull': 'truncate' },
    });
    assert.match(
      (await runCliToEnd(['sessions', '--store', folder, '--meta', 'channel=telegram'])).out,
      /user_id=user_123 {2}channel=telegram {2}retries=3/,
    );
    await say('two', '--session', String(uuid), '--meta', 'channel=', '--cost-limit', '0', '--set', 'compaction.triggerPercent=70');
    const [after] = await list('--meta', 'user_id=user_123');
    assert.deepEqual(
      { channel: (after!['metadata'] as Record<string, unknown>)['channel'], costLimit: after!['costLimit'], policy: after!['policy'] },
      {
        channel: undefined,
        costLimit: null,
        policy: { preset: 'goose', overrides: { 'compaction.triggerPercent': 70, 'compaction.whenFull': 'truncate' } },
      },
    );
    for (const wrong of [
      ['--set', 'compaction.nothing=1'],
      ['--set', 'compaction.triggerPercent=often'],
      ['--meta', 'x'],
      ['--cost-limit', 'much'],
    ]) {
      const { code, err } = await runCliToEnd(['run', '--store', folder, ...provider(), ...wrong], env());
      assert.deepEqual([code, err.includes(wrong[0]!)], [2, true], wrong.join(' '));
    }
    assert.equal((await list()).length, 2, 'a command line that cannot be run leaves no session behind');
  });

  it('sends nothing of a turn beyond the cost limit, says why, and goes on when the limit is raised (seed 000)', async () => {
    // Its price is known.
    api.setModel('claude-sonnet-4-5', { window: 12_000, maxOutput: 1_000 });
    const turn = async (text: string, ...flags: string[]) => {
      const run = new CliRun(['run', '--base-url', api.url, '--model', 'claude-sonnet-4-5', '--store', folder, ...flags], env());
      runs.push(run);
      const { uuid } = await run.until(({ type }) => type === 'ready');
      run.send({ cmd: 'send', id: 1, text });
      const { ok, error } = await run.done(1);
      run.end();
      assert.equal(await run.exited, 0);
      return { uuid: String(uuid), ok, error };
    };
    api.enqueue(reply('Forty-two.'));
    const first = await turn('How many?', '--cost-limit', '0.5');
    assert.equal(first.ok, true);
    const before = api.messages.length;
    const stopped = await turn('And now?', '--session', first.uuid, '--cost-limit', '0.001');
    assert.equal(stopped.ok, false);
    const { reason, message } = stopped.error as { reason: string; message: string };
    assert.equal(reason, 'cost_limit');
    assert.match(
      message,
      /^This session has cost \$0\.\d+, and its limit is \$0\.001\. Raise the limit, or start a new session\. Nothing was sent\. Your message is saved\.$/,
    );
    assert.equal(api.messages.length, before, 'nothing was sent');
    assert.deepEqual(await said(first.uuid), ['How many?', 'Forty-two.', 'And now?']);
    api.enqueue(reply('Forty-three.'));
    assert.equal((await turn('Well?', '--session', first.uuid, '--cost-limit', '0.5')).ok, true);
    assert.match(JSON.stringify(api.messages.at(-1)!.body), /How many\?.*Forty-two\..*And now\?.*Well\?/);
    assert.deepEqual(await said(first.uuid), ['How many?', 'Forty-two.', 'And now?', 'Well?', 'Forty-three.']);
  });

  it('lists by creation, title, tokens and cost', async () => {
    await say('short', '--meta', 'n=1');
    api.enqueue(reply('long '.repeat(300)));
    await say('long', '--meta', 'n=2');
    const order = async (...flags: string[]) => (await list(...flags)).map(({ metadata }) => (metadata as { n: number }).n);
    assert.deepEqual(
      [await order(), await order('--sort', 'created'), await order('--sort', 'tokens'), await order('--sort', 'title')],
      [
        [2, 1],
        [2, 1],
        [2, 1],
        [2, 1],
      ],
    );
    await say('again', '--session', String((await list('--meta', 'n=1'))[0]!['uuid']));
    assert.deepEqual(
      [await order(), await order('--sort', 'created')],
      [
        [1, 2],
        [2, 1],
      ],
    );
    assert.equal(typeof (await list('--sort', 'cost'))[0]!['cost'], 'number');
  });

  it('answers without a history, and leaves none (seed 003: heartbeats)', async () => {
    const run = start('--no-history');
    api.enqueue(reply('All well.'), reply('Still well.'));
    run.send({ cmd: 'send', id: 'a', text: 'Is all well?' });
    run.send({ cmd: 'send', id: 'b', text: 'And now?' });
    const [first, second] = [await run.done('a'), await run.done('b')];
    assert.deepEqual([first['text'], second['text'], run.of('usage').length], ['All well.', 'Still well.', 2]);
    assert.deepEqual(
      api.requests.filter(({ path }) => path.endsWith('/messages')).map(({ body }) => (body as { messages: unknown[] }).messages.length),
      [1, 1],
    );
    run.send({ cmd: 'compact', id: 'c' });
    assert.match(String((await run.until(({ type }) => type === 'error'))['message']), /needs a history/);
    run.end();
    assert.equal(await run.exited, 0);
    const refused = await runCliToEnd(['run', ...provider(), '--no-history', '--key', 'system:heartbeat'], env());
    assert.deepEqual([refused.code, /exclude each other/.test(refused.err)], [2, true]);
  });

  it('asks one question', async () => {
    api.enqueue(reply('Fourteen.'));
    const { code, out } = await runCliToEnd(['ask', ...provider(), 'How', 'many?'], env());
    assert.deepEqual([code, out], [0, 'Fourteen.\n']);
    api.enqueue(reply('Fifteen.'));
    const json = JSON.parse((await runCliToEnd(['ask', ...provider(), '--json', 'And now?'], env())).out) as Record<string, unknown>;
    assert.deepEqual(
      { ok: json['ok'], text: json['text'], model: (json['usage'] as Record<string, unknown>)['model'] },
      { ok: true, text: 'Fifteen.', model: 'claude-test' },
    );
    assert.equal((await runCliToEnd(['ask', '--model', 'offline', 'Who?'], env())).code, 2);
  });

  it('moves to the trash what nobody uses any more, after a look at it (seed 003: clean-up)', async () => {
    const day = 86_400_000;
    const now = Date.now();
    await inStore(async (store) => {
      const make = async (id: string, age: number) =>
        store.createSession({
          uuid: `00000000-0000-7000-8000-00000000000${id}`,
          channel: 'cli',
          title: `session ${id}`,
          createdAt: now - age * day,
        });
      await make('1', 100);
      await make('2', 3);
      await store.updateSession((await make('3', 100)).uuid, { pinnedAt: 1 });
      await store.updateSession((await make('4', 100)).uuid, { lastOpenedAt: now });
    });
    const cleanUp = (...flags: string[]) => runCliToEnd(['clean-up', '--store', folder, '--days', '30', ...flags]);
    const dry = await cleanUp('--dry-run', '--json');
    assert.deepEqual(
      [
        dry.out
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as { title: string }).title),
        (await list('--trashed')).length,
      ],
      [['session 1'], 0],
    );
    assert.match((await cleanUp()).err, /1 session moved to the trash/);
    assert.deepEqual(
      (await list('--trashed')).map(({ title }) => title),
      ['session 1'],
    );
    assert.match((await cleanUp()).err, /nothing to clean up/);
    assert.equal((await runCliToEnd(['clean-up', '--store', folder])).code, 2);
  });

  it('follows a session of another program, and prints what it goes on to say', async () => {
    const file = join(folder, 'source.jsonl');
    const line = (id: string, parentId: string | null, content: string) =>
      `${JSON.stringify({ type: 'message', id, parentId, timestamp: '2026-09-01T10:00:01Z', message: { role: 'user', content } })}\n`;
    await writeFile(
      file,
      `${JSON.stringify({ type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' })}\n${line('a', null, 'before')}`,
    );
    await inStore(async () => undefined);
    const watching = new CliRun(['watch', file, '--store', folder, '--json']);
    runs.push(watching);
    const said = (text: string) => watching.until((one) => (one['content'] as { text?: string }).text === text);
    await said('before');
    await appendFile(file, line('b', 'a', 'after'));
    await said('after');
    process.kill(watching.pid!, 'SIGINT');
    assert.equal(await watching.exited, 0, watching.stderr);
    assert.equal(watching.of('entry').length, 2, 'nothing is printed twice');
    assert.equal((await runCliToEnd(['watch', '--store', folder])).code, 2);
  });

  it('prints what is new when it is started again, and nothing that was known', async () => {
    const file = join(folder, 's.jsonl');
    const line = (id: string, parentId: string | null, content: string) =>
      `${JSON.stringify({ type: 'message', id, parentId, timestamp: '2026-09-01T10:00:01Z', message: { role: 'user', content } })}\n`;
    const header = JSON.stringify({ type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' });
    await writeFile(file, `${header}\n${line('a', null, 'one')}${line('b', 'a', 'two')}`);
    await inStore(async () => undefined);
    assert.equal((await runCliToEnd(['import', file, '--store', folder])).code, 0);
    await appendFile(file, line('c', 'b', 'three'));
    const watching = new CliRun(['watch', file, '--store', folder, '--json']);
    runs.push(watching);
    await watching.until((one) => (one['content'] as { text?: string }).text === 'three');
    process.kill(watching.pid!, 'SIGINT');
    await watching.exited;
    assert.deepEqual(
      watching.of('entry').map((one) => (one['content'] as { text?: string }).text),
      ['three'],
    );
  });

  it('follows a session of OpenClaw by its key, in words, and says where it has looked for one that is not there', async () => {
    const sessions = join(folder, 'openclaw', 'agents', 'main', 'sessions');
    await mkdir(sessions, { recursive: true });
    const line = (id: string, parentId: string, text: string) =>
      `${JSON.stringify({ type: 'message', id, parentId, timestamp: '2026-11-20T10:00:01.000Z', message: { role: 'user', content: text } })}\n`;
    const header = JSON.stringify({ type: 'session', version: 3, id: 'one', timestamp: '2026-11-20T10:00:00.000Z', cwd: '/work' });
    await writeFile(join(sessions, 'sessions.json'), JSON.stringify({ 'agent:main:main': { sessionId: 'one', updatedAt: 5 } }));
    await writeFile(join(sessions, 'one.jsonl'), `${header}\n${line('a', 'one', 'Which tide?')}`);
    await inStore(async () => undefined);
    const args = (key: string) => ['watch', '--openclaw', key, '--openclaw-path', join(folder, 'openclaw'), '--store', folder];
    const watching = spawn(process.execPath, [join(projectRoot, 'dist', 'cli.js'), ...args('main')]);
    let out = '';
    watching.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    await waitFor('the question', () => out.includes('tide'), { interval: 10 });
    await appendFile(join(sessions, 'one.jsonl'), line('b', 'a', 'And now?'));
    await waitFor('what comes then', () => out.includes('now'), { interval: 10 });
    watching.kill('SIGTERM');
    const [code] = (await once(watching, 'close')) as [number | null];
    assert.deepEqual([code, out], [0, 'user: Which tide?\nuser: And now?\n']);
    const { code: refused, err } = await runCliToEnd(args('other'));
    assert.deepEqual([refused, err], [1, `No agent of OpenClaw has a session with the key other in ${join(folder, 'openclaw')}.\n`]);
  });
});
