import * as z from 'zod/mini';
import { parseForeign, timeOf } from './formats/foreignJson';
import { isObject } from '../base/json';
import type { SessionEvent, SourceEvent } from './sourceRecord';

/** A session of OpenClaw, as its `sessions.json` names it. */
export interface OpenClawSession {
  /** `agent:<id>:<main>`, `agent:<id>:<channel>:group:<gid>`, `cron:…` */
  readonly key: string;
  /** Names the file in which it goes on; another one after a reset. */
  readonly sessionId: string;
  /** Name of that file, beside `sessions.json`. */
  readonly file: string;
  readonly updatedAt: number | null;
  /** The user's name for it. */
  readonly label: string | null;
  /** Made by OpenClaw from where the session takes place: of a group what the group is about, if nothing else. */
  readonly displayName: string | null;
}

/** What there is of each to choose from, wherever OpenClaw keeps them. */
export type ListedSession = Omit<OpenClawSession, 'file'>;

const Entry = z.object({
  sessionId: z.string(),
  sessionFile: z.optional(z.unknown()),
  updatedAt: z.optional(z.unknown()),
  label: z.optional(z.unknown()),
  displayName: z.optional(z.unknown()),
  subject: z.optional(z.unknown()),
});
/** What may become the name of a file in the same folder. */
const name = /^[\w-][\w.-]*$/;

/** The newest first; entries that name no session are left out. Null: this is no such file, or only half of one. */
export function openClawSessions(text: string): OpenClawSession[] | null {
  const value = parseForeign(text)?.value;
  if (!isObject(value)) return null;
  return Object.entries(value)
    .flatMap(([key, raw]) => {
      const entry = Entry.safeParse(raw);
      if (!entry.success || !name.test(entry.data.sessionId)) return [];
      const { sessionId, sessionFile, updatedAt, label, displayName, subject } = entry.data;
      return [
        {
          key,
          sessionId,
          file: fileOf(sessionFile) ?? transcriptName(sessionId),
          updatedAt: typeof updatedAt === 'number' ? updatedAt : null,
          label: nameOf(label),
          displayName: nameOf(displayName) ?? nameOf(subject),
        },
      ];
    })
    .sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0) || (a.key < b.key ? -1 : 1));
}

export function transcriptName(sessionId: string): string {
  return `${sessionId}.jsonl`;
}

/**
 * The session that is meant: by its key, or by the short one (`main`) that OpenClaw makes `agent:<agent>:main` of. Where several agents
 * have it, the one called `main` goes before the others.
 */
export function meantSession<A extends { readonly agent: string; readonly sessions: readonly ListedSession[] }>(
  agents: readonly A[],
  wanted: string,
): { readonly agent: A; readonly key: string } | undefined {
  const found = agents.flatMap((agent) =>
    agent.sessions.filter(({ key }) => key === wanted || key === `agent:${agent.agent}:${wanted}`).map(({ key }) => ({ agent, key })),
  );
  return found.find(({ key }) => key === wanted) ?? found.find(({ agent }) => agent.agent === 'main') ?? found[0];
}

function nameOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** Threads of a channel have files of other names (`<session>-topic-<thread>.jsonl`), which the list gives with their folder. */
function fileOf(path: unknown): string | undefined {
  const last = typeof path === 'string' ? path.split(/[\\/]/).at(-1) : undefined;
  return last !== undefined && name.test(last) && last.endsWith('.jsonl') ? last : undefined;
}

/** What OpenClaw says of a session beside its records. Null: nothing. */
export interface OpenClawAbout {
  readonly sessionKey: string | null;
  readonly previousSession: string | null;
  /** Why it was begun. */
  readonly begun: string | null;
  /** Times as they stand there. */
  readonly archivedAt: unknown;
  readonly pinnedAt: unknown;
  /** The user's name for it. */
  readonly label: string | null;
  /** A name that OpenClaw has made, mostly from where the session takes place. */
  readonly displayName: string | null;
}

/** The event that begins a session, with where it belongs; and its names. */
export function withAbout({ session }: SessionEvent, about: OpenClawAbout): SourceEvent[] {
  const { sessionKey, previousSession, begun } = about;
  const [archivedAt, pinnedAt] = [setAt(about.archivedAt), setAt(about.pinnedAt)];
  return [
    {
      type: 'session',
      session: {
        ...session,
        metadata: {
          ...session.metadata,
          ...(sessionKey === null ? {} : { sessionKey }),
          ...(previousSession === null ? {} : { previousSession }),
          ...(begun === null ? {} : { begun }),
        },
        ...(archivedAt === null ? {} : { archivedAt }),
        ...(pinnedAt === null ? {} : { pinnedAt }),
      },
    },
    ...openClawNames(about),
  ];
}

/**
 * Returns the names as they are now. A name within the session is better than one of OpenClaw's making, and the user's label than either.
 */
export function openClawNames({
  label,
  displayName,
}: Pick<OpenClawAbout, 'label' | 'displayName'>): Extract<SourceEvent, { type: 'title' }>[] {
  return [
    { type: 'title', title: displayName ?? '', rank: 1 },
    { type: 'title', title: label ?? '', rank: 3 },
  ];
}

/** Null where it was taken back: 0 stands for that as well. */
function setAt(value: unknown): number | null {
  const at = timeOf(value);
  return at === 0 ? null : at;
}
