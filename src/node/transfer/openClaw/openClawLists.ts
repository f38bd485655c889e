import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { OpenClawAbout } from '../../../core/transfer/openClawAbout';
import { openClawSessions, type OpenClawSession } from '../../../core/transfer/openClawKeys';

/** The lists of OpenClaw that lie beside transcripts, each read once. */
export class OpenClawLists {
  private readonly found = new Map<string, Promise<ReadonlyMap<string, OpenClawSession>>>();

  /** Null: no list names the transcript. Never rejects. */
  async about(file: string): Promise<OpenClawAbout | null> {
    const folder = dirname(file);
    const sessions = this.found.get(folder) ?? byFile(join(folder, 'sessions.json'));
    this.found.set(folder, sessions);
    const session = (await sessions).get(basename(file));
    return session ? aboutListed(session) : null;
  }
}

export function aboutListed({ key, label, displayName }: OpenClawSession): OpenClawAbout {
  return { sessionKey: key, previousSession: null, begun: null, archivedAt: null, pinnedAt: null, label, displayName };
}

/** Where several keys name a file, the one that was written last counts. */
async function byFile(list: string): Promise<ReadonlyMap<string, OpenClawSession>> {
  const sessions = openClawSessions(await readFile(list, 'utf8').catch(() => '')) ?? [];
  return new Map(sessions.reverse().map((session) => [session.file, session]));
}
