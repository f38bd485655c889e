import { t } from '../../core/l10n';
import { readableSummary } from '../../core/compaction/ledgers/foldedState';
import { timeText } from '../../core/recall/dateText';
import { modeText, modeTold } from '../../core/plan/planMode';
import type { SessionStore } from '../../core/ports';
import { attachmentNote } from '../../core/session/userMessage';
import type { StoredEntry } from '../../core/session/entry';
import type { Session } from '../../core/session/session';
import { skillType } from '../../core/skills/skill';
import { interruptionText } from '../../core/transfer/transcriptBlocks';
import { escapeMarkdown } from '../plainText';
import { sessionTitle } from './sessionText';

/** More than anyone reads, and few enough for an editor to colour: the newest entries of a session. */
export const transcriptEntries = 2_000;
const pageEntries = 200;

/** A session to be read, as Markdown source. Rejects with `StoreError`, or an `Error` for a session that is gone. */
export async function sessionTranscript(store: Pick<SessionStore, 'session' | 'page'>, uuid: string, place: string): Promise<string> {
  const session = await store.session(uuid);
  if (!session) throw new Error(t('This session does not exist any more.'));
  let entries: readonly StoredEntry[] = [];
  let hasMore = true;
  while (hasMore && entries.length < transcriptEntries) {
    const before = entries[0]?.uuid;
    const page = await store.page(uuid, { limit: pageEntries, ...(before === undefined ? {} : { before }) });
    entries = [...page.entries, ...entries];
    hasMore = page.hasMore && page.entries.length > 0;
  }
  const parts = [
    ...head(session, place),
    ...(hasMore ? [`*${t('Older messages are left out here.')}*`] : []),
    ...entries.flatMap(entryText),
  ];
  return `${parts.join('\n\n')}\n`;
}

function head(session: Session, place: string): string[] {
  const { id, createdAt, updatedAt } = session;
  return [
    `# ${sessionTitle(session)}`,
    `*${t('To be read only')} · ${id} · ${t('{0} to {1}', timeText(createdAt), timeText(updatedAt))} · ${place}*`,
  ];
}

function entryText({ content, createdAt, display }: StoredEntry): string[] {
  if (!display) return [];
  switch (content.type) {
    case 'message': {
      const speaker = content.role === 'user' ? t('You') : (content.model ?? t('Answer'));
      const ended = content.interrupted === undefined ? [] : [`*${interruptionText(content.interrupted)}*`];
      return [
        `## ${speaker} · ${timeText(createdAt)}`,
        content.text,
        ...(content.attachments ? [`*${escapeMarkdown(attachmentNote(content.attachments))}*`] : []),
        ...ended,
      ];
    }
    case 'tool_call':
      return [`*${t('Used {0}.', content.name)}*`];
    case 'compaction':
      return [`*${t('Compacted {0} messages here.', content.messagesBefore)}*`];
    case 'branch_summary':
      return [readableSummary(content.text)];
    case 'memory_note':
      return [content.text];
    case 'usage_note': {
      const mode = modeTold(content.text);
      return [mode === null ? content.text : `*${modeText(mode)}*`];
    }
    case 'custom_message':
      return [
        content.customType === skillType ? `*${t('Read the skill {0}', escapeMarkdown(content.text.split('\n', 1)[0]!))}*` : content.text,
      ];
    default:
      return [];
  }
}
