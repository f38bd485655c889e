import { t } from '../../../core/l10n';
import type { Session, SessionSort } from '../../../core/session/session';

export type DateGroup = 'pinned' | 'sorted' | 'today' | 'yesterday' | 'week' | 'older';

export interface SessionGroup {
  readonly id: DateGroup;
  readonly sessions: readonly Session[];
}

export const groupLabels: Readonly<Record<DateGroup, () => string>> = {
  pinned: () => t('Pinned'),
  sorted: () => t('All Sessions'),
  today: () => t('Today'),
  yesterday: () => t('Yesterday'),
  week: () => t('Last 7 Days'),
  older: () => t('Older'),
};

/**
 * By the local day on which something was last said, or on which they began, in the given order; in any other order all in one. Groups
 * without a session are left out.
 */
export function groupSessions(sessions: readonly Session[], now: number, sort: SessionSort = 'updated'): SessionGroup[] {
  const starts = { today: dayStart(now, 0), yesterday: dayStart(now, 1), week: dayStart(now, 6) };
  const groupOf = ({ pinnedAt, updatedAt, createdAt }: Session): DateGroup => {
    if (pinnedAt !== null) return 'pinned';
    if (sort !== 'updated' && sort !== 'created') return 'sorted';
    const at = sort === 'created' ? createdAt : updatedAt;
    if (at >= starts.today) return 'today';
    if (at >= starts.yesterday) return 'yesterday';
    return at >= starts.week ? 'week' : 'older';
  };
  const groups = new Map<DateGroup, Session[]>();
  for (const session of sessions) {
    const id = groupOf(session);
    const group = groups.get(id);
    if (group) group.push(session);
    else groups.set(id, [session]);
  }
  return (Object.keys(groupLabels) as DateGroup[]).flatMap((id) => {
    const found = groups.get(id);
    return found ? [{ id, sessions: found }] : [];
  });
}

/** Midnight some days ago by the calendar: a day is not always 24 hours long. */
function dayStart(now: number, daysAgo: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - daysAgo).getTime();
}
