import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GitContents } from '../../../src/node/attribution/gitContents';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('files of commits', () => {
  let temp: TempFolder;
  let contents: GitContents;
  let started = 0;
  const large = 'zebra 斑马\n'.repeat(30_000);

  beforeEach(() => {
    temp = tempFolder();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: temp.path });
    git('init', '-q');
    mkdirSync(join(temp.path, 'folder'));
    for (const [name, text] of Object.entries({ 'a.txt': 'one\n', 'empty.txt': '', 'folder/large.txt': large }))
      writeFileSync(join(temp.path, name), text);
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    started = 0;
  });
  afterEach(() => {
    contents.close();
    temp.remove();
  });

  const open = (mostBytes: number, args = ['cat-file', '--batch']) =>
    (contents = new GitContents(
      () => {
        started++;
        return spawn('git', args, { cwd: temp.path, stdio: ['pipe', 'pipe', 'ignore'] });
      },
      mostBytes,
      30_000,
    ));

  it('are told by one program, in the order of the questions', async () => {
    const asked = ['a.txt', 'folder/large.txt', 'gone.txt', 'folder', 'empty.txt', 'a.txt'];
    const reader = open(1_000_000);
    assert.deepEqual(await Promise.all(asked.map((path) => reader.text('HEAD', path))), ['one\n', large, null, null, '', 'one\n']);
    assert.deepEqual([await reader.text('HEAD~9', 'a.txt'), started], [null, 1]);
  });

  it('are not read where they are too large, and the next question is answered', async () => {
    const reader = open(1_000);
    await assert.rejects(reader.text('HEAD', 'folder/large.txt'), { message: 'This file is too large' });
    assert.deepEqual([await reader.text('HEAD', 'a.txt'), started], ['one\n', 2]);
  });

  it('are not told by a program that ends, or when it is over', async () => {
    await assert.rejects(open(1_000, ['no-such-command']).text('HEAD', 'a.txt'), { message: 'git cat-file has ended' });
    const reader = open(1_000);
    const asked = reader.text('HEAD', 'a.txt');
    reader.close();
    await assert.rejects(asked, { message: 'Git is no longer asked' });
  });
});
