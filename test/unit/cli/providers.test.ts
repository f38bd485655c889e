import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliRun } from '../../support/run/cliRun';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { ollamaModelId, startOllamaServer } from '../../support/servers/ollamaServer';
import { openaiModelId, startOpenaiServer } from '../../support/servers/openaiServer';
import { responsesModelId, startResponsesServer } from '../../support/servers/responsesServer';

describe('threadkeeper run --provider', () => {
  let folder: string;
  const closing: (() => unknown)[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'threadkeeper-cli-'));
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await rm(folder, { recursive: true, force: true });
  });

  function start(env: NodeJS.ProcessEnv, ...args: string[]): CliRun {
    const run = new CliRun(['run', '--store', folder, ...args], env);
    closing.unshift(() => run.kill());
    return run;
  }

  it('talks to an OpenAI-compatible server, with the key of the environment, and writes it nowhere', async () => {
    const server = await startOpenaiServer({ listed: { context_length: 20_000 } });
    closing.push(() => server.close());
    server.enqueue(reply('Looking.', toolCall('recall', { query: 'port' })), reply('It is 5173.'));
    const run = start(
      { OPENAI_API_KEY: server.apiKey! },
      '--provider',
      'openai-compatible',
      '--base-url',
      server.url,
      '--model',
      openaiModelId,
    );
    run.send({ cmd: 'send', id: 1, text: 'which port?' });
    const done = await run.done(1);
    assert.deepEqual([done['ok'], String(done['text']).endsWith('It is 5173.')], [true, true], JSON.stringify(done));
    const context = run.of('context').at(-1)!;
    assert.deepEqual([context['window'], context['provenance']], [20_000, 'exact']);
    run.end();
    assert.equal(await run.exited, 0);
    assert.ok(!JSON.stringify([run.lines, run.stderr]).includes(server.apiKey!));
    assert.deepEqual(server.errors, []);
  });

  it('talks to a server in the interface that is asked for', async () => {
    const server = await startResponsesServer({ listed: { context_length: 20_000 } });
    closing.push(() => server.close());
    server.enqueue(reply('Looking.', toolCall('recall', { query: 'port' })), reply('It is 5173.'));
    const run = start(
      { OPENAI_API_KEY: server.apiKey! },
      '--provider',
      'openai-compatible',
      '--api',
      'responses',
      '--base-url',
      server.url,
      '--model',
      responsesModelId,
    );
    run.send({ cmd: 'send', id: 1, text: 'which port?' });
    const done = await run.done(1);
    assert.deepEqual([done['ok'], String(done['text']).endsWith('It is 5173.')], [true, true], JSON.stringify(done));
    run.end();
    assert.equal(await run.exited, 0);
    assert.deepEqual([server.chats.length, server.errors], [2, []]);
  });

  it('talks to Ollama with the window it is given', async () => {
    const server = await startOllamaServer();
    closing.push(() => server.close());
    const run = start({}, '--provider', 'ollama', '--base-url', server.url, '--model', ollamaModelId, '--window', '8000');
    run.send({ cmd: 'send', id: 1, text: 'hello' });
    assert.equal((await run.done(1))['ok'], true);
    assert.deepEqual(
      [run.of('context').at(-1)!['window'], (server.chats[0]!.body['options'] as { num_ctx: number }).num_ctx],
      [8_000, 8_000],
    );
    run.end();
    assert.equal(await run.exited, 0);
  });

  it('offers the skills of a folder, and puts the one that is read into the conversation', async () => {
    const server = await startOpenaiServer({ listed: { context_length: 20_000 } });
    closing.push(() => server.close());
    const skills = join(folder, 'skills');
    await mkdir(skills);
    await writeFile(join(skills, 'tides.md'), '---\ndescription: Reads tide tables.\n---\nRead the gauge first.');
    server.enqueue(reply(toolCall('use_skill', { name: 'tides' })), reply('At six.'));
    const run = start(
      { OPENAI_API_KEY: server.apiKey! },
      '--provider',
      'openai-compatible',
      '--base-url',
      server.url,
      '--model',
      openaiModelId,
      '--skills',
      skills,
    );
    run.send({ cmd: 'send', id: 1, text: 'When is high water?' });
    assert.equal((await run.done(1))['ok'], true);
    run.end();
    assert.equal(await run.exited, 0);
    const [first, second] = server.chats.map(({ body }) => JSON.stringify(body['messages']));
    assert.match(first!, /- tides: Reads tide tables\./);
    assert.match(second!, /kind=.{1,8}skill.*Read the gauge first/);
  });

  it('says which flag is missing', async () => {
    const run = start({}, '--provider', 'openai-compatible', '--model', 'x');
    assert.equal(await run.exited, 2);
    assert.match(run.stderr, /needs --base-url/);
  });
});
