import { homedir } from 'node:os';
import { join } from 'node:path';
import { commands, ProgressLocation, Uri, window, type QuickPickItem } from 'vscode';
import { t, wholeNumber, shown } from '../../core/l10n';
import type { SessionStore } from '../../core/ports';
import type { Session } from '../../core/session/session';
import type { ImportedSession, ImportReport, CountedKind, NotImported } from '../../core/transfer/importReport';
import type { ExportFormat } from '../../node/transfer/export/exportSessions';
import type { ActiveChat } from '../chat/activeChat';
import type { CommandName } from '../manifest';
import { ownSession } from '../sessions/tree/sessionNodes';
import { sessionsText, sessionTitle } from '../sessions/sessionText';
import { showText } from '../notices';
import { escapeMarkdown } from '../plainText';

export type TransferCommandName = Extract<CommandName, 'exportSession' | 'exportHistory' | 'importSessions'>;

export interface TransferCommandsDeps {
  readonly store: { get(): Promise<SessionStore> };
  readonly active: Pick<ActiveChat, 'open' | 'session'>;
  /** Opens a session and brings it to the front. */
  readonly show: (session: string) => Promise<void>;
  /** Sessions have come in. */
  readonly changed: () => void;
}

interface FormatItem extends QuickPickItem {
  readonly format: ExportFormat;
  readonly redact: boolean;
  readonly fileContents?: boolean;
}

const formats = (): readonly FormatItem[] => [
  { label: 'JSON', description: t('everything; can be imported again'), format: 'json', redact: false },
  {
    label: t('JSON, with contents of changed files'),
    description: t('they can be restored where it is imported'),
    format: 'json',
    redact: false,
    fileContents: true,
  },
  { label: 'Markdown', description: t('to be read'), format: 'md', redact: false },
  { label: t('HTML page'), description: t('to be read or printed; needs nothing but itself'), format: 'html', redact: false },
  {
    label: t('Markdown, redacted'),
    description: t('without keys, tokens, passwords, home folders and attachments'),
    format: 'md',
    redact: true,
  },
  {
    label: t('HTML page, redacted'),
    description: t('without keys, tokens, passwords, home folders and attachments'),
    format: 'html',
    redact: true,
  },
  {
    label: t('JSON, redacted'),
    description: t('without keys, tokens, passwords, home folders and attachments'),
    format: 'json',
    redact: true,
  },
];
const filters: Readonly<Record<ExportFormat, () => Record<string, string[]>>> = {
  json: () => ({ JSON: ['json'] }),
  md: () => ({ Markdown: ['md'] }),
  html: () => ({ [t('Web page')]: ['html'] }),
};

/** Sessions out into files, and in from files of this and other programs. */
export class TransferCommands {
  constructor(private readonly deps: TransferCommandsDeps) {}

  readonly all: Readonly<Record<TransferCommandName, (args: readonly unknown[]) => Promise<void>>> = {
    exportSession: (args) => this.exportSession(args),
    exportHistory: () => this.exportHistory(),
    importSessions: () => this.importSessions(),
  };

  private async exportSession([node]: readonly unknown[]): Promise<void> {
    const { active } = this.deps;
    const row = ownSession(node);
    if (row) return this.export([row], sessionTitle(row));
    await active.open();
    if (active.session) await this.export([active.session], sessionTitle(active.session));
    else void window.showInformationMessage(t('No session is open: it comes into being with its first message.'));
  }

  private async exportHistory(): Promise<void> {
    const { allSessions } = await import('../../node/transfer/export/exportJson');
    const sessions = await allSessions(await this.deps.store.get());
    if (sessions.length === 0) return void window.showInformationMessage(t('There is nothing to export yet.'));
    await this.export(sessions, t('Threadkeeper history'));
  }

  private async export(sessions: readonly Session[], name: string): Promise<void> {
    const picked = await window.showQuickPick(formats(), {
      title: sessions.length === 1 ? t('Export Session') : t('Export {0} Sessions', sessions.length),
      placeHolder: t('What should the file be?'),
    });
    if (!picked) return;
    const { format, redact, fileContents = false } = picked;
    const fileName = `${
      name
        .replaceAll(/[\\/:*?"<>|\p{Cc}\s]+/gu, ' ')
        .trim()
        .slice(0, 80) || 'session'
    }.${format}`;
    const target = await window.showSaveDialog({
      title: picked.label,
      saveLabel: t('Export'),
      filters: filters[format](),
      defaultUri: Uri.file(join(homedir(), fileName)),
    });
    if (!target) return;
    const done = await window.withProgress(
      { location: ProgressLocation.Notification, title: t('Exporting {0}', sessionsText(sessions)), cancellable: true },
      async (progress, token) => {
        const stop = new AbortController();
        token.onCancellationRequested(() => stop.abort());
        const { exportSessions, writeExport } = await import('../../node/transfer/export/exportSessions');
        const onProgress = (count: number, total: number) =>
          progress.report({ message: t('{0} of {1} entries', wholeNumber(count), wholeNumber(total)) });
        try {
          await writeExport(
            exportSessions(await this.deps.store.get(), sessions, format, { redact, fileContents, signal: stop.signal, onProgress }),
            target.fsPath,
          );
          return true;
        } catch (error) {
          if (stop.signal.aborted) return false;
          throw error;
        }
      },
    );
    if (!done) return void window.showInformationMessage(t('The export was cancelled. Nothing was written.'));
    const open = t('Open');
    const reveal = t('Show File');
    const left = redact ? ` ${t('Look through it before you publish it: a rule cannot know everything that is private.')}` : '';
    void window.showInformationMessage(`${t('Exported to {0}.', target.fsPath)}${left}`, open, reveal).then((answer) => {
      if (answer === reveal) return commands.executeCommand('revealFileInOS', target);
      return answer === open ? commands.executeCommand('vscode.open', target) : undefined;
    });
  }

  private async importSessions(): Promise<void> {
    const kinds = [
      { label: t('Files…'), description: t('an export, session files, a database'), folders: false },
      { label: t('A Folder…'), description: t('every session in it, for example ~/.claude/projects'), folders: true },
    ];
    const kind = await window.showQuickPick(kinds, {
      title: t('Import Sessions'),
      placeHolder: t('Files of Claude Code, Codex, Cursor and 18 more programs, or of Threadkeeper'),
    });
    if (!kind) return;
    const picked = await window.showOpenDialog({
      title: t('Import Sessions'),
      openLabel: t('Import'),
      canSelectMany: true,
      canSelectFiles: !kind.folders,
      canSelectFolders: kind.folders,
      defaultUri: Uri.file(homedir()),
    });
    if (!picked || picked.length === 0) return;
    const opened = await passphraseFor(picked.map(({ fsPath }) => fsPath));
    if (opened === null) return;
    const report = await window.withProgress(
      { location: ProgressLocation.Notification, title: t('Importing sessions'), cancellable: true },
      async (progress, token) => {
        const stop = new AbortController();
        token.onCancellationRequested(() => stop.abort());
        const { importInThread } = await import('../../node/transfer/import/importInThread');
        let told = '';
        return importInThread(
          await this.deps.store.get(),
          picked.map(({ fsPath }) => fsPath),
          {
            workerFile: join(__dirname, 'storeTaskWorker.js'),
            ...opened,
            signal: stop.signal,
            onProgress: ({ index, files, fraction, records }) => {
              const where = files === 1 ? `${Math.floor(fraction * 100)}%` : t('file {0} of {1}', index + 1, files);
              const message = t(records === 1 ? '{0}, {1} record' : '{0}, {1} records', where, wholeNumber(records));
              if (message !== told) progress.report({ message: (told = message) });
            },
          },
        );
      },
    );
    this.deps.changed();
    await this.tell(report);
  }

  private async tell(report: ImportReport): Promise<void> {
    const fresh = report.sessions.filter(({ outcome }) => outcome !== 'known');
    const text = summaryText(report, fresh);
    const open = t('Open');
    const show = t('Show Report');
    const buttons = [...(fresh.length === 1 && !fresh[0]!.trashed ? [open] : []), show];
    const answer = await (report.failed.length > 0
      ? window.showWarningMessage(text, ...buttons)
      : window.showInformationMessage(text, ...buttons));
    if (answer === open) await this.deps.show(fresh[0]!.uuid);
    if (answer === show) await showText(importReportText(report), 'markdown');
  }
}

/** Asked for when one of the files is sealed; null: the user does not give it. */
async function passphraseFor(files: readonly string[]): Promise<{ readonly passphrase?: string } | null> {
  const { isSealed } = await import('../../node/transfer/export/sealedBundle');
  if (!(await Promise.all(files.map(isSealed))).includes(true)) return {};
  const passphrase = await window.showInputBox({
    title: t('Passphrase'),
    prompt: t('The file is encrypted. Whoever made it has its passphrase.'),
    password: true,
    ignoreFocusOut: true,
  });
  return passphrase === undefined ? null : { passphrase };
}

function summaryText({ sessions, failed, passedOver, cancelled }: ImportReport, fresh: readonly ImportedSession[]): string {
  const entries = fresh.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0);
  const known = sessions.length - fresh.length;
  return [
    ...(cancelled ? [t('The import was stopped; what had been read is here.')] : []),
    fresh.length === 0 ? t('Nothing new was imported.') : importedText(fresh.length, entries),
    ...(known > 0 ? [t(known === 1 ? '{0} session was here already.' : '{0} sessions were here already.', wholeNumber(known))] : []),
    ...(passedOver.length > 0
      ? [t(passedOver.length === 1 ? '{0} file was passed over.' : '{0} files were passed over.', wholeNumber(passedOver.length))]
      : []),
    ...(failed.length > 0
      ? [t(failed.length === 1 ? '{0} file could not be imported.' : '{0} files could not be imported.', wholeNumber(failed.length))]
      : []),
  ].join(' ');
}

function importedText(sessions: number, entries: number): string {
  const all = t(entries === 1 ? '{0} entry' : '{0} entries', wholeNumber(entries));
  return t(sessions === 1 ? '{0} session imported, {1}.' : '{0} sessions imported, {1}.', wholeNumber(sessions), all);
}

/** Markdown: what became of every session and file. */
function importReportText({ sessions, failed, passedOver, cancelled }: ImportReport): string {
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

function sessionLine({ id, title, format, source, outcome, entriesAdded, keptRaw, repaired, unpinned, trashed }: ImportedSession): string {
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
    ...(unpinned
      ? [`  - ${t('files that are no longer pinned, pin them again if you want to: {0}', unpinned.map(escapeMarkdown).join(', '))}`]
      : []),
    ...(trashed ? [`  - ${t('this session is in the trash; restore it from there')}`] : []),
  ].join('\n');
}
