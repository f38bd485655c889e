import { timeText } from '../core/recall/dateText';
import type { Session } from '../core/session/session';
import { escapeMarkdown } from './escapeMarkdown';
import { shortTokens } from './statusText';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export function sessionTitle({ title }: Pick<Session, 'title'>): string {
  return title || 'Untitled';
}

/** `5 min ago · 12 messages · #work` */
export function sessionDescription(session: Session, now: number): string {
  return [agoText(session.updatedAt, now), messagesText(session), sessionTags(session).map((tag) => `#${tag}`).join(' ')].filter((part) => part !== '').join(' · ');
}

/** Markdown: everything that a row has no room for. */
export function sessionTooltip(session: Session, workspace: string | null): string {
  const { id, model, createdAt, updatedAt, totalTokens, messageCount, cwd, parentSession } = session;
  const tags = sessionTags(session);
  const rows: (readonly [string, string])[] = [
    ['Id', `\`${id}\``],
    ['Model', model === null ? 'as the settings say' : escapeMarkdown(model)],
    ['Created', timeText(createdAt)],
    ['Last message', timeText(updatedAt)],
    ['Messages', `${messageCount.toLocaleString('en')}${parentSession === null ? '' : ', and those that it shares'}`],
    ['Tokens', shortTokens(totalTokens)],
    ...(tags.length > 0 ? [['Tags', tags.map(escapeMarkdown).join(', ')] as const] : []),
    ...(parentSession === null ? [] : [['Forked', 'from another session'] as const]),
    ...(workspace ?? cwd ? [['Workspace', escapeMarkdown(workspace ?? cwd ?? '')] as const] : []),
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

export function agoText(at: number, now: number): string {
  const passed = now - at;
  if (passed < minute) return 'now';
  if (passed < hour) return `${Math.floor(passed / minute)} min ago`;
  if (passed < day) return `${Math.floor(passed / hour)} h ago`;
  if (passed < 7 * day) return `${Math.floor(passed / day)} d ago`;
  return timeText(at).slice(0, 10);
}

/** Of a fork: what was said since, beside what it shares. */
export function messagesText({ messageCount: count, parentSession }: Pick<Session, 'messageCount' | 'parentSession'>): string {
  if (parentSession !== null) return count === 0 ? 'no new messages' : `${count.toLocaleString('en')} new ${count === 1 ? 'message' : 'messages'}`;
  return count === 1 ? '1 message' : `${count.toLocaleString('en')} messages`;
}

/** `"Tide tables"`, or `3 sessions`. */
export function sessionsText(sessions: readonly Pick<Session, 'title'>[]): string {
  const [only] = sessions;
  return sessions.length === 1 && only ? `"${sessionTitle(only)}"` : `${sessions.length} sessions`;
}
