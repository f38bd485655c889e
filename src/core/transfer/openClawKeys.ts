import * as z from 'zod/mini';

/** A session of OpenClaw, as its `sessions.json` names it. */
export interface OpenClawSession {
  /** `agent:<id>:<main>`, `agent:<id>:<channel>:group:<gid>`, `cron:…` */
  readonly key: string;
  /** Names the file in which it goes on; another one after a reset. */
  readonly sessionId: string;
  readonly updatedAt: number | null;
}

const Entry = z.object({ sessionId: z.string(), updatedAt: z.optional(z.unknown()) });

/** The newest first; entries that name no session are left out. Null: this is no such file, or only half of one. */
export function openClawSessions(text: string): OpenClawSession[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.entries(value)
    .flatMap(([key, raw]) => {
      const entry = Entry.safeParse(raw);
      // The id becomes a file's name.
      if (!entry.success || !/^[\w.-]+$/.test(entry.data.sessionId) || entry.data.sessionId.startsWith('.')) return [];
      const { sessionId, updatedAt } = entry.data;
      return [{ key, sessionId, updatedAt: typeof updatedAt === 'number' ? updatedAt : null }];
    })
    .sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0) || (a.key < b.key ? -1 : 1));
}
