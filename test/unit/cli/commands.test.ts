import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../src/core/ports';
import { importFixtures } from '../../support/store/importRig';
import { cliArgs, runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';

interface Command {
  readonly name: string;
  /** Words and flags with which it works, beside `--store`; the store is in use all the while. */
  readonly works: (temp: string) => readonly string[];
  /** Properties of its first JSON object. */
  readonly says: readonly string[];
  /** What ends it with 1, beside `--store`; null where there is no such thing but a store that cannot be opened. */
  readonly fails: (temp: string) => readonly string[];
  /** Where it works on another store than the one in use. */
  readonly elsewhere?: boolean;
  /** The exit code where there is nothing to do; 0 else. */
  readonly code?: number;
}

const commands: readonly Command[] = [
  { name: 'sessions', works: () => [], says: ['uuid', 'id', 'title'], fails: () => [] },
  { name: 'show', works: () => ['One'], says: ['id', 'title'], fails: () => ['20200101_001'] },
  { name: 'search', works: () => ['kept'], says: ['entryId', 'sessionId', 'text'], fails: () => ['kept', '--session', 'nowhere'] },
  {
    name: 'why',
    works: () => [`${__filename}:1`],
    says: ['edits', 'commit', 'withoutGit', 'isCut'],
    fails: () => [`${__filename}-:1`],
    code: 3,
  },
  { name: 'embed', works: () => ['--status'], says: ['model', 'embedded', 'passages'], fails: () => [] },
  { name: 'context', works: () => ['One'], says: ['snapshot', 'request'], fails: () => ['20200101_001'] },
  {
    name: 'compact',
    works: () => ['One', '--model', 'offline'],
    says: ['ok'],
    fails: () => ['20200101_001', '--model', 'offline'],
    code: 3,
  },
  { name: 'stats', works: () => [], says: ['totals', 'days'], fails: () => [] },
  {
    name: 'import',
    works: () => [join(importFixtures, 'pi-v3.jsonl')],
    says: ['sessions', 'failed', 'cancelled'],
    fails: (temp) => [join(temp, 'nothing.jsonl')],
  },
  {
    name: 'export',
    works: (temp) => ['One', '--out', join(temp, 'one.json')],
    says: ['file', 'format', 'sessions'],
    fails: () => ['20200101_001'],
  },
  { name: 'verify', works: () => [], says: ['checked', 'problems'], fails: () => [] },
  { name: 'backup', works: (temp) => [join(temp, 'backup.db')], says: ['backup', 'checked', 'problems'], fails: () => [__filename] },
  {
    name: 'restore',
    works: (temp) => [join(temp, 'backup.db')],
    says: ['restored', 'sessions', 'entries', 'keptAt'],
    fails: () => [__filename],
    elsewhere: true,
  },
  {
    name: 'restore-files',
    works: (temp) => ['One', '--workspace', temp, '--before', '#1', '--dry-run'],
    says: ['restored', 'files', 'uncovered'],
    fails: (temp) => ['20200101_001', '--workspace', temp, '--undo'],
  },
  {
    name: 'hand-over',
    works: () => ['One', '--to', 'codex', '--dry-run'],
    says: ['program', 'session', 'cwd', 'files', 'messages', 'tokens', 'folded', 'command', 'written'],
    fails: () => ['20200101_001', '--to', 'codex'],
  },
  { name: 'run', works: () => ['--model', 'offline'], says: ['type'], fails: () => ['--model', 'offline', '--session', '20200101_001'] },
  { name: 'clean-up', works: () => ['--days', '1', '--dry-run'], says: ['uuid', 'id', 'title'], fails: () => [] },
];

/** Without a history, or without an end: cli/sessionsByKey, mcp/mcpServer and cli/sync have their tests. */
const others = ['ask', 'watch', 'mcp', 'sync'];

describe('every command of the command line', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let inUse: string;
  let session: string;

  before(async () => {
    temp = tempFolder();
    inUse = join(temp.path, 'store');
    store = await openTestStore(inUse);
    session = (await store.createSession({ uuid: 's', channel: 'cli', title: 'One', createdAt: 1_763_800_000_000 })).id;
    await store.append('s', { entries: [userMessage('s', null, 'kept')] });
  });
  after(async () => {
    await store.close();
    temp.remove();
  });

  const run = (...args: string[]) => runCliToEnd(args.map((word) => (word === 'One' ? session : word)));

  it('is in the help, and has one of its own', async () => {
    const { code, out } = await run('--help');
    const named = [...out.matchAll(/^ {2}threadkeeper ([\w-]+) …/gm)].map(([, name]) => name!);
    assert.deepEqual([code, named.sort()], [0, [...commands.map(({ name }) => name), ...others].sort()]);
    const helps = await Promise.all(named.map(async (name) => ({ name, ...(await run(name, '--help')) })));
    for (const { name, code: ended, out: text, err } of helps) {
      assert.deepEqual([name, ended, err], [name, 0, '']);
      const own = [...(name === 'ask' ? [] : ['--store DIR']), ...(name === 'mcp' ? [] : ['--json'])];
      for (const part of [`threadkeeper ${name}`, ...own, 'Exit code'])
        assert.ok(text.includes(part), `${name} does not say ${part}:\n${text}`);
    }
  });

  it('is answered when it is mistaken, in words that lead on', async () => {
    const damaged = join(temp.path, 'damaged');
    mkdirSync(damaged);
    writeFileSync(join(damaged, 'threadkeeper.db'), 'x'.repeat(4096));
    for (const [words, expected, text] of [
      [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
      [['sesions'], 2, /Unknown command "sesions"/],
      [
        ['run', '--store', inUse, '--provider', 'offline', '--model', 'offline'],
        2,
        /--provider is one of .*; "offline" is not\. Nobody has to answer with --model offline\./,
      ],
      [['stats', '--store', inUse, '--from', '2026-11-20', '--to', '2026-11-10'], 2, /--from is a day after --to\./],
      [['sessions', '--store', inUse], 0, /One {2}1 message, 3 tokens\n$/],
      [['sessions', '--store', __filename], 1, /--store is the folder of a history; .* is a file\./],
      [['sessions', '--store', damaged], 1, new RegExp(`^${damaged}/threadkeeper\\.db: .*\\nthreadkeeper verify says`)],
      [['import', '--store', inUse, join(temp.path, 'nowhere')], 1, /There is no file or folder .*nowhere\./],
      [['import', '--store', inUse, damaged], 1, /damaged: There are no sessions in it\./],
      [['export', 'One', '--store', inUse, '--out', join(temp.path, 'nowhere', 'x.json')], 1, /There is no folder .*nowhere\./],
      [['restore', damaged, '--store', join(temp.path, 'new')], 1, /damaged is a folder, not a backup\./],
    ] as const) {
      const { code, out, err } = await run(...words);
      assert.deepEqual([words[0], code, text.test(out + err)], [words[0], expected, true], out + err);
    }
  });

  for (const { name, works, says, fails, elsewhere, code = 0 } of commands) {
    it(`${name}: answers in JSON while another process has the history open, and ends with 0, 1 and 2`, async () => {
      const folder = elsewhere ? join(temp.path, 'elsewhere') : inUse;
      const worked = await run(name, ...works(temp.path), '--store', folder, '--json');
      assert.equal(worked.code, code, worked.err);
      const answer: unknown = JSON.parse(worked.out.split('\n')[0]!);
      for (const property of says) assert.ok(property in (answer as object), `${property} in ${worked.out.slice(0, 500)}`);
      // A file in the place of a folder: nobody can open that.
      const failing = fails(temp.path);
      const failed = await run(
        name,
        ...(failing.length === 0 ? works(temp.path) : failing),
        '--store',
        failing.length === 0 ? __filename : folder,
        '--json',
      );
      assert.deepEqual([failed.code, failed.err === ''], [name === 'verify' ? 3 : 1, false], failed.err);
      const wrong = await run(name, '--store', folder, '--nonsense');
      assert.deepEqual(
        [wrong.code, wrong.err.includes('--nonsense'), wrong.err.includes(`threadkeeper ${name} --help`)],
        [2, true, true],
        wrong.err,
      );
    });
  }

  it('say why nothing comes of their output where the disk is full', function () {
    if (!existsSync('/dev/full')) return this.skip();
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [...cliArgs, '--help'], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    closeSync(full);
    assert.deepEqual([status, /^The output could not be written: ENOSPC/.test(stderr)], [1, true], stderr);
  });
});
