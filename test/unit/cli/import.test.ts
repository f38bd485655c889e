import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { CliRun } from '../../support/run/cliRun';
import { importFixtures } from '../../support/store/importRig';
import { MessagesApi } from '../../support/messagesApi/messagesApi';
import { projectRoot } from '../../support/paths';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('threadkeeper import', () => {
  let temp: TempFolder;
  let api: MessagesApi;
  let owner: SessionStore | undefined;

  before(async () => {
    temp = tempFolder();
    api = await MessagesApi.start();
    api.setModel('claude-test', { window: 200_000, maxOutput: 1_000 });
  });
  after(async () => {
    await owner?.close();
    await api.close();
    temp.remove();
  });

  const cli = (...args: string[]) =>
    runCliToEnd([...args, '--store', temp.path], { PATH: process.env['PATH'], ANTHROPIC_API_KEY: api.apiKey });

  it('prints the ids of new sessions, with which a conversation goes on against the provider, and compacts', async () => {
    const imported = await cli('import', join(importFixtures, 'claude-code.jsonl'), join(importFixtures, 'pi-v3.jsonl'));
    assert.equal(imported.code, 0, imported.err);
    const ids = imported.out.trim().split('\n');
    assert.deepEqual(ids, ['20260901_001', '20260901_002']);
    for (const id of ids) {
      const run = new CliRun(['run', '--store', temp.path, '--base-url', api.url, '--model', 'claude-test', '--session', id], {
        ANTHROPIC_API_KEY: api.apiKey,
      });
      run.send({ cmd: 'send', id: 1, text: 'Where were we?' });
      const done = await run.done(1);
      run.end();
      await run.exited;
      assert.equal(done['ok'], true, JSON.stringify(done));
    }
    const sent = JSON.stringify(api.messages.at(0)?.body ?? null);
    assert.ok(sent.includes('CLAUDE SUMMARY') && sent.includes('Where were we?') && !sent.includes('c2ln'), sent.slice(0, 2000));

    const compacted = await cli('compact', ids[1]!, '--model', 'offline', '--json');
    assert.ok([0, 3].includes(compacted.code), compacted.err);
    const result = JSON.parse(compacted.out) as { ok: boolean };
    assert.equal(result.ok, compacted.code === 0);
    if (result.ok) assert.equal((await cli('compact', ids[1]!, '--model', 'offline', '--undo')).code, 0);
  });

  it('works beside a program that has the history open, adds nothing twice, and says what it could not import', async () => {
    owner = await openTestStore(temp.path);
    const report = await cli(
      'import',
      join(importFixtures, 'pi-v1.jsonl'),
      join(importFixtures, 'pi-v3.jsonl'),
      join(projectRoot, 'package.json'),
      '--json',
    );
    const { sessions, failed } = JSON.parse(report.out) as { sessions: { outcome: string; title: string }[]; failed: { reason: string }[] };
    assert.deepEqual(
      { code: report.code, sessions: sessions.map(({ outcome }) => outcome), failedCount: failed.length },
      { code: 1, sessions: ['new', 'known'], failedCount: 1 },
    );
    assert.equal((await owner.listSessions()).length, 3);
    assert.deepEqual(await cli('import', join(importFixtures, 'pi-v1.jsonl')), {
      code: 0,
      out: '',
      err: '1 session was here already, and nothing is new.\n',
    });
    assert.equal((await cli('import', join(temp.path, 'nothing.jsonl'))).code, 1);
    assert.equal((await cli('import')).code, 2);
  });

  it('names what it has passed over in a folder, and ends with 1 where that looks like a session', async () => {
    const folder = join(temp.path, 'folder');
    mkdirSync(folder);
    copyFileSync(join(importFixtures, 'pi-v1.jsonl'), join(folder, 'good.jsonl'));
    writeFileSync(join(folder, 'notes.json'), '{}');
    const passed = await cli('import', folder);
    assert.deepEqual(
      [passed.code, passed.err.includes(`${join(folder, 'notes.json')} was passed over: It is none of the formats`)],
      [0, true],
      passed.err,
    );
    writeFileSync(join(folder, 'odd.jsonl'), '{}\n');
    const missed = await cli('import', folder);
    assert.deepEqual([missed.code, missed.err.includes(`${join(folder, 'odd.jsonl')}: It is none of the formats`)], [1, true], missed.err);
  });
});
