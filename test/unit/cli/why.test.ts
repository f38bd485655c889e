import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { timeText } from '../../../src/core/recall/dateText';
import type { EntryContent } from '../../../src/core/session/entry';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';

const at = 1_763_800_000_000;

describe('threadkeeper why', () => {
  let temp: TempFolder;
  let work: string;

  before(async () => {
    temp = tempFolder();
    mkdirSync(join(temp.path, 'work'));
    work = realpathSync(join(temp.path, 'work'));
    const store = await openTestStore(join(temp.path, 'store'));
    await store.createSession({ uuid: 's', channel: 'cli', cwd: work, title: 'Tides', createdAt: at });
    const said: readonly EntryContent[] = [
      { type: 'message', role: 'user', text: 'Which tide\u001b[2J is it?' },
      { type: 'message', role: 'assistant', text: 'I look.', provider: 'p', model: 'm' },
      {
        type: 'tool_call',
        callId: 'c',
        name: 'Edit',
        input: { path: 'höhe.ts', old_text: '', new_text: 'const harbor = lantern(tide);\n' },
      },
      { type: 'tool_result', callId: 'c', name: 'Edit', text: 'Done.', status: 'ok' },
      { type: 'message', role: 'assistant', text: 'High.', provider: 'p', model: 'm' },
    ];
    for (const [i, content] of said.entries())
      await store.append('s', {
        entries: [userMessage('s', i === 0 ? null : `e${i - 1}`, '', { uuid: `e${i}`, createdAt: at + i, content })],
      });
    await store.close();
    writeFileSync(join(work, 'höhe.ts'), 'const harbor = lantern(tide);\nby hand\n');
  });
  after(() => temp.remove());

  const why = (line: number, ...flags: string[]) =>
    runCliToEnd(['why', `${join(work, 'höhe.ts')}:${line}`, '--store', join(temp.path, 'store'), '--workspace', work, ...flags]);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: work,
      env: { ...process.env, GIT_COMMITTER_DATE: `${at / 1000 + 60} +0000`, GIT_CONFIG_GLOBAL: '/dev/null' },
    });
  const edited = (id: string) => [
    `Edited ${timeText(at + 2)} by Threadkeeper, ${id} Tides, #3`,
    '  You asked: Which tide [2J is it?',
    '  Before the edit: I look.',
    '  Threadkeeper answered: High.',
  ];

  it('tells who has put a line there, and says of another one that nobody is known', async () => {
    const { code, out } = await why(1);
    const id = /, (\d{8}_\d{3}) /.exec(out)?.[1] ?? '';
    assert.deepEqual({ code, out: out.split('\n') }, { code: 0, out: [...edited(id), ''] });
    const unknown = await why(2);
    assert.deepEqual(
      { code: unknown.code, out: unknown.out },
      { code: 3, out: 'No session is known to have written this line. The file is in no Git repository, so its past was not looked at.\n' },
    );
    assert.match((await why(3)).err, /höhe\.ts has 2 lines/);
  });

  it('names the commit with which a line came, of a file whose name Git writes in octal digits, as JSON too', async () => {
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'tides: count them');
    const commit = git('rev-parse', 'HEAD').toString().trim();
    const { out } = await why(1);
    assert.equal(out.split('\n').at(-2), `Commit ${commit.slice(0, 8)} by Ada on ${timeText(at + 60_000)}: tides: count them`);
    const { code, out: json } = await why(1, '--json');
    const found = JSON.parse(json) as { edits: { sessionId: string }[] };
    assert.deepEqual(
      [code, found],
      [
        0,
        {
          edits: [
            {
              session: 's',
              sessionId: found.edits[0]!.sessionId,
              program: 'Threadkeeper',
              entry: 'e2',
              time: new Date(at + 2).toISOString(),
              asked: { entry: 'e0', text: 'Which tide\u001b[2J is it?' },
              before: { entry: 'e1', text: 'I look.' },
              answer: { entry: 'e4', text: 'High.' },
            },
          ],
          commit: {
            commit,
            author: 'Ada',
            at: new Date(at + 60_000).toISOString(),
            summary: 'tides: count them',
            path: 'höhe.ts',
            line: 0,
            previous: null,
          },
          withoutGit: null,
          isCut: false,
        },
      ],
    );
  });
});
