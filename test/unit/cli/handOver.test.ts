import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { storedSession } from '../../support/agents/handedSessions';
import { openTestStore, tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('threadkeeper hand-over', function () {
  this.timeout(120_000);
  let temp: TempFolder;
  let work: string;
  let id: string;
  const env = (more: NodeJS.ProcessEnv = {}) => ({ ...process.env, HOME: temp.path, USERPROFILE: temp.path, CODEX_HOME: '', ...more });

  beforeEach(async () => {
    temp = tempFolder();
    work = join(temp.path, 'work');
    mkdirSync(work);
    const store = await openTestStore(join(temp.path, 'store'));
    ({ id } = await storedSession(
      store,
      [
        { type: 'message', role: 'user', text: 'Which tide?' },
        { type: 'message', role: 'assistant', text: 'High at noon.' },
      ],
      work,
    ));
    await store.close();
  });
  afterEach(() => temp.remove());

  const handOver = (...args: string[]) => runCliToEnd(['hand-over', id, '--store', join(temp.path, 'store'), ...args], env());
  const files = (out: string) => (JSON.parse(out) as { files: string[] }).files;

  it('says what it would write, and writes it, and its import adds nothing', async () => {
    const dry = await handOver('--to', 'codex', '--dry-run', '--json');
    assert.deepEqual([dry.code, dry.err, existsSync(files(dry.out)[0]!)], [0, '', false]);
    const { code, out } = await handOver('--to', 'codex');
    const [, file = ''] = /^ {2}(\S+rollout-\S+\.jsonl)$/m.exec(out) ?? [];
    assert.deepEqual([code, readFileSync(file, 'utf8').includes('High at noon.')], [0, true], out);
    assert.match(out, /Go on in .*work:\n {2}codex resume [0-9a-f-]{36}\n/);
    const again = await runCliToEnd(['import', file, '--store', join(temp.path, 'store'), '--json'], env());
    const { sessions } = JSON.parse(again.out) as { sessions: { id: string; outcome: string; entriesAdded: number }[] };
    assert.deepEqual(
      sessions.map((one) => [one.id, one.outcome, one.entriesAdded]),
      [[id, 'known', 0]],
    );
  });

  it('says how much of a session is damaged and left out', async () => {
    const store = await openTestStore(join(temp.path, 'store'));
    const attachments = [{ kind: 'file' as const, name: 'low.md', hash: 'f'.repeat(64), mime: 'text/plain' }];
    const { id: other } = await storedSession(store, [{ type: 'message', role: 'user', text: 'And low?', attachments }], work);
    await store.close();
    const dry = ['hand-over', other, '--store', join(temp.path, 'store'), '--to', 'codex', '--dry-run'];
    const [words, json] = [await runCliToEnd(dry, env()), await runCliToEnd([...dry, '--json'], env())];
    assert.match(words.out, /^Damaged or missing, and left out: 1 entry or attached text$/m);
    assert.deepEqual([words.code, json.code, (JSON.parse(json.out) as { unreadable: number }).unreadable], [0, 0, 1]);
    assert.doesNotMatch((await handOver('--to', 'codex', '--dry-run')).out, /left out/);
  });

  it('seals a session for a colleague, who opens it with the passphrase and no other', async () => {
    const file = join(temp.path, 'session.tksealed');
    const secret = { THREADKEEPER_PASSPHRASE: 'correct horse' };
    const seal = ['hand-over', id, '--store', join(temp.path, 'store'), '--to', 'colleague', '--out', file];
    assert.deepEqual([(await runCliToEnd(seal, env(secret))).code, (await runCliToEnd(seal, env(secret))).code], [0, 1]);
    const open = (passphrase: string) =>
      runCliToEnd(['import', file, '--store', join(temp.path, 'other')], env({ THREADKEEPER_PASSPHRASE: passphrase }));
    const wrong = await open('another horse');
    assert.deepEqual([wrong.code, wrong.out, /passphrase is not that of this file/.test(wrong.err)], [1, '', true], wrong.err);
    const right = await open('correct horse');
    assert.deepEqual([right.code, right.out], [0, `${id}\n`], right.err);
    const folder = join(temp.path, 'sent');
    mkdirSync(folder);
    renameSync(file, join(folder, 'session.tksealed'));
    const within = await runCliToEnd(['import', folder, '--store', join(temp.path, 'third')], env(secret));
    assert.deepEqual([within.code, within.out], [0, `${id}\n`], within.err);
  });
});
