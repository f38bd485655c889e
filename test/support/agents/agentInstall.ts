import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../paths';

const run = promisify(execFile);
const minutes = 10;

/** What npm is asked for, each with its exact version. */
export interface AgentPackage {
  readonly packages: readonly string[];
  /** Nothing of theirs is run at installation. */
  readonly ignoresScripts?: boolean;
}

/**
 * The folder of an installed program, outside the project and kept between runs: THREADKEEPER_AGENTS names another one. What was not
 * installed to its end is installed anew. Rejects with npm's words.
 */
export async function installAgent(id: string, { packages, ignoresScripts }: AgentPackage): Promise<string> {
  const base = process.env['THREADKEEPER_AGENTS'] || join(cacheFolder(), 'agents');
  const folder = join(base, id);
  const wanted = packages.join(' ');
  const mark = join(folder, 'installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return folder;
  const draft = `${folder}.${process.pid}.tmp`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  try {
    await run(
      process.platform === 'win32' ? 'npm.cmd' : 'npm',
      [
        'install',
        '--prefix',
        draft,
        '--no-audit',
        '--no-fund',
        '--no-save',
        '--loglevel=error',
        ...(ignoresScripts ? ['--ignore-scripts'] : []),
        ...packages,
      ],
      { timeout: minutes * 60_000, cwd: draft, shell: process.platform === 'win32' },
    );
    await writeFile(join(draft, 'installed'), wanted);
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** Some programs ask for a newer Node than the one that runs the tests. Resolves with one of that version from npm. */
export async function nodeOf(version: string): Promise<string> {
  if (Number(process.versions.node.split('.')[0]) >= Number(version.split('.')[0])) return process.execPath;
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${system}-${process.arch}`;
  const folder = await installAgent(`node-${version}`, { packages: [`${name}@${version}`] });
  return join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}
