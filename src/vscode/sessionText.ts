import { t, wholeNumber } from '../core/l10n';
import { timeText } from '../core/recall/dateText';
import type { Session } from '../core/session/session';
import { escapeMarkdown } from './escapeMarkdown';
import { ago, shortTokens } from '../protocol/figures';

export function sessionTitle({ title }: Pick<Session, 'title'>): string {
  return title || t('Untitled');
}

/** `5 min ago · 12 messages · #work` */
export function sessionDescription(session: Session, now: number): string {
  return [ago(session.updatedAt, now), messagesText(session), sessionTags(session).map((tag) => `#${tag}`).join(' ')].filter((part) => part !== '').join(' · ');
}

/** Markdown: everything that a row has no room for. */
export function sessionTooltip(session: Session, workspace: string | null): string {
  const { id, model, createdAt, updatedAt, totalTokens, messageCount, cwd, parentSession } = session;
  const tags = sessionTags(session);
  const rows: (readonly [string, string])[] = [
    [t('Id'), `\`${id}\``],
    [t('Model'), model === null ? t('as the settings say') : escapeMarkdown(model)],
    [t('Created'), timeText(createdAt)],
    [t('Last message'), timeText(updatedAt)],
    [t('Messages'), parentSession === null ? wholeNumber(messageCount) : t('{0}, and those that it shares', wholeNumber(messageCount))],
    [t('Tokens'), shortTokens(totalTokens)],
    ...(tags.length > 0 ? [[t('Tags'), tags.map(escapeMarkdown).join(', ')] as const] : []),
    ...(parentSession === null ? [] : [[t('Forked'), t('from another session')] as const]),
    ...(workspace ?? cwd ? [[t('Workspace'), escapeMarkdown(workspace ?? cwd ?? '')] as const] : []),
  ];
  return [`**${escapeMarkdown(sessionTitle(session))}**`, ['| | |', '|:--|:--|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n')].join('\n\n');
}

/** What the user has put there; whatever else another tool has written under that name is no tag. */
export function sessionTags({ metadata }: Pick<Session, 'metadata'>): string[] {
  const tags = metadata['tags'];
  return Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string' && tag !== '') : [];
}

/** Tags as they are typed, separated by commas: each once, however its letters are written. */
export function parseTags(text: string): string[] {
  const tags = new Map<string, string>();
  for (const part of text.split(/[,\n]/)) {
    const tag = part.trim().replace(/^#+/, '').replace(/\s+/g, ' ').slice(0, 50).trim();
    if (tag !== '' && !tags.has(tag.toLowerCase())) tags.set(tag.toLowerCase(), tag);
  }
  return [...tags.values()];
}

/** Of a fork: what was said since, beside what it shares. */
export function messagesText({ messageCount: count, parentSession }: Pick<Session, 'messageCount' | 'parentSession'>): string {
  if (parentSession !== null) return count === 0 ? t('no new messages') : t(count === 1 ? '{0} new message' : '{0} new messages', wholeNumber(count));
  return t(count === 1 ? '{0} message' : '{0} messages', wholeNumber(count));
}

/** `"Tide tables"`, or `3 sessions`. */
export function sessionsText(sessions: readonly Pick<Session, 'title'>[]): string {
  const [only] = sessions;
  return sessions.length === 1 && only ? t('"{0}"', sessionTitle(only)) : t('{0} sessions', sessions.length);
}
