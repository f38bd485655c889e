import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { errorText } from '../../../core/errors';
import {
  openClawSessions,
  transcriptName,
  type ListedSession,
  type OpenClawSession,
  type OpenClawAbout,
} from '../../../core/transfer/openClawKeys';
import { ForeignDatabase } from '../foreign/foreignDatabase';
import { LivePages } from '../foreign/livePages';
import { databaseSessions } from './openClawDatabase';
import { FileTail } from '../foreign/fileTail';
import { aboutListed } from './openClawSessions';
import type { OpenClawSource } from './openClawWatch';

export type OpenClawPlace =
  /** It has a `sessions.json` in it. */
  | { readonly type: 'folder'; readonly folder: string }
  /** OpenClaw has it from 2026.8.1 on. */
  | { readonly type: 'database'; readonly file: string };

export interface OpenClawAgent {
  readonly agent: string;
  readonly place: OpenClawPlace;
  readonly sessions: readonly ListedSession[];
}

export interface FoundOpenClaw {
  /** These paths were looked through. */
  readonly paths: readonly string[];
  readonly agents: readonly OpenClawAgent[];
  readonly unreadable: readonly { readonly agent: string; readonly reason: string }[];
}

/** The product's folder has had three names. */
const homes = ['.openclaw', '.clawdbot', '.moltbot'];

/**
 * Every agent below `path`, which is OpenClaw's folder, that of its agents, of one agent, or of an agent's sessions; empty: where OpenClaw
 * keeps them. Never rejects: a list that cannot be read is not there.
 */
export async function findOpenClaw(path: string, wasmFile: string): Promise<FoundOpenClaw> {
  const paths = path === '' ? homes.map((name) => join(homedir(), name, 'agents')) : [resolve(path.replace(/^~(?=[\\/]|$)/, homedir()))];
  const agents: OpenClawAgent[] = [];
  const unreadable: { agent: string; reason: string }[] = [];
  for (const home of (await Promise.all(paths.map(agentFolders))).flat()) {
    const agent = basename(home);
    const file = join(home, 'agent', 'openclaw-agent.sqlite');
    const folder = join(home, 'sessions');
    const kept: OpenClawAgent['sessions'] = await inDatabase(file, wasmFile).catch((error: unknown) => {
      unreadable.push({ agent, reason: errorText(error) });
      return [];
    });
    const keys = new Set(kept.map(({ key }) => key));
    const text = await readFile(join(folder, 'sessions.json'), 'utf8').catch(() => '');
    // What has been moved to the database goes on there.
    const listed = (openClawSessions(text) ?? []).filter(({ key }) => !keys.has(key));
    if (kept.length > 0) agents.push({ agent, place: { type: 'database', file }, sessions: kept });
    if (listed.length > 0) agents.push({ agent, place: { type: 'folder', folder }, sessions: listed });
  }
  return { paths, agents, unreadable };
}

/** Each with `sessions` or `agent` in it. */
async function agentFolders(path: string): Promise<string[]> {
  if (existsSync(join(path, 'sessions.json')) && basename(path) === 'sessions') return [dirname(path)];
  if (existsSync(join(path, 'sessions', 'sessions.json')) || existsSync(join(path, 'agent', 'openclaw-agent.sqlite'))) return [path];
  // An agent that has moved to its database leaves an empty folder behind, or none.
  if (basename(path) === 'sessions' && existsSync(join(dirname(path), 'agent', 'openclaw-agent.sqlite'))) return [dirname(path)];
  const root = existsSync(join(path, 'agents')) ? join(path, 'agents') : path;
  return (await readdir(root).catch(() => [])).sort().map((name) => join(root, name));
}

async function inDatabase(file: string, wasmFile: string): Promise<OpenClawAgent['sessions']> {
  if (!(await stat(file).catch(() => null))) return [];
  return ForeignDatabase.glance(new LivePages(file), wasmFile, databaseSessions);
}

/** A folder with `sessions.json` and a file for each session, as OpenClaw had until 2026.7. */
export class OpenClawFolder implements OpenClawSource {
  private seen: { readonly mtimeMs: number; readonly size: number; readonly ino: number } | null = null;
  private session: OpenClawSession | null = null;

  constructor(
    private readonly folder: string,
    private readonly key: string,
  ) {}

  /** A list that is being written is looked at again the next time. */
  async look(): Promise<string | null> {
    const file = join(this.folder, 'sessions.json');
    const found = await stat(file).catch(() => null);
    if (!found) return this.session?.sessionId ?? null;
    const { mtimeMs, size, ino } = found;
    if (this.seen?.mtimeMs === mtimeMs && this.seen.size === size && this.seen.ino === ino) return this.session?.sessionId ?? null;
    const sessions = openClawSessions(await readFile(file, 'utf8'));
    if (!sessions) return this.session?.sessionId ?? null;
    this.seen = { mtimeMs, size, ino };
    this.session = sessions.find(({ key }) => key === this.key) ?? this.session;
    return this.session?.sessionId ?? null;
  }

  about(sessionId: string): OpenClawAbout | null {
    return this.session?.sessionId === sessionId ? aboutListed(this.session) : null;
  }

  tail(sessionId: string): FileTail {
    return new FileTail(join(this.folder, this.session?.sessionId === sessionId ? this.session.file : transcriptName(sessionId)));
  }
}
