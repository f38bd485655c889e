import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { enduranceRounds } from '../../../support/chat/endurance';
import type { ChildReport } from '../../../support/store/storeChild';
import { openHost, tempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

/** In each of two rounds; with 500 of them 1,000 commits are made under the eyes of another program. */
const watchedCommits = enduranceRounds(100);
const childFile = join(__dirname, '..', '..', '..', 'support', 'store', 'storeChild.js');

describe('store: processes that are killed while they write', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** Runs a writer until `enough` says so, kills it, and returns what it had acknowledged. */
  async function killWriter(
    folder: string,
    closeAfter: number,
    enough: (report: ChildReport, stored: number) => boolean,
  ): Promise<string[]> {
    const child = spawn(process.execPath, [childFile, 'write', folder, String(closeAfter)], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const stored: string[] = [];
    const ended = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) {
      const report = JSON.parse(line) as ChildReport;
      if (report.type === 'stored') stored.push(report.uuid);
      if (enough(report, stored.length)) child.kill('SIGKILL');
    }
    await ended;
    return stored;
  }

  async function verify(folder: string, stored: readonly string[]): Promise<void> {
    const host = await openHost(folder);
    try {
      const found = new Set((await host.call('entries', [stored])).map((entry) => entry.uuid));
      assert.deepEqual(
        stored.filter((uuid) => !found.has(uuid)),
        [],
        'acknowledged entries are missing',
      );
      const session = await host.call('session', ['session']);
      const branch = await host.call('liveBranch', ['session']);
      assert.equal(branch.entries.length, session?.messageCount, 'the branch reaches every entry');
      assert.ok(branch.entries.length - stored.length <= 9, 'at most the entry being acknowledged is there in addition');
      for (const entry of branch.entries) assert.equal(entry.content.type === 'message' && entry.content.interrupted, undefined);
      await host.call('recoverPartials', ['session']);
    } finally {
      await host.close();
    }
  }

  it('lose nothing they have acknowledged, wherever they were killed', async function () {
    this.timeout(60_000);
    const temp = tempFolder();
    const stored: string[] = [];
    for (let round = 0; round < 7; round++) {
      // Between commits, in the middle of a clean close, right after it, right after opening: by turns.
      const acknowledged = await killWriter(temp.path, 20 + round, (report, count) => {
        if (round % 4 === 0) return report.type === 'closing';
        if (round % 4 === 1) return report.type === 'closed';
        return count >= (round * 37) % 60;
      });
      stored.push(...acknowledged);
    }
    assert.ok(stored.length > 100, `${stored.length} entries were acknowledged`);
    await verify(temp.path, stored);
    const check = integrity(join(temp.path, 'threadkeeper.db'));
    if (check !== undefined) assert.equal(check, 'ok');
    temp.remove();
  });

  it('can be read by another window at any moment', async function () {
    this.timeout(60_000);
    const temp = tempFolder();
    // What a reader copies grows with what is written: a writer of its own pace outruns a slow reader for good.
    const child = spawn(process.execPath, [childFile, 'write', temp.path, '40', 'paced'], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.write('.');
    children.push(child);
    const stored: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report = JSON.parse(line) as ChildReport;
      if (report.type === 'stored') stored.push(report.uuid);
    });
    await waitFor('the first entry', () => stored.length > 0, { interval: 5 });
    const reader = await openHost(temp.path, { readonly: true });
    let overtaken = 0;
    // A quick reader is often through before the next entry. One that nobody ever writes beside ends at the time limit.
    for (let round = 0; round < 15 || overtaken === 0; round++) {
      const before = stored.length;
      child.stdin.write('.'.repeat(30));
      await waitFor('more entries', () => stored.length > before, { interval: 1 });
      const expected = [...stored];
      await reader.refresh();
      const { session, entries } = await reader.call('liveBranch', ['session']);
      assert.equal(entries.length, session.messageCount, 'neither half a transaction nor half a page');
      const found = new Set(entries.map((entry) => entry.uuid));
      assert.deepEqual(
        expected.filter((uuid) => !found.has(uuid)),
        [],
      );
      if (entries.length > expected.length) overtaken++;
    }
    child.kill('SIGKILL');
    await reader.close();
    temp.remove();
  });

  it('lose nothing while another SQLite program reads the file', async function () {
    this.timeout(60_000);
    const reader = readerLoop();
    if (!reader) {
      console.log('      (skipped: neither sqlite3 nor python3 is there)');
      return this.skip();
    }
    const temp = tempFolder();
    const stored: string[] = [];
    for (let round = 0; round < 2; round++) {
      let reading: ChildProcess | undefined;
      let reads = 0;
      stored.push(
        ...(await killWriter(temp.path, 1e9, (report, count) => {
          if (!reading && report.type === 'stored') {
            reading = spawn(reader.command, reader.args(join(temp.path, 'threadkeeper.db')), { stdio: ['ignore', 'pipe', 'ignore'] });
            children.push(reading);
            createInterface({ input: reading.stdout! }).on('line', () => reads++);
          }
          return count >= watchedCommits && reads >= 10;
        })),
      );
      reading?.kill('SIGKILL');
    }
    assert.ok(stored.length >= 2 * watchedCommits);
    await verify(temp.path, stored);
    temp.remove();
  });
});

interface Reader {
  readonly command: string;
  /** Opens, reads and closes the database again and again, one line for each time. */
  args(file: string): string[];
}

function readerLoop(): Reader | undefined {
  if (runs('sqlite3')) {
    const loop = 'while :; do sqlite3 "$0" "SELECT count(*) FROM sqlite_master; PRAGMA quick_check;" >/dev/null 2>&1; echo read; done';
    return { command: 'sh', args: (file) => ['-c', loop, file] };
  }
  const python = `import sqlite3, sys
while True:
  try:
    c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM sqlite_master').fetchall(); c.close()
  except sqlite3.Error: pass
  print('read', flush=True)`;
  return runs('python3') ? { command: 'python3', args: (file) => ['-c', python, file] } : undefined;
}

function runs(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}

function integrity(file: string): string | undefined {
  return runs('sqlite3') ? spawnSync('sqlite3', [file, 'PRAGMA integrity_check'], { encoding: 'utf8' }).stdout.trim() : undefined;
}
