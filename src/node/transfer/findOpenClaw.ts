import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { openClawSessions, type OpenClawSession } from '../../core/transfer/openClawKeys';

export interface OpenClawAgent {
  readonly agent: string;
  /** With `sessions.json` in it. */
  readonly folder: string;
  readonly sessions: readonly OpenClawSession[];
}

export interface FoundOpenClaw {
  /** That were looked through. */
  readonly paths: readonly string[];
  readonly agents: readonly OpenClawAgent[];
  /** Agents whose sessions are kept in a database (OpenClaw from 2026.8.1 on): these cannot be watched. */
  readonly inDatabase: readonly string[];
}

/** The product's folder has had three names. */
const homes = ['.openclaw', '.clawdbot', '.moltbot'];

/** Every agent below `path`, which is the folder of the agents; empty: where OpenClaw keeps it. Never rejects: what cannot be read is not there. */
export async function findOpenClaw(path: string): Promise<FoundOpenClaw> {
  const paths = path === '' ? homes.map((name) => join(homedir(), name, 'agents')) : [path.replace(/^~(?=[\\/]|$)/, homedir())];
  const agents: OpenClawAgent[] = [];
  const inDatabase: string[] = [];
  for (const root of paths) {
    const names = await readdir(root).catch(() => []);
    for (const name of names.sort()) {
      const folder = join(root, name, 'sessions');
      const text = await readFile(join(folder, 'sessions.json'), 'utf8').catch(() => null);
      const sessions = text === null ? null : openClawSessions(text);
      if (sessions) agents.push({ agent: name, folder, sessions });
      else if (await stat(join(root, name, 'agent', 'openclaw-agent.sqlite')).catch(() => null)) inDatabase.push(name);
    }
  }
  return { paths, agents, inDatabase };
}

