import { timeOf } from './formats/jsonShape';
import type { SessionEvent, SourceEvent } from './sourceRecord';

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

/** Returns the names as they are now. A name within the session is better than one of OpenClaw's making, and the user's label than either. */
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
