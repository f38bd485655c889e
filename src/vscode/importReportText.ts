import type { CountedKind, ImportedSession, ImportReport } from '../core/transfer/importReport';
import { escapeMarkdown } from './escapeMarkdown';

/** Markdown: what became of every session and file. */
export function importReportText({ sessions, failed, cancelled }: ImportReport): string {
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [`## ${title}`, lines.join('\n')]);
  return [
    '# Import',
    ...(cancelled ? ['The import was stopped. What had been read until then is in the history; importing again adds the rest.'] : []),
    ...section('Imported', sessions.filter(({ outcome }) => outcome !== 'known').map(sessionLine)),
    ...section('Here already, with nothing new', sessions.filter(({ outcome }) => outcome === 'known').map(sessionLine)),
    ...section('Not imported', failed.map(({ source, reason }) => `- ${escapeMarkdown(source)}: ${escapeMarkdown(reason)}`)),
    'Nothing was changed in the files. Records that are not known are kept with the session as they are and are not sent to a model.',
  ].join('\n\n');
}

function sessionLine({ id, title, format, source, outcome, entriesAdded, keptRaw, repaired, trashed }: ImportedSession): string {
  const kinds = (list: readonly CountedKind[]) => list.map(({ kind, count }) => `${escapeMarkdown(kind)} (${count})`).join(', ');
  return [
    `- **${escapeMarkdown(title || 'Untitled')}** ${id}: ${entriesAdded.toLocaleString('en')} entries${outcome === 'extended' ? ' added' : ''}, ${format}, from ${escapeMarkdown(source)}`,
    ...(keptRaw.length > 0 ? [`  - kept as they are: ${kinds(keptRaw)}`] : []),
    ...(repaired.length > 0 ? [`  - repaired: ${kinds(repaired)}`] : []),
    ...(trashed ? ['  - this session is in the trash; restore it from there'] : []),
  ].join('\n');
}
