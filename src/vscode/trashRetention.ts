import { errorText } from '../core/errors';
import type { Logger, SessionStore } from '../core/ports';
import type { PurgePreview } from '../core/session/purgePreview';
import type { Session } from '../core/session/session';

export interface TrashRetentionDeps {
  readonly store: { get(): Promise<SessionStore> };
  /** How long a session stays in the trash; 0: until the user empties it. */
  readonly days: () => number;
  readonly memory: RetentionMemory;
  /** Shows what would go; resolves with the sessions that may, or undefined when the user has not decided. */
  readonly ask: (days: number, due: readonly Session[], preview: PurgePreview) => Promise<readonly Session[] | undefined>;
  readonly purged: () => void;
  readonly now: () => number;
  readonly log: Logger;
}

export interface RetentionMemory {
  /** When it was done last in this workspace. */
  readonly lastRun: () => number;
  readonly setLastRun: (at: number) => Promise<void>;
  /** For how many days the user has agreed to deletions in this workspace; undefined before. */
  readonly agreed: () => number | undefined;
  readonly setAgreed: (days: number) => Promise<void>;
}

const day = 86_400_000;

/**
 * Deletes for good what has been in the trash for long enough, where the user wants that: once a day at most, after a preview the
 * first time, and again after the setting has changed. Does nothing of itself: without the setting the trash is kept.
 */
export class TrashRetention {
  private running = false;

  constructor(private readonly deps: TrashRetentionDeps) {}

  /** Never rejects. */
  async run(): Promise<void> {
    const { days, memory, now, log } = this.deps;
    const kept = days();
    if (kept <= 0 || this.running || now() - memory.lastRun() < day) return;
    this.running = true;
    try {
      const store = await this.deps.store.get();
      // Another window owns it and does this; here it is done when that one has ended.
      if (store.status.access !== 'owner') return;
      await memory.setLastRun(now());
      await this.purge(store, kept);
    } catch (error) {
      log.warn('trash_not_purged', { detail: errorText(error) });
    } finally {
      this.running = false;
    }
  }

  private async purge(store: SessionStore, days: number): Promise<void> {
    const { memory, ask, purged, now, log } = this.deps;
    const due = dueSessions(await store.listSessions({ trashed: true }), days, now());
    if (due.length === 0) return;
    let chosen: readonly Session[] = due;
    if (memory.agreed() !== days) {
      const answer = await ask(days, due, await store.purgePreview(due.map(({ uuid }) => uuid)));
      if (!answer) return;
      chosen = answer;
      // Who keeps something has not agreed to what would take it tomorrow.
      if (chosen.length === due.length) await memory.setAgreed(days);
      if (chosen.length === 0) return;
    }
    // In the meantime some may have been restored.
    const trashed = new Set((await store.listSessions({ trashed: true })).map(({ uuid }) => uuid));
    const { sessions, entries, bytes } = await store.purge(chosen.map(({ uuid }) => uuid).filter((uuid) => trashed.has(uuid)));
    log.info('trash_purged', { days, sessions: sessions.length, entries, bytes });
    purged();
  }
}

/** Those that have been in the trash for more than so many days. */
function dueSessions(trashed: readonly Session[], days: number, now: number): Session[] {
  return trashed.filter(({ deletedAt }) => deletedAt !== null && deletedAt < now - days * day);
}
