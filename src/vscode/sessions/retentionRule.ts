import { errorText } from '../../core/errors';
import type { Logger, SessionStore } from '../../core/ports';
import type { PurgePreview } from '../../core/maintenance/reports';
import { lastUsed, sessionsToCleanUp } from '../../core/maintenance/cleanUp';
import type { Session } from '../../core/session/session';

export interface RetentionRuleDeps<Preview> {
  readonly store: { get(): Promise<SessionStore> };
  /** After how many days; 0: never. */
  readonly days: () => number;
  readonly memory: RetentionMemory;
  /** What other devices have said is here: one of them may have restored, or gone on with, what looks unused by what was known before. */
  readonly isCurrent: (store: SessionStore) => Promise<boolean>;
  readonly rule: Rule<Preview>;
  /** Shows what would go; resolves with the sessions that may, or undefined when the user has not decided. */
  readonly ask: (days: number, due: readonly Session[], preview: Preview) => Promise<readonly Session[] | undefined>;
  readonly done: () => void;
  readonly now: () => number;
  readonly log: Logger;
}

export interface RetentionMemory {
  /** When it was done last in this workspace. */
  readonly lastRun: () => number;
  readonly setLastRun: (at: number) => Promise<void>;
  /** For how many days the user has agreed in this workspace; undefined before. */
  readonly agreed: () => number | undefined;
  readonly setAgreed: (days: number) => Promise<void>;
}

/** What becomes of which sessions. Everything rejects with `StoreError`. */
export interface Rule<Preview> {
  readonly event: string;
  readonly due: (store: SessionStore, days: number, now: number) => Promise<readonly Session[]>;
  readonly preview: (store: SessionStore, due: readonly Session[]) => Promise<Preview>;
  /** Takes the sessions that are due still; what it resolves with is logged. */
  readonly carryOut: (store: SessionStore, sessions: readonly Session[], now: number) => Promise<Readonly<Record<string, unknown>>>;
}

const day = 86_400_000;

/**
 * Deletes for good what has been in the trash for long enough, and has not been used there: another device may have put it there while
 * somebody worked in it. `open`: the sessions that are open in this window.
 */
export function trashRule(open: () => readonly string[]): Rule<PurgePreview> {
  return {
    event: 'trash_purged',
    due: async (store, days, now) =>
      (await store.listSessions({ trashed: true })).filter((session) => {
        const { uuid, deletedAt } = session;
        return deletedAt !== null && Math.max(deletedAt, lastUsed(session)) < now - days * day && !open().includes(uuid);
      }),
    preview: (store, due) => store.purgePreview(due.map(({ uuid }) => uuid)),
    carryOut: async (store, sessions) => {
      const { sessions: purged, entries, bytes } = await store.purge(sessions.map(({ uuid }) => uuid));
      return { sessions: purged.length, entries, bytes };
    },
  };
}

/** Moves to the trash what nobody uses any more; `open`: the sessions that are open in this window. */
export function cleanUpRule(open: () => readonly string[]): Rule<null> {
  return {
    event: 'sessions_cleaned_up',
    due: (store, days, now) => sessionsToCleanUp(store, { days, now, open: open() }),
    preview: async () => null,
    carryOut: async (store, sessions, now) => {
      for (const { uuid } of sessions) await store.updateSession(uuid, { deletedAt: now });
      return { sessions: sessions.length };
    },
  };
}

export interface TrimDeps {
  readonly store: { get(): Promise<SessionStore> };
  /** 0: without a limit. */
  readonly limits: () => { readonly days: number; readonly megabytes: number };
  readonly memory: Pick<RetentionMemory, 'lastRun' | 'setLastRun'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Lets contents of files go that are beyond the limits, once a day at most. Never rejects. */
export async function trimFileContents({ store: access, limits, memory, now, log }: TrimDeps): Promise<void> {
  const { days, megabytes } = limits();
  if (now() - memory.lastRun() < day) return;
  try {
    const store = await access.get();
    if (store.status.access !== 'owner') return;
    await memory.setLastRun(now());
    const gone = await store.trimFileContents({
      before: days > 0 ? now() - days * day : null,
      mostBytes: megabytes > 0 ? megabytes * 1_000_000 : null,
      now: now(),
    });
    if (gone.contents > 0) log.info('file_contents_let_go', { ...gone });
  } catch (error) {
    log.warn('file_contents_not_trimmed', { detail: errorText(error) });
  }
}

/**
 * Carries out a rule on sessions, where the user wants that: once a day at most, after a preview the first time, and again after the
 * setting has changed. Does nothing of itself: without the setting everything is kept.
 */
export class RetentionRule<Preview> {
  private running = false;

  constructor(private readonly deps: RetentionRuleDeps<Preview>) {}

  /** Never rejects. */
  async run(): Promise<void> {
    const { days, memory, now, log, rule } = this.deps;
    const kept = days();
    if (kept <= 0 || this.running || now() - memory.lastRun() < day) return;
    this.running = true;
    try {
      const store = await this.deps.store.get();
      // Another window owns it and does this; here it is done when that one has ended.
      if (store.status.access !== 'owner' || !(await this.deps.isCurrent(store))) return;
      await memory.setLastRun(now());
      await this.carryOut(store, kept);
    } catch (error) {
      log.warn('retention_failed', { rule: rule.event, detail: errorText(error) });
    } finally {
      this.running = false;
    }
  }

  private async carryOut(store: SessionStore, days: number): Promise<void> {
    const { memory, rule, ask, done, now, log } = this.deps;
    const due = await rule.due(store, days, now());
    if (due.length === 0) return;
    let chosen: readonly Session[] = due;
    if (memory.agreed() !== days) {
      const answer = await ask(days, due, await rule.preview(store, due));
      if (!answer) return;
      chosen = answer;
      // Who keeps something has not agreed to what would take it tomorrow.
      if (chosen.length === due.length) await memory.setAgreed(days);
      if (chosen.length === 0) return;
    }
    // The question may have stood there for days; in the meantime some may have been restored, pinned or opened.
    if (!(await this.deps.isCurrent(store))) return;
    const still = new Set((await rule.due(store, days, now())).map(({ uuid }) => uuid));
    log.info(rule.event, {
      days,
      ...(await rule.carryOut(
        store,
        chosen.filter(({ uuid }) => still.has(uuid)),
        now(),
      )),
    });
    done();
  }
}
