import { spawn } from 'node:child_process';
import { copyFile, mkdir, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Where a repository of the user's is; found by its files, so that no program reads its configuration. */
export interface FoundRepository {
  /** The work tree. */
  readonly top: string;
  /** The folder that git keeps for this work tree; the index is there. */
  readonly gitDir: string;
  /** Shared by all work trees: the objects are there. */
  readonly commonDir: string;
  /** The folder that was asked about, relative to `top`, with `/`; empty when it is that. */
  readonly prefix: string;
}

/** The repository that a folder lies in, by the `.git` that is nearest to it; null when there is none. */
export async function findRepository(folder: string): Promise<FoundRepository | null> {
  const real = await realpath(folder);
  for (let top = real; ; top = dirname(top)) {
    const gitDir = await gitDirAt(join(top, '.git'));
    if (gitDir) {
      const common = await readFile(join(gitDir, 'commondir'), 'utf8').catch(() => '');
      return {
        top,
        gitDir,
        commonDir: common.trim() === '' ? gitDir : resolve(gitDir, common.trim()),
        prefix: relative(top, real).split(sep).join('/'),
      };
    }
    if (dirname(top) === top) return null;
  }
}

/** A folder, or a file that names one: in a work tree beside the first, and in a submodule. */
async function gitDirAt(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (!found) return null;
  const gitDir = found.isDirectory()
    ? path
    : resolve(dirname(path), /^gitdir: (.+)/.exec(await readFile(path, 'utf8').catch(() => ''))?.[1]?.trim() ?? '.');
  return (await stat(join(gitDir, 'HEAD')).catch(() => null)) ? gitDir : null;
}

/** Attributes by which Git would give a file other bytes than it has on disk; the last word is that of `info/attributes`. */
const rawAttributes = '* -text -filter -ident -working-tree-encoding -diff -merge\n';
/** What the user's own configuration may say to that effect. */
const converting = /\b(?:filter|ident|working-tree-encoding)\b/;

/**
 * A repository of ours in our storage whose work tree is the user's, and whose objects are theirs and then ours. Git reads our
 * configuration and none of theirs: no filter, hook or monitor of theirs runs, and nothing is written but in `folder`.
 */
export class ShadowRepository {
  readonly index: string;
  readonly objects: string;

  constructor(
    readonly folder: string,
    readonly found: FoundRepository,
  ) {
    this.index = join(folder, 'index');
    this.objects = join(folder, 'objects');
  }

  static in(storage: string, found: FoundRepository): ShadowRepository {
    return new ShadowRepository(join(storage, createHash('sha256').update(found.top).digest('hex').slice(0, 16)), found);
  }

  /** Makes it anew where it is not there. Rejects when Git cannot be used. */
  async prepare(): Promise<void> {
    const { folder, found } = this;
    const isSeeded = (await stat(this.index).catch(() => null)) !== null;
    if (!isSeeded) {
      await rm(folder, { recursive: true, force: true });
      for (const name of ['objects/info', 'refs', 'info']) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
      const theirs = await readFile(join(found.commonDir, 'config'), 'utf8').catch(() => '');
      await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
      await writeFile(join(folder, 'config'), config(/objectformat\s*=\s*sha256/i.test(theirs)));
      await writeFile(join(folder, 'objects', 'info', 'alternates'), `${join(found.commonDir, 'objects')}\n`);
    }
    // What the user ignores beside what the tree says; it may change at any time, and so is taken over each time.
    const excludes = await Promise.all(
      [join(found.commonDir, 'info', 'exclude'), join(homedir(), '.config', 'git', 'ignore')].map((file) =>
        readFile(file, 'utf8').catch(() => ''),
      ),
    );
    await writeFile(join(folder, 'info', 'exclude'), excludes.join('\n'));
    if (isSeeded) return;
    await this.seed().catch(() => rm(this.index, { force: true }));
    await writeFile(join(folder, 'info', 'attributes'), rawAttributes);
  }

  /**
   * Begins with the user's index, so that nothing is read that Git knows. What it names has to be what is on disk: entries are left out of
   * which the file is longer or shorter than the object (line ends), or goes through a filter. `info/attributes` is not there yet.
   */
  private async seed(): Promise<void> {
    const { found } = this;
    const theirs = join(found.gitDir, 'index');
    const own = await readFile(join(found.commonDir, 'info', 'attributes'), 'utf8').catch(() => '');
    const global = await readFile(join(homedir(), '.config', 'git', 'attributes'), 'utf8').catch(() => '');
    if (converting.test(own) || converting.test(global)) return;
    const { mtimeMs } = await stat(theirs);
    await copyFile(theirs, this.index);
    // Git reads again what has changed at the time of the index, or later: a copy is no reason to trust it more.
    await utimes(this.index, mtimeMs / 1000 - 1, mtimeMs / 1000 - 1);
    const entries = indexEntries(await this.git(['ls-files', '-z', '--stage', '--debug']));
    const sizes = (await this.git(['cat-file', '--batch-check=%(objectsize)', '--buffer'], entries.map(({ oid }) => `${oid}\n`).join('')))
      .toString('latin1')
      .split('\n');
    const filtered = entries.some(({ path }) => path.endsWith('.gitattributes')) ? await this.filtered(entries) : new Set<string>();
    const wrong = entries.filter(
      ({ mode, size, path, isTrusted, stage }, i) =>
        mode !== '160000' && (stage !== '0' || isTrusted || filtered.has(path) || (mode !== '120000' && sizes[i] !== String(size))),
    );
    if (wrong.length > 0) await this.git(['update-index', '-z', '--force-remove', '--stdin'], nulls(wrong.map(({ path }) => path)));
  }

  private async filtered(entries: readonly IndexEntry[]): Promise<Set<string>> {
    const said = await this.git(
      ['check-attr', '-z', '--stdin', 'filter', 'ident', 'working-tree-encoding'],
      nulls(entries.map(({ path }) => path)),
    );
    const fields = said.toString('utf8').split('\0');
    const found = new Set<string>();
    for (let i = 0; i + 2 < fields.length; i += 3) if (!['unspecified', 'unset'].includes(fields[i + 2]!)) found.add(fields[i]!);
    return found;
  }

  /** What it prints. `index`: another one than ours. Rejects when it fails. */
  git(args: readonly string[], input = '', index = this.index): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const child = spawn('git', ['-c', 'core.fsmonitor=false', '-c', `core.hooksPath=${nullFile}`, '--literal-pathspecs', ...args], {
        // On Windows a program is looked for in the current folder first: never in the user's.
        cwd: this.folder,
        windowsHide: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: this.environment(index),
      });
      const [out, errors]: [Buffer[], Buffer[]] = [[], []];
      child.stdout.on('data', (data: Buffer) => out.push(data));
      child.stderr.on('data', (data: Buffer) => errors.push(data));
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
      child.once('error', reject);
      child.once('close', (code) =>
        code === 0
          ? resolve(Buffer.concat(out))
          : reject(new Error(`git ${args[0]} ended with ${code}: ${Buffer.concat(errors).toString().slice(0, 500)}`)),
      );
    });
  }

  /** Nothing of the user's but where programs and temporary files are: a variable may name a configuration, or a program. */
  private environment(index: string): NodeJS.ProcessEnv {
    const kept = ['PATH', 'Path', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'PATHEXT', 'ComSpec'];
    return {
      ...Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
      HOME: this.folder,
      XDG_CONFIG_HOME: this.folder,
      LC_ALL: 'C',
      GIT_DIR: this.folder,
      GIT_WORK_TREE: this.found.top,
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: this.objects,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: nullFile,
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_NO_LAZY_FETCH: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
    };
  }
}

const nullFile = process.platform === 'win32' ? 'NUL' : '/dev/null';

interface IndexEntry {
  readonly mode: string;
  readonly oid: string;
  readonly stage: string;
  readonly path: string;
  readonly size: number;
  /** The user has told Git not to look at the file, or it is not checked out. */
  readonly isTrusted: boolean;
}

/** Of `ls-files -z --stage --debug`: a line that ends with a zero, then lines of what the index knows of the file. */
function indexEntries(output: Buffer): IndexEntry[] {
  const found: IndexEntry[] = [];
  const entry =
    /(\d{6}) ([0-9a-f]+) (\d)\t([^\0]+)\0 {2}ctime: [^\n]*\n {2}mtime: [^\n]*\n {2}dev: [^\n]*\n {2}uid: [^\n]*\n {2}size: (\d+)\tflags: ([0-9a-f]+)\n/g;
  for (const [, mode, oid, stage, path, size, flags] of output.toString('utf8').matchAll(entry))
    found.push({
      mode: mode!,
      oid: oid!,
      stage: stage!,
      path: path!,
      size: Number(size),
      isTrusted: (parseInt(flags!, 16) & 0x4000_8000) !== 0,
    });
  return found;
}

export function nulls(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join('');
}

function config(isSha256: boolean): string {
  const isWindows = process.platform === 'win32';
  return [
    '[core]',
    `repositoryformatversion = ${isSha256 ? 1 : 0}`,
    'bare = false',
    `filemode = ${!isWindows}`,
    `symlinks = ${!isWindows}`,
    `ignorecase = ${isWindows || process.platform === 'darwin'}`,
    `precomposeunicode = ${process.platform === 'darwin'}`,
    'longpaths = true',
    'autocrlf = false',
    'logallrefupdates = false',
    '[gc]',
    'auto = 0',
    ...(isSha256 ? ['[extensions]', 'objectformat = sha256'] : []),
    '',
  ].join('\n');
}
