import { t, wholeNumber } from '../../core/l10n';
import { oneLine } from '../../core/frames/frames';
import { timeText } from '../../core/recall/dateText';
import type { Session, SessionSort } from '../../core/session/session';
import { escapeMarkdown } from '../plainText';
import { ago, shortTokens } from '../../protocol/figures';
import type { PurgePreview } from '../../core/maintenance/reports';

/** Values of the metadata in a tooltip. */
const mostMetadata = 12;

export function sessionTitle({ title }: Pick<Session, 'title'>): string {
  return title || t('Untitled');
}

/** By what the Sessions view is sorted, in words. */
export const sortTexts: Readonly<Record<SessionSort, () => string>> = {
  updated: () => t('last used first'),
  created: () => t('newest first'),
  title: () => t('by title'),
  tokens: () => t('most tokens first'),
  cost: () => t('highest cost first'),
};

/** `5 min ago · 12 messages · #work`, with what the list is sorted by. */
export function sessionDescription(session: Session, now: number, sort: SessionSort = 'updated'): string {
  const size = sort === 'tokens' ? t('{0} tokens', shortTokens(session.totalTokens)) : '';
  return [
    ago(sort === 'created' ? session.createdAt : session.updatedAt, now),
    size,
    messagesText(session),
    sessionTags(session)
      .map((tag) => `#${tag}`)
      .join(' '),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** Markdown: everything that a row has no room for. */
export function sessionTooltip(session: Session, workspace: string | null): string {
  const { id, key, model, createdAt, updatedAt, totalTokens, messageCount, costLimit, cwd, parentSession } = session;
  const tags = sessionTags(session);
  const rows: (readonly [string, string])[] = [
    [t('Id'), `\`${id}\``],
    ...(key.endsWith(`:${id}`) ? [] : [[t('Key'), asCode(key)] as const]),
    [t('Model'), model === null ? t('as the settings say') : escapeMarkdown(model)],
    [t('Created'), timeText(createdAt)],
    [t('Last message'), timeText(updatedAt)],
    [t('Messages'), parentSession === null ? wholeNumber(messageCount) : t('{0}, and those that it shares', wholeNumber(messageCount))],
    [t('Tokens'), shortTokens(totalTokens)],
    ...(tags.length > 0 ? [[t('Tags'), tags.map(escapeMarkdown).join(', ')] as const] : []),
    ...(costLimit === null ? [] : [[t('Cost limit'), `$${costLimit.toFixed(2)}`] as const]),
    ...metadataRows(session),
    ...(parentSession === null ? [] : [[t('Forked'), t('from another session')] as const]),
    ...((workspace ?? cwd) ? [[t('Workspace'), escapeMarkdown(workspace ?? cwd ?? '')] as const] : []),
  ];
  return [
    `**${escapeMarkdown(sessionTitle(session))}**`,
    ['| | |', '|:--|:--|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'),
  ].join('\n\n');
}

/** In one cell of a table, whatever an import has brought: behind the end of its line it would be Markdown, and could load pictures. */
function asCode(text: string): string {
  return `\`${oneLine(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

/** What people and scripts have written there, as far as a row has room for it; where the session comes from is told by its key. */
function metadataRows({ metadata }: Pick<Session, 'metadata'>): (readonly [string, string])[] {
  const rows = Object.entries(metadata).filter(([name]) => name !== 'tags' && name !== 'importedFrom');
  return rows
    .slice(0, mostMetadata)
    .map(([name, value]) => [
      escapeMarkdown(name.slice(0, 40)),
      escapeMarkdown((typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ').slice(0, 120)),
    ]);
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

/** A fork counts what was said since, beside what it shares. */
export function messagesText({ messageCount: count, parentSession }: Pick<Session, 'messageCount' | 'parentSession'>): string {
  if (parentSession !== null)
    return count === 0 ? t('no new messages') : t(count === 1 ? '{0} new message' : '{0} new messages', wholeNumber(count));
  return t(count === 1 ? '{0} message' : '{0} messages', wholeNumber(count));
}

/** `"Tide tables"`, or `3 sessions`. */
export function sessionsText(sessions: readonly Pick<Session, 'title'>[]): string {
  const [only] = sessions;
  return sessions.length === 1 && only ? t('"{0}"', sessionTitle(only)) : t('{0} sessions', sessions.length);
}

/** What a deletion takes away and what it leaves, in a sentence each. */
export function purgeText({ entries, keptEntries, bytes }: PurgePreview): string {
  const goes =
    entries === 0
      ? t('No entries go with it.')
      : t(
          entries === 1 ? 'This deletes {0} entry ({1}) from the history.' : 'This deletes {0} entries ({1}) from the history.',
          wholeNumber(entries),
          bytesText(bytes),
        );
  const stays =
    keptEntries === 0
      ? ''
      : ` ${t(keptEntries === 1 ? 'Other sessions keep the {0} entry that they share.' : 'Other sessions keep the {0} entries that they share.', wholeNumber(keptEntries))}`;
  return `${goes}${stays} ${t('This cannot be undone.')}`;
}

/** 950 bytes, 3.9 kB, 12 MB */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const [value, unit] =
    bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : bytes < 1_000_000_000 ? [bytes / 1_000_000, 'MB'] : [bytes / 1_000_000_000, 'GB'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${unit}`;
}
