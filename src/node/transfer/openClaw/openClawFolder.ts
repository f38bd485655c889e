import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenClawAbout } from '../../../core/transfer/openClawAbout';
import { openClawSessions, transcriptName, type OpenClawSession } from '../../../core/transfer/openClawKeys';
import { FileTail } from './fileTail';
import { aboutListed } from './openClawLists';
import type { OpenClawSource } from './openClawSource';

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
