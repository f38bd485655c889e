import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endRuns } from '../../support/endRuns';
import { projectRoot } from '../../support/paths';
import { CliRun } from '../../support/run/cliRun';
import { MessagesApi } from '../../support/messagesApi/messagesApi';
import { hold, overloaded, promptTooLong, reply, toolCall } from '../../support/messagesApi/messagesApiScript';

describe('threadkeeper run', () => {
  let folder: string;
  let api: MessagesApi;
  const runs: CliRun[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'threadkeeper-cli-'));
    api = await MessagesApi.start();
    api.setModel('claude-test', { window: 12_000, maxOutput: 1_000 });
  });
  afterEach(async () => {
    await endRuns(runs);
    await api.close();
    await rm(folder, { recursive: true, force: true });
  });

  function start(...more: string[]): CliRun {
    const run = new CliRun(['run', '--store', folder, '--base-url', api.url, '--model', 'claude-test', ...more], {
      ANTHROPIC_API_KEY: api.apiKey,
    });
    runs.push(run);
    return run;
  }

  function words(tokens: number, seed: number): string {
    return Array.from({ length: Math.floor(tokens / 2) }, (_, i) => `term${(i * 31 + seed * 7919) % 9973}`)
      .join(' ')
      .slice(0, tokens * 4);
  }

  it('keeps a policy with the session, and answers for the user when the context is full', async () => {
    const run = start('--policy', 'goose', '--when-full', 'truncate');
    for (let id = 1; run.of('compaction').length === 0 && id < 15; id++) {
      run.send({ cmd: 'send', id, text: words(900, id) });
      await run.done(id);
    }
    const [full] = run.of('full');
    assert.ok(Number(full?.['used']) >= 9_600 && full?.['effective'] === 12_000, JSON.stringify(full));
    assert.equal(run.of('compaction').at(-1)?.['rung'], 'truncate');
    const ready = await run.until(({ type }) => type === 'ready');
    run.end();
    await run.exited;

    const again = start('--session', String(ready['sessionId']));
    assert.equal((await again.until(({ type }) => type === 'context'))['policy'], 'goose');
  });

  it('works in a folder as far as the command line allows', async () => {
    const workspace = join(folder, 'work');
    await mkdir(workspace);
    await writeFile(join(workspace, 'a.txt'), 'the answer is 42');
    const talk = async (...flags: string[]) => {
      api.enqueue(
        reply(toolCall('read_file', { path: 'a.txt' })),
        reply(toolCall('edit_file', { path: 'a.txt', old_text: '42', new_text: '43' })),
        reply('Done.'),
      );
      const run = start('--workspace', workspace, ...flags);
      run.send({ cmd: 'send', id: 1, text: 'Look, and correct it' });
      await run.done(1);
      return run.of('tool_result').map(({ name, status }) => `${String(name)}: ${String(status)}`);
    };
    assert.deepEqual(await talk(), ['read_file: error', 'edit_file: error'], 'not offered');
    assert.deepEqual(await talk('--allow-tools', 'reads'), ['read_file: ok', 'edit_file: error']);
    assert.equal(await readFile(join(workspace, 'a.txt'), 'utf8'), 'the answer is 42');
    assert.deepEqual(await talk('--allow-tools', 'all'), ['read_file: ok', 'edit_file: ok']);
    assert.equal(await readFile(join(workspace, 'a.txt'), 'utf8'), 'the answer is 43');
  });

  it('heeds what the files of a folder say where the command line asks for it', async () => {
    const workspace = join(folder, 'work');
    await mkdir(workspace);
    await writeFile(join(workspace, 'AGENTS.md'), 'Answer in rhymes.');
    const talk = async (...flags: string[]) => {
      const run = start('--workspace', workspace, ...flags);
      run.send({ cmd: 'send', id: 1, text: 'hello' });
      await run.done(1);
      return JSON.stringify(api.messages.at(-1)!.body).includes("From the workspace's AGENTS.md:\\nAnswer in rhymes.");
    };
    assert.deepEqual([await talk(), await talk('--workspace-instructions')], [false, true]);
    const refused = start('--workspace-instructions');
    assert.equal(await refused.exited, 2);
    assert.match(refused.stderr, /--workspace-instructions needs --workspace DIR/);
  });

  it('streams an answer, reports usage and ends in order at the end of input', async () => {
    const run = start();
    run.send({ cmd: 'send', id: 1, text: 'hello' });
    run.end();
    assert.equal(await run.exited, 0, run.stderr);
    const done = await run.done(1);
    assert.equal(done['ok'], true);
    assert.equal(
      run
        .of('text_delta')
        .map((line) => line['text'])
        .join(''),
      done['text'],
    );
    assert.deepEqual(
      run.lines.map(({ type }) => type).filter((type) => ['ready', 'turn_started', 'usage', 'done'].includes(type)),
      ['ready', 'turn_started', 'usage', 'done'],
    );
    const last = run.of('context').at(-1)!;
    const [usage] = run.of('usage');
    assert.equal(
      last['used'],
      ['input', 'output', 'cacheRead', 'cacheWrite'].reduce((sum, key) => sum + Number(usage![key]), 0),
    );
    assert.equal(last['provenance'], 'exact');
  });

  it('survives SIGKILL in mid-stream: what was asked and what was shown are there again', async () => {
    const gate = hold();
    api.enqueue(reply('The first part of the answer, ', gate, 'and the rest.'));
    const run = start();
    run.send({ cmd: 'send', id: 1, text: 'remember the number 4711' });
    await gate.reached;
    await run.until(() =>
      run
        .of('text_delta')
        .map((line) => line['text'])
        .join('')
        .endsWith('answer, '),
    );
    const ready = await run.until(({ type }) => type === 'ready');
    run.kill();
    await run.exited;

    const again = start('--session', String(ready['sessionId']));
    assert.equal((await again.until(({ type }) => type === 'ready'))['resumed'], true);
    again.send({ cmd: 'send', id: 2, text: 'go on' });
    assert.equal((await again.done(2))['ok'], true);
    const { messages } = api.messages.at(-1)!.body as { messages: { role: string; content: { text: string }[] }[] };
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content.map(({ text }) => text).join('|')]),
      [
        ['user', 'remember the number 4711'],
        ['assistant', 'The first part of the answer, '],
        ['user', 'go on'],
      ],
    );
  });

  it('shares the store of another program, finds what it says, and takes over when it is killed', async () => {
    const ready = async (run: CliRun) => String((await run.until(({ type }) => type === 'ready'))['uuid']);
    const owner = start();
    const titles = [await ready(owner)];
    const guest = start();
    titles.push(await ready(guest));
    assert.equal(new Set(titles).size, 2);
    [owner, guest].forEach((run, i) => run.send({ cmd: 'send', id: 1, text: `Said by ${['albatross', 'bittern'][i]}` }));
    for (const run of [owner, guest]) assert.equal((await run.done(1))['ok'], true, run.stderr);
    // A copy is read, also of what is not in the file yet.
    const found = () =>
      execFileSync(
        process.execPath,
        [join(projectRoot, 'dist', 'cli.js'), 'search', '--store', folder, '--json', '--role', 'user', 'albatross bittern cormorant'],
        { encoding: 'utf8' },
      );
    assert.deepEqual([...found().matchAll(/Said by (\w+)/g)].map(([, name]) => name).sort(), ['albatross', 'bittern']);

    owner.kill();
    await owner.exited;
    guest.send({ cmd: 'send', id: 2, text: 'Said by cormorant' });
    assert.equal((await guest.done(2))['ok'], true, guest.stderr);
    assert.deepEqual([...found().matchAll(/Said by (\w+)/g)].map(([, name]) => name).sort(), ['albatross', 'bittern', 'cormorant']);
    guest.end();
    assert.equal(await guest.exited, 0, guest.stderr);
  });

  it('sends on resume what was still queued when it was killed', async () => {
    api.enqueue(reply('begun ', hold()));
    const run = start();
    run.send({ cmd: 'send', id: 1, text: 'the first' });
    await run.until(({ type }) => type === 'text_delta');
    run.send({ cmd: 'send', id: 2, text: 'the second' });
    await run.until(({ type, queue }) => type === 'queue' && (queue as unknown[]).length === 1);
    const ready = await run.until(({ type }) => type === 'ready');
    run.kill();
    await run.exited;

    const again = start('--session', String(ready['uuid']));
    const [queued] = (await again.until(({ type }) => type === 'ready'))['queued'] as { id: string; text: string }[];
    assert.equal(queued?.text, 'the second');
    assert.equal((await again.done(queued.id))['ok'], true);
  });

  it('nudges at 50 % and 75 %, compacts before the limit, undoes, and never sends too much', async () => {
    const run = start();
    let id = 0;
    while (!run.lines.some(({ type, phase }) => type === 'compaction' && phase === 'end') && id < 30) {
      run.send({ cmd: 'send', id: ++id, text: `step ${id}: ${words(420, id)}` });
      const done = await run.done(id);
      assert.equal(done['ok'], true, JSON.stringify(done));
    }
    assert.deepEqual(
      run.of('nudge').map((line) => line['percent']),
      [50, 75],
    );
    const bodies = api.messages.map(({ body }) => JSON.stringify(body));
    assert.ok(
      bodies.some((body) => body.includes('50 % mark')),
      'the first nudge was sent',
    );
    assert.ok(
      bodies.some((body) => body.includes('75 % mark')),
      'the second nudge was sent',
    );
    const end = run.lines.find(({ type, phase }) => type === 'compaction' && phase === 'end')!;
    assert.deepEqual([end['ok'], end['trigger']], [true, 'automatic'], JSON.stringify(end));
    assert.ok(['prepared', 'checkpoint'].includes(String(end['rung'])), `whichever was there first: ${JSON.stringify(end)}`);
    assert.ok(Number(end['tokensAfter']) < Number(end['tokensBefore']) * 0.7);
    assert.deepEqual(api.errors, []);

    run.send({ cmd: 'undo_compaction' });
    assert.equal((await run.until(({ type }) => type === 'undone'))['ok'], true);
    run.send({ cmd: 'compact' });
    await run.until((line) => line.type === 'compaction' && line['phase'] === 'end' && line['trigger'] === 'manual');
    run.end();
    assert.equal(await run.exited, 0);
  });

  it('previews, edits and re-summarises a compaction, writes a checkpoint and pins, headless', async () => {
    const run = start('--policy', 'session-state');
    for (let id = 1; id <= 4; id++) {
      run.send({ cmd: 'send', id, text: `step ${id}: ${words(720, id)}` });
      await run.done(id);
    }
    run.send({ cmd: 'checkpoint' });
    const written = await run.until(({ type }) => type === 'checkpoint_written');
    assert.equal(written['ok'], true, JSON.stringify(written));
    run.send({ cmd: 'pin', kind: 'text', target: 'Deploy only on Fridays.' });
    assert.deepEqual((await run.until(({ type }) => type === 'pins'))['pins'], [{ kind: 'text', target: 'Deploy only on Fridays.' }]);
    run.send({ cmd: 'preview' });
    const preview = await run.until(({ type }) => type === 'preview');
    assert.equal(preview['ok'], true, JSON.stringify(preview));
    assert.match(String(preview['summary']), /Deploy only on Fridays/);
    assert.equal(run.of('compaction').length, 0);
    run.send({ cmd: 'compact' });
    await run.until((line) => line.type === 'compaction' && line['phase'] === 'end' && line['ok'] === true);
    run.send({ cmd: 'edit_summary', text: 'We agreed on blue.' });
    assert.match(String((await run.until(({ type }) => type === 'summary_replaced'))['summary']), /We agreed on blue/);
    run.send({ cmd: 'resummarize', instructions: 'colours' });
    const again = await run.until((line) => line.type === 'summary_replaced' && !String(line['summary']).includes('blue'));
    assert.equal(again['ok'], true, JSON.stringify(again));
    assert.deepEqual(api.errors, []);
  });

  it('retries an overloaded provider and recovers from an overflow', async () => {
    // No checkpoints: their requests would take the scripted answers.
    const run = start('--policy', 'session-state');
    for (let id = 1; id <= 4; id++) {
      run.send({ cmd: 'send', id, text: words(720, id) });
      await run.done(id);
    }
    api.enqueue(overloaded(), promptTooLong(13_000, 12_000));
    run.send({ cmd: 'send', id: 9, text: 'and now?' });
    assert.equal((await run.done(9))['ok'], true);
    assert.deepEqual(
      run.of('retry').map((line) => line['reason']),
      ['overloaded'],
    );
    assert.equal(run.lines.find(({ type, phase }) => type === 'compaction' && phase === 'end')?.['trigger'], 'overflow');
  });

  it('lets the model write notes and look things up', async () => {
    api.enqueue(
      reply(toolCall('memory', { command: 'create', path: '/memories/plan.md', file_text: 'Ship on Friday.' })),
      reply('Noted.'),
      reply(toolCall('recall', { query: 'Friday' })),
      reply('Friday it is.'),
    );
    const run = start();
    run.send({ cmd: 'send', id: 1, text: 'we ship on Friday' });
    await run.done(1);
    run.send({ cmd: 'send', id: 2, text: 'when do we ship?' });
    assert.equal((await run.done(2))['text'], 'Friday it is.');
    assert.deepEqual(
      run.of('tool_result').map((line) => [line['name'], line['status']]),
      [
        ['memory', 'ok'],
        ['recall', 'ok'],
      ],
    );
    assert.equal(run.of('memory').length, 1);
    assert.match(String(run.of('tool_result')[1]!['text']), /we ship on Friday/);
  });

  it('writes no note that is to hold in every workspace, also where everything is allowed: no window would read it', async () => {
    await mkdir(join(folder, 'notes/user'), { recursive: true });
    await writeFile(join(folder, 'notes/user/old.md'), 'Likes milk.');
    api.enqueue(
      reply(toolCall('memory', { command: 'view', path: '/memories/user/old.md' })),
      reply(toolCall('memory', { command: 'create', path: '/memories/user/me.md', file_text: 'Likes tea.' })),
      reply(toolCall('memory', { command: 'create', path: '/memories/me.md', file_text: 'Likes tea.' })),
      reply('Noted.'),
    );
    const run = start('--allow-tools', 'all');
    run.send({ cmd: 'send', id: 1, text: 'I like tea' });
    await run.done(1);
    assert.deepEqual(
      run.of('tool_result').map(({ status, text }) => [status, /Without user\/ a note holds in this workspace/.test(String(text))]),
      [
        ['ok', false],
        ['error', true],
        ['ok', false],
      ],
    );
    assert.match(String(run.of('tool_result')[0]!['text']), /Likes milk/);
    assert.deepEqual(
      [await readdir(join(folder, 'notes')), await readdir(join(folder, 'notes/user'))].map((names) => names.sort()),
      [['me.md', 'user'], ['old.md']],
    );
  });

  it('stops, and hands back what was queued', async () => {
    api.enqueue(reply('begun ', hold()));
    const run = start();
    run.send({ cmd: 'send', id: 1, text: 'long task' });
    await run.until(({ type }) => type === 'text_delta');
    run.send({ cmd: 'send', id: 2, text: 'queued' });
    run.send({ cmd: 'stop' });
    const [first, second] = [await run.done(1), await run.done(2)];
    assert.deepEqual(
      { ok: first['ok'], text: first['text'], reason: (first['error'] as { reason: string }).reason },
      { ok: false, text: 'begun ', reason: 'cancelled' },
    );
    assert.equal((second['error'] as { reason: string }).reason, 'cancelled');
  });

  it('answers bad lines and goes on', async () => {
    const run = start();
    run.send('{"cmd":"sned","id":5}');
    const error = await run.until(({ type }) => type === 'error');
    assert.deepEqual([error['id'], /Unknown cmd "sned"/.test(String(error['message']))], [5, true]);
    run.send({ cmd: 'send', id: 'x', text: ' ' });
    assert.match(JSON.stringify(await run.done('x')), /The message is empty/);
  });

  it('says why a compaction was not begun: every command has an answer', async () => {
    const wait = hold();
    api.enqueue(reply('first'), reply('begun ', wait, 'done'));
    const one = start();
    one.send({ cmd: 'send', id: 1, text: 'hello' });
    await one.done(1);
    const two = start('--session', String((await one.until(({ type }) => type === 'ready'))['uuid']));
    await two.until(({ type }) => type === 'ready');
    one.send({ cmd: 'send', id: 2, text: 'long task' });
    await one.until(({ type, text }) => type === 'text_delta' && text === 'begun ');
    two.send({ cmd: 'compact' });
    const { ok, message } = await two.until(({ type }) => type === 'compaction');
    assert.deepEqual([ok, typeof message], [false, 'string']);
    wait.release();
    await one.done(2);
    two.send({ cmd: 'compact' });
    two.end();
    await two.exited;
    assert.deepEqual(
      two.of('compaction').map((line) => line['ok']),
      [false, false],
      'each is told once',
    );
  });

  it('says what to do about a wrong key, an unknown model and an unreachable address', async () => {
    const cases = [
      [{ key: 'sk-ant-wrong-key-000', url: api.url, model: 'claude-test' }, 'bad_key', /Set API Key/],
      [{ key: api.apiKey, url: api.url, model: 'claude-nope' }, 'unknown_model', /does not know the model/],
    ] as const;
    for (const [{ key, url, model }, reason, message] of cases) {
      const run = new CliRun(['run', '--store', join(folder, reason), '--base-url', url, '--model', model], { ANTHROPIC_API_KEY: key });
      runs.push(run);
      run.send({ cmd: 'send', id: 1, text: 'hello' });
      run.end();
      const code = await run.exited;
      const done = run.of('done')[0];
      if (done)
        assert.deepEqual(
          [(done['error'] as { reason: string }).reason, message.test((done['error'] as { message: string }).message)],
          [reason, true],
          JSON.stringify(done),
        );
      else assert.match(run.stderr, message, `exit ${code}`);
      assert.ok(!run.stderr.includes(key), 'the key stays out of the log');
    }
  });

  it('refuses a command line that cannot be run', async () => {
    for (const [args, env, message] of [
      [['run', '--store', folder], {}, /--model is missing/],
      [['run', '--store', folder, '--model', 'claude-test'], {}, /ANTHROPIC_API_KEY is not set/],
      [['run', '--store', folder, '--model', 'offline', '--frobnicate'], {}, /Unknown flag "--frobnicate"/],
      [['dance'], {}, /Unknown command "dance"/],
    ] as const) {
      const run = new CliRun(args, env);
      runs.push(run);
      assert.equal(await run.exited, 2, run.stderr);
      assert.match(run.stderr, message);
    }
    const run = new CliRun(['run', '--store', folder, '--model', 'offline', '--session', '20200101_001']);
    runs.push(run);
    assert.equal(await run.exited, 1);
    assert.match(run.stderr, /There is no session "20200101_001"/);
  });
});
