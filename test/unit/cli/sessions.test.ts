import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { exportedText } from '../../support/chat/exportedText';
import { projectRoot } from '../../support/paths';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../support/store/storeTemp';

/** While another program owns the store. */
describe('threadkeeper sessions, show, stats and export', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let id: string;
  let uuid: string;

  before(async () => {
    temp = tempFolder();
    store = await openTestStore(temp.path);
    const at = Date.now();
    ({ id, uuid } = await store.createSession({
      uuid: testUuid(),
      channel: 'cli',
      title: 'Ports \u001b[31m',
      cwd: projectRoot,
      createdAt: at,
      metadata: { tags: ['net'] },
    }));
    const question = userMessage(uuid, null, 'Which port?', { createdAt: at });
    const other = userMessage(uuid, null, 'left behind', { createdAt: at });
    await store.append(uuid, {
      entries: [other, question],
      usage: [
        {
          entry: question.uuid,
          provider: 'anthropic',
          model: 'm',
          kind: 'turn',
          input: 90,
          output: 10,
          cacheRead: 0,
          cacheWrite: 0,
          cost: 0.25,
          at,
        },
      ],
    });
    const archived = await store.createSession({ uuid: testUuid(), channel: 'cli', title: 'Old', createdAt: 1 });
    await store.updateSession(archived.uuid, { archivedAt: 1 });
  });
  after(async () => {
    await store.close();
    temp.remove();
  });

  const run = (...args: string[]) => runCliToEnd(args);
  const ok = async (...args: string[]) => {
    const { code, out, err } = await run(...args, '--store', temp.path);
    assert.equal(code, 0, err);
    return out;
  };
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('lists sessions', async () => {
    assert.deepEqual(
      lines(await ok('sessions', '--json')).map((one) => one['id']),
      [id],
    );
    assert.equal(lines(await ok('sessions', '--json', '--archived')).length, 2);
    assert.deepEqual(lines(await ok('sessions', '--json', '--tag', 'net'))[0]?.['uuid'], uuid);
    const text = await ok('sessions');
    assert.match(text, new RegExp(`^${id}  \\d{4}-.*Ports.*2 messages`));
    assert.doesNotMatch(text, /\u001b/);
  });

  it('shows a session: to read, its entries, or all of them', async () => {
    assert.match(await ok('show', id), /# Ports[^]*## You[^]*Which port\?/);
    const text = (list: Record<string, unknown>[]) => list.slice(1).map((line) => (line['content'] as { text: string }).text);
    assert.deepEqual(text(lines(await ok('show', uuid, '--json'))), ['Which port?']);
    assert.deepEqual(text(lines(await ok('show', uuid, '--json', '--all'))), ['left behind', 'Which port?']);
    assert.deepEqual(text(lines(await ok('show', uuid, '--json', '--all', '--last', '1'))), ['Which port?']);
    const { code, err } = await run('show', '20000101_001', '--store', temp.path);
    assert.deepEqual([code, /no session/.test(err)], [1, true]);
    assert.equal((await run('show', id, '--all', '--store', temp.path)).code, 2);
  });

  it('counts', async () => {
    const report = JSON.parse(await ok('stats', '--json')) as { days: unknown[]; totals: { tokens: number }; sessions: { id: string }[] };
    assert.deepEqual(
      { daysCount: report.days.length, tokens: report.totals.tokens, sessions: report.sessions.map((one) => one.id) },
      { daysCount: 7, tokens: 100, sessions: [id] },
    );
    assert.match(await ok('stats', '--days', '2'), /100 tokens in 1 request, \$0\.25/);
    const ofFolder = async (folder: string) =>
      (JSON.parse(await ok('stats', '--json', '--workspace', folder)) as typeof report).sessions.length;
    assert.deepEqual(
      [await ofFolder(relative(process.cwd(), projectRoot) || '.'), await ofFolder(projectRoot), await ofFolder('elsewhere')],
      [1, 1, 0],
    );
    assert.equal((await run('stats', '--from', 'monday', '--store', temp.path)).code, 2);
  });

  it('exports to standard output and into a file that it does not replace unasked', async () => {
    assert.equal(await ok('export', id, '--format', 'json'), await exportedText(store, [uuid]));
    assert.equal(await ok('export', '--all'), await exportedText(store));
    assert.match(await ok('export', id, '--format', 'html', '--redact'), /^<!doctype html>/);
    const out = join(temp.path, 'out.md');
    assert.deepEqual(JSON.parse(await ok('export', id, '--format', 'md', '--out', out, '--json')), {
      file: out,
      format: 'md',
      redacted: false,
      sessions: [id],
    });
    assert.match(readFileSync(out, 'utf8'), /Which port\?/);
    writeFileSync(out, 'mine');
    const refused = await run('export', id, '--out', out, '--store', temp.path);
    assert.deepEqual([refused.code, /--overwrite/.test(refused.err), readFileSync(out, 'utf8')], [1, true, 'mine']);
    assert.equal((await run('export', id, '--all', '--store', temp.path)).code, 2);
  });

  it('explains every command', async () => {
    const help = (await run('--help')).out;
    for (const [, command] of help.matchAll(/threadkeeper ([\w-]+) …/g)) {
      const { code, out } = await run(command!, '--help');
      assert.deepEqual([code, out.startsWith(`threadkeeper ${command}`), out.includes('--store')], [0, true, command !== 'ask'], command);
    }
  });
});
