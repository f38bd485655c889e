import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { squeezed } from '../../core/attribution/lineText';
import type { FoundRepository } from '../rewind/gitRepository';
import { GitContents } from './gitContents';

/** The commit with which a line came, as `git blame` tells it. */
export interface Blamed {
  readonly commit: string;
  readonly author: string;
  /** When it was committed, in milliseconds. */
  readonly at: number;
  readonly summary: string;
  /** The file and the line, from 0, as they were there. */
  readonly path: string;
  readonly line: number;
  readonly previous: { readonly commit: string; readonly path: string } | null;
}

/** Bytes of one answer; files that are longer are not written by hand. */
const mostBytes = 32 * 1024 * 1024;
const timeLimitMs = 30_000;
/** States of a file that are looked through. */
const mostStates = 60;
/** Files of one commit from which a line may have been moved. */
const mostFiles = 40;
/** Lines before and after that are asked about as well: what was moved is known by the letters of a block, 20 at least. */
const around = 15;

/** Asks Git about commits, and never about the work tree: then neither filters nor hooks of a repository are run. */
export class GitReader {
  private readonly contents: GitContents;
  private readonly known = new Map<string, Promise<readonly string[] | null>>();

  constructor(
    private readonly repository: FoundRepository,
    private readonly signal: AbortSignal,
  ) {
    this.contents = new GitContents(
      () => spawn('git', argumentsOf(['cat-file', '--batch']), { ...this.options, stdio: ['pipe', 'pipe', 'ignore'] }),
      mostBytes,
      timeLimitMs,
    );
  }

  close(): void {
    this.contents.close();
  }

  /** The lines of a file in a commit; null: it is not there, or no text. Rejects when Git cannot be used. */
  lines(commit: string, path: string): Promise<readonly string[] | null> {
    const name = `${commit}:${path}`;
    const known = this.known.get(name) ?? this.readLines(commit, path);
    this.known.set(name, known);
    return known;
  }

  private async readLines(commit: string, path: string): Promise<readonly string[] | null> {
    this.signal.throwIfAborted();
    const isOneLine = !/[\n\r]/.test(path);
    const text = isOneLine ? await this.contents.text(commit, path) : await this.optional(['cat-file', 'blob', `${commit}:${path}`]);
    return text === null || text.includes('\0') ? null : linesOf(text);
  }

  /** Null: the file is not there, or has no such line. `-w -M -C`: past changes of blanks, and from where it was moved or copied. */
  async blame(commit: string, path: string, line: number): Promise<Blamed | null> {
    const place = `${Math.max(1, line + 1 - around)},+${Math.min(line, around) + around + 1}`;
    const said = await this.optional(['blame', '--no-textconv', '-w', '-M', '-C', '-L', place, '--line-porcelain', commit, '--', path]);
    return said === null ? null : parseBlame(said, line);
  }

  /** Files that a commit has changed or taken away, against the one before it; none where these are too many to be looked through. */
  async changedFiles(before: string, after: string): Promise<readonly string[]> {
    const said = await this.optional(['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=MD', before, after]);
    const paths = (said ?? '').split('\0').filter((path) => path !== '');
    return paths.length > mostFiles ? [] : paths;
  }

  /** When the file was committed last, up to a commit and with it, in milliseconds; null: never. */
  async lastCommit(commit: string, path: string): Promise<number | null> {
    const said = await this.optional(['rev-list', '-1', '--timestamp', commit, '--', path]);
    const seconds = /^(\d+) /.exec(said ?? '')?.[1];
    return seconds === undefined ? null : Number(seconds) * 1000;
  }

  /** Whether the line stood in the file in one of the states that were committed since a time, up to a commit and with it. */
  async stoodSince(at: number, commit: string, path: string, line: string): Promise<boolean> {
    const since = `--since=${Math.floor(at / 1000)}`;
    const commits = (await this.optional(['rev-list', `--max-count=${mostStates}`, since, commit, '--', path])) ?? '';
    const wanted = squeezed(line);
    for (const one of commits.split('\n').filter((name) => name !== ''))
      if ((await this.readLines(one, path))?.some((text) => squeezed(text) === wanted)) return true;
    return false;
  }

  /** The states of a file after a commit up to another, the oldest first, each under one of its names; of very many, some. */
  async *statesBetween(from: string, to: string, paths: readonly string[]): AsyncGenerator<readonly string[]> {
    const said = await this.optional(['rev-list', '--first-parent', '--reverse', `${from}..${to}`, '--', ...paths]);
    const commits = (said ?? '').split('\n').filter((name) => name !== '');
    const every = Math.ceil(commits.length / mostStates);
    for (const [i, one] of commits.entries()) {
      if (i % every !== 0 && i < commits.length - 1) continue;
      for (const path of paths) {
        const lines = await this.readLines(one, path);
        if (!lines) continue;
        yield lines;
        break;
      }
    }
  }

  private async optional(args: readonly string[]): Promise<string | null> {
    const { code, out, error } = await this.run(args);
    if (code === 0) return out;
    if (code === null) throw new Error(`git ${args[0]} took too long, or its answer is too large`);
    if (/dubious ownership|not a git repository/i.test(error)) throw new Error(error.trim().slice(0, 500));
    return null;
  }

  private run(args: readonly string[]): Promise<{ readonly code: number | null; readonly out: string; readonly error: string }> {
    this.signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const child = spawn('git', argumentsOf(args), { ...this.options, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeLimitMs });
      const out: Buffer[] = [];
      let [size, error] = [0, ''];
      child.stdout.on('data', (data: Buffer) => {
        out.push(data);
        size += data.length;
        if (size > mostBytes) child.kill();
      });
      child.stderr.on('data', (data: Buffer) => {
        if (error.length < 2_000) error += data.toString();
      });
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, out: Buffer.concat(out).toString('utf8'), error }));
    });
  }

  private get options() {
    return {
      // On Windows a program is looked for in the current folder first: never in one that somebody else has filled.
      cwd: dirname(process.execPath),
      windowsHide: true,
      signal: this.signal,
      env: {
        ...process.env,
        LC_ALL: 'C',
        GIT_DIR: this.repository.gitDir,
        // Paths are those of commits, whatever folder this is.
        GIT_WORK_TREE: this.repository.gitDir,
        GIT_OPTIONAL_LOCKS: '0',
        GIT_TERMINAL_PROMPT: '0',
        // A repository may leave objects to a remote, and that remote may be a command: Git before 2.45 knows the second alone.
        GIT_NO_LAZY_FETCH: '1',
        GIT_ALLOW_PROTOCOL: '',
      },
    };
  }
}

function argumentsOf(args: readonly string[]): readonly string[] {
  const settings = ['core.fsmonitor=false', 'core.hooksPath=', 'log.showSignature=false', 'blame.ignoreRevsFile='];
  return ['--no-pager', ...settings.flatMap((one) => ['-c', one]), '--literal-pathspecs', ...args];
}

export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Of `--line-porcelain`: for each line a head, its fields, and the line behind a tab. `line` as it was asked, from 0. */
function parseBlame(said: string, line: number): Blamed | null {
  // By LF alone: the line behind a tab may hold CR, and what JavaScript takes for an end of a line.
  const rows = said.split('\n');
  const isHead = (at: number) => at === 0 || rows[at - 1]!.startsWith('\t');
  const at = rows.findIndex((one, i) => isHead(i) && /^[0-9a-f]+ \d+ (\d+)/.exec(one)?.[1] === String(line + 1));
  if (at < 0) return null;
  const [head = '', ...rest] = rows.slice(
    at,
    rows.findIndex((one, i) => i > at && one.startsWith('\t')),
  );
  const [commit, place] = head.split(' ');
  const field = (name: string) => rest.find((one) => one.startsWith(`${name} `))?.slice(name.length + 1);
  const path = field('filename');
  if (commit === undefined || path === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const previous = /^([0-9a-f]+) (.*)$/.exec(field('previous') ?? '');
  return {
    commit,
    author: field('author') ?? '',
    at: Number(field('committer-time') ?? 0) * 1000,
    summary: field('summary') ?? '',
    path: unquoted(path),
    line: Number(place) - 1,
    previous: previous ? { commit: previous[1]!, path: unquoted(previous[2]!) } : null,
  };
}

/** Git writes a name with unusual signs between quotes, with its bytes in octal digits. */
function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const bytes: number[] = [];
  const named: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  for (const [, octal, sign, plain] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(parseInt(octal, 8));
    else if (sign !== undefined) bytes.push(named[sign] ?? sign.charCodeAt(0));
    else bytes.push(...Buffer.from(plain!));
  }
  return Buffer.from(bytes).toString('utf8');
}
