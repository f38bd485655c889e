import { t } from '../../core/l10n';
import type { Session } from '../../core/session/session';
import { commandIds } from '../manifest';
import { escapeMarkdown } from '../plainText';
import { sessionTitle } from '../sessions/sessionText';
import type { StatusView } from '../context/statusText';

/** A session whose turn waits for its user, on show or not. */
export interface WaitingSession {
  readonly session: Pick<Session, 'uuid' | 'title'>;
  /** To allow calls, or to decide what happens to the full context. */
  readonly for: 'permission' | 'decision';
  /** What is asked at the same time. */
  readonly questions: number;
}

/** One line; empty when nothing waits. */
export function waitingText([first, ...more]: readonly WaitingSession[]): string {
  if (!first) return '';
  if (more.length > 0) return t('{0} sessions wait for you', more.length + 1);
  const title = sessionTitle(first.session);
  return first.for === 'permission'
    ? t('"{0}" waits for your permission', title)
    : t('"{0}" waits for your decision: its context is full', title);
}

/** In the place of the meter in the status bar; null when nothing waits. */
export function waitingView(waiting: readonly WaitingSession[]): (StatusView & { readonly open: string }) | null {
  const [first] = waiting;
  if (!first) return null;
  const text = waitingText(waiting);
  const short = waiting.length > 1 ? text : first.for === 'permission' ? t('Permission needed') : t('Context full');
  const links = waiting.map(
    ({ session }) =>
      `[${t('Open "{0}"', escapeMarkdown(sessionTitle(session)))}](command:${commandIds.openSession}?${encodeURIComponent(JSON.stringify([session.uuid]))})`,
  );
  return {
    text: `$(bell-dot) ${short}`,
    tooltip: [`**${escapeMarkdown(text)}**`, ...links].join('\n\n'),
    severity: 'warning',
    label: `Threadkeeper: ${text}`,
    open: first.session.uuid,
  };
}
