import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorText } from '../../core/errors';
import { openClawSessions, type ListedSession } from '../../core/transfer/openClawKeys';
import { ForeignDatabase } from './foreignDatabase';
import { LivePages } from './livePages';
import { databaseSessions } from './openClawDatabase';

export type OpenClawPlace =
  /** With `sessions.json` in it. */
  | { readonly type: 'folder'; readonly folder: string }
  /** From OpenClaw 2026.8.1 on. */
  | { readonly type: 'database'; readonly file: string };

export interface OpenClawAgent {
  readonly agent: string;
  readonly place: OpenClawPlace;
  readonly sessions: readonly ListedSession[];
}

export interface FoundOpenClaw {
  /** That were looked through. */
  readonly paths: readonly string[];
  readonly agents: readonly OpenClawAgent[];
  readonly unreadable: readonly { readonly agent: string; readonly reason: string }[];
}

/** The product's folder has had three names. */
const homes = ['.openclaw', '.clawdbot', '.moltbot'];

/** Every agent below `path`, which is the folder of the agents; empty: where OpenClaw keeps it. Never rejects: a list that cannot be read is not there. */
export async function findOpenClaw(path: string, wasmFile: string): Promise<FoundOpenClaw> {
  const paths = path === '' ? homes.map((name) => join(homedir(), name, 'agents')) : [path.replace(/^~(?=[\\/]|$)/, homedir())];
  const agents: OpenClawAgent[] = [];
  const unreadable: { agent: string; reason: string }[] = [];
  for (const root of paths) {
    const names = await readdir(root).catch(() => []);
    for (const agent of names.sort()) {
      const file = join(root, agent, 'agent', 'openclaw-agent.sqlite');
      const folder = join(root, agent, 'sessions');
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
  }
  return { paths, agents, unreadable };
}

async function inDatabase(file: string, wasmFile: string): Promise<OpenClawAgent['sessions']> {
  if (!(await stat(file).catch(() => null))) return [];
  return ForeignDatabase.glance(new LivePages(file), wasmFile, databaseSessions);
}
