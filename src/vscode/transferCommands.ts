import { homedir } from 'node:os';
import { join } from 'node:path';
import { commands, ProgressLocation, Uri, window, type QuickPickItem } from 'vscode';
import type { SessionStore } from '../core/ports';
import type { Session } from '../core/session/session';
import { counted } from '../core/session/verifyReport';
import type { ImportedSession, ImportReport } from '../core/transfer/importReport';
import type { ExportFormat } from '../node/transfer/exportSessions';
import type { ChatController } from './chatController';
import type { CommandName } from './contributions';
import { importReportText } from './importReportText';
import { ownSession } from './sessionNodes';
import { sessionsText, sessionTitle } from './sessionText';
import { showText } from './showText';

export type TransferCommandName = Extract<CommandName, 'exportSession' | 'exportHistory' | 'importSessions'>;

export interface TransferCommandsDeps {
  readonly store: { get(): Promise<SessionStore> };
  readonly controller: Pick<ChatController, 'open' | 'session' | 'openSession'>;
  /** Sessions have come in. */
  readonly changed: () => void;
}

interface FormatItem extends QuickPickItem {
  readonly format: ExportFormat;
  readonly redact: boolean;
}

const formats: readonly FormatItem[] = [
  { label: 'JSON', description: 'everything; can be imported again', format: 'json', redact: false },
  { label: 'Markdown', description: 'to be read', format: 'md', redact: false },
  { label: 'HTML page', description: 'to be read or printed; needs nothing but itself', format: 'html', redact: false },
  { label: 'Markdown, redacted', description: 'without keys, tokens, passwords, home folders and attachments', format: 'md', redact: true },
  { label: 'HTML page, redacted', description: 'without keys, tokens, passwords, home folders and attachments', format: 'html', redact: true },
  { label: 'JSON, redacted', description: 'without keys, tokens, passwords, home folders and attachments', format: 'json', redact: true },
];
const filters: Readonly<Record<ExportFormat, Record<string, string[]>>> = { json: { JSON: ['json'] }, md: { Markdown: ['md'] }, html: { 'Web page': ['html'] } };

/** Sessions out into files, and in from files of this and other programs. */
export class TransferCommands {
  constructor(private readonly deps: TransferCommandsDeps) {}

  readonly all: Readonly<Record<TransferCommandName, (args: readonly unknown[]) => Promise<void>>> = {
    exportSession: (args) => this.exportSession(args),
    exportHistory: () => this.exportHistory(),
    importSessions: () => this.importSessions(),
  };

  private async exportSession([node]: readonly unknown[]): Promise<void> {
    const { controller } = this.deps;
    const row = ownSession(node);
    if (row) return this.export([row], sessionTitle(row));
    await controller.open();
    if (controller.session) await this.export([controller.session], sessionTitle(controller.session));
    else void window.showInformationMessage('No session is open: it comes into being with its first message.');
  }

  private async exportHistory(): Promise<void> {
    const { allSessions } = await import('../node/transfer/exportJson');
    const sessions = await allSessions(await this.deps.store.get());
    if (sessions.length === 0) return void window.showInformationMessage('There is nothing to export yet.');
    await this.export(sessions, 'Threadkeeper history');
  }

  private async export(sessions: readonly Session[], name: string): Promise<void> {
    const picked = await window.showQuickPick(formats, { title: sessions.length === 1 ? 'Export Session' : `Export ${sessions.length} Sessions`, placeHolder: 'What should the file be?' });
    if (!picked) return;
    const { format, redact } = picked;
    const fileName = `${name.replaceAll(/[\\/:*?"<>|\p{Cc}\s]+/gu, ' ').trim().slice(0, 80) || 'session'}.${format}`;
    const target = await window.showSaveDialog({ title: picked.label, saveLabel: 'Export', filters: filters[format], defaultUri: Uri.file(join(homedir(), fileName)) });
    if (!target) return;
    const done = await window.withProgress({ location: ProgressLocation.Notification, title: `Exporting ${sessionsText(sessions)}`, cancellable: true }, async (progress, token) => {
      const stop = new AbortController();
      token.onCancellationRequested(() => stop.abort());
      const { exportSessions, writeExport } = await import('../node/transfer/exportSessions');
      const onProgress = (count: number, total: number) => progress.report({ message: `${count.toLocaleString('en')} of ${total.toLocaleString('en')} entries` });
      try {
        await writeExport(exportSessions(await this.deps.store.get(), sessions, format, { redact, signal: stop.signal, onProgress }), target.fsPath);
        return true;
      } catch (error) {
        if (stop.signal.aborted) return false;
        throw error;
      }
    });
    if (!done) return void window.showInformationMessage('The export was cancelled. Nothing was written.');
    const open = 'Open';
    const reveal = 'Show File';
    const left = redact ? ' Look through it before you publish it: a rule cannot know everything that is private.' : '';
    void window.showInformationMessage(`Exported to ${target.fsPath}.${left}`, open, reveal).then((answer) => {
      if (answer === reveal) return commands.executeCommand('revealFileInOS', target);
      return answer === open ? commands.executeCommand('vscode.open', target) : undefined;
    });
  }

  private async importSessions(): Promise<void> {
    const kinds = [
      { label: 'Files…', description: 'an export, session files, a database', folders: false },
      { label: 'A Folder…', description: 'every session in it, for example ~/.claude/projects', folders: true },
    ];
    const kind = await window.showQuickPick(kinds, { title: 'Import Sessions', placeHolder: 'Threadkeeper exports, Claude Code, pi, OpenClaw, Goose, librecode, Cline, Roo and Continue are recognised by their content' });
    if (!kind) return;
    const picked = await window.showOpenDialog({ title: 'Import Sessions', openLabel: 'Import', canSelectMany: true, canSelectFiles: !kind.folders, canSelectFolders: kind.folders, defaultUri: Uri.file(homedir()) });
    if (!picked || picked.length === 0) return;
    const report = await window.withProgress({ location: ProgressLocation.Notification, title: 'Importing sessions', cancellable: true }, async (progress, token) => {
      const stop = new AbortController();
      token.onCancellationRequested(() => stop.abort());
      const { importInThread } = await import('../node/transfer/importInThread');
      let told = '';
      return importInThread(
        await this.deps.store.get(),
        picked.map(({ fsPath }) => fsPath),
        {
          workerFile: join(__dirname, 'storeTaskWorker.js'),
          signal: stop.signal,
          onProgress: ({ index, files, fraction, records }) => {
            const where = files === 1 ? `${Math.floor(fraction * 100)} %` : `file ${index + 1} of ${files}`;
            const message = `${where}, ${counted(records, 'record', 'records')}`;
            if (message !== told) progress.report({ message: (told = message) });
          },
        },
      );
    });
    this.deps.changed();
    await this.tell(report);
  }

  private async tell(report: ImportReport): Promise<void> {
    const fresh = report.sessions.filter(({ outcome }) => outcome !== 'known');
    const text = summaryText(report, fresh);
    const open = 'Open';
    const show = 'Show Report';
    const buttons = [...(fresh.length === 1 && !fresh[0]!.trashed ? [open] : []), show];
    const answer = await (report.failed.length > 0 ? window.showWarningMessage(text, ...buttons) : window.showInformationMessage(text, ...buttons));
    if (answer === open) await this.deps.controller.openSession(fresh[0]!.uuid);
    if (answer === show) await showText(importReportText(report), 'markdown');
  }
}

function summaryText({ sessions, failed, cancelled }: ImportReport, fresh: readonly ImportedSession[]): string {
  const entries = fresh.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0);
  const known = sessions.length - fresh.length;
  return [
    ...(cancelled ? ['The import was stopped; what had been read is here.'] : []),
    fresh.length === 0 ? 'Nothing new was imported.' : `${counted(fresh.length, 'session', 'sessions')} imported, ${counted(entries, 'entry', 'entries')}.`,
    ...(known > 0 ? [`${counted(known, 'session was', 'sessions were')} here already.`] : []),
    ...(failed.length > 0 ? [`${counted(failed.length, 'file', 'files')} could not be imported.`] : []),
  ].join(' ');
}
