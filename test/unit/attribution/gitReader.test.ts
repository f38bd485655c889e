import assert, { deepStrictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { GitReader } from '../../../src/node/attribution/gitReader';
import { findRepository } from '../../../src/node/rewind/gitRepository';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('a repository that was made to be hostile', function () {
  this.timeout(30_000);
  let temp: TempFolder;
  const path = process.env['PATH']!;
  before(function () {
    // The Git in between is a shell script.
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(() => {
    process.env['PATH'] = path;
    temp.remove();
  });

  it('has nothing run or fetched, by an older Git neither, and none is looked for in its folders', async () => {
    const [work, proof, log, bin] = ['work', 'proof', 'log', 'bin'].map((name) => join(temp.path, name)) as [
      string,
      string,
      string,
      string,
    ];
    mkdirSync(work);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: work, encoding: 'utf8' }).trim();
    git('init', '-q');
    writeFileSync(join(work, 'a.txt'), 'one\n');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    const [commit, blob] = [git('rev-parse', 'HEAD'), git('rev-parse', 'HEAD:a.txt')];
    // What is missing is to come from a remote that is a command.
    for (const [name, value] of [
      ['core.repositoryformatversion', '1'],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.promisor', 'true'],
      ['remote.origin.url', `ext::sh -c touch% ${proof}`],
      ['protocol.allow', 'always'],
      ['protocol.ext.allow', 'always'],
      ['core.fsmonitor', `touch ${proof}`],
    ] as const)
      git('config', name, value);
    rmSync(join(work, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
    mkdirSync(bin);
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    writeFileSync(join(bin, 'git'), `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\npwd >> '${log}'\nexec '${real}' "$@"\n`);
    chmodSync(join(bin, 'git'), 0o755);
    process.env['PATH'] = bin + delimiter + path;
    const reader = new GitReader((await findRepository(work))!, new AbortController().signal);
    // A Git that cannot fetch what it has promised may end by a signal.
    const found = [await reader.lines(commit, 'a.txt').catch(() => null), await reader.blame(commit, 'a.txt', 0).catch(() => null)];
    reader.close();
    const folders = readFileSync(log, 'utf8').trim().split('\n');
    assert.deepEqual(
      { found, ran: existsSync(proof), inside: folders.filter((folder) => folder.startsWith(work)) },
      { found: [null, null], ran: false, inside: [] },
    );
  });
});

describe('who wrote a line', function () {
  this.timeout(30_000);
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  for (const [name, text] of [
    ['LF', 'one\ntwo\nthree\n'],
    ['CRLF', 'one\r\ntwo\r\nthree\r\n'],
    ['U+2028', 'one\u2028 and\ntwo\nthree\n'],
  ] as const)
    it(`is found for each line of a file with ${name}`, async () => {
      const work = join(temp.path, 'work');
      mkdirSync(work);
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'core.autocrlf=false', ...args], { cwd: work });
      git('init', '-q');
      writeFileSync(join(work, 'a.txt'), text);
      git('add', '.');
      git('commit', '-q', '-m', 'first');
      const reader = new GitReader((await findRepository(work))!, new AbortController().signal);
      const found = [];
      for (const line of [0, 1, 2]) found.push((await reader.blame('HEAD', 'a.txt', line))?.line ?? null);
      reader.close();
      deepStrictEqual(found, [0, 1, 2]);
    });
});
