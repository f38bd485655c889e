import { shown, t, wholeNumber } from '../../core/l10n';
import type { CountedKind, ImportedSession, ImportReport, NotImported } from '../../core/transfer/importReport';
import { escapeMarkdown } from '../escapeMarkdown';

/** Markdown: what became of every session and file. */
export function importReportText({ sessions, failed, passedOver, cancelled }: ImportReport): string {
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [`## ${title}`, lines.join('\n')]);
  return [
    `# ${t('Import')}`,
    ...(cancelled ? [t('The import was stopped. What had been read until then is in the history; importing again adds the rest.')] : []),
    ...section(t('Imported'), sessions.filter(({ outcome }) => outcome !== 'known').map(sessionLine)),
    ...section(t('Here already, with nothing new'), sessions.filter(({ outcome }) => outcome === 'known').map(sessionLine)),
    ...section(t('Not imported'), failed.map(omittedLine)),
    ...section(t('Passed over'), passedOver.map(omittedLine)),
    t('Nothing was changed in the files. Records that are not known are kept with the session as they are and are not sent to a model.'),
  ].join('\n\n');
}

function omittedLine({ source, reason }: NotImported): string {
  return `- ${escapeMarkdown(source)}: ${escapeMarkdown(shown(reason))}`;
}

function sessionLine({ id, title, format, source, outcome, entriesAdded, keptRaw, repaired, trashed }: ImportedSession): string {
  const kinds = (list: readonly CountedKind[]) => list.map(({ kind, count }) => `${escapeMarkdown(kind)} (${count})`).join(', ');
  return [
    t(
      outcome === 'extended' ? '- **{0}** {1}: {2} entries added, {3}, from {4}' : '- **{0}** {1}: {2} entries, {3}, from {4}',
      escapeMarkdown(title || t('Untitled')),
      id,
      wholeNumber(entriesAdded),
      format,
      escapeMarkdown(source),
    ),
    ...(keptRaw.length > 0 ? [`  - ${t('kept as they are: {0}', kinds(keptRaw))}`] : []),
    ...(repaired.length > 0 ? [`  - ${t('repaired: {0}', kinds(repaired.map(({ kind, count }) => ({ kind: shown(kind), count }))))}`] : []),
    ...(trashed ? [`  - ${t('this session is in the trash; restore it from there')}`] : []),
  ].join('\n');
}
