import { FileSystemError, FileType, Uri, window, workspace, type FileStat } from 'vscode';
import { errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import type { Session } from '../../core/session/session';
import { detailsScheme } from '../manifest';
import { DocumentFiles } from '../documentFiles';
import type { SessionActions } from './sessionActions';
import { sessionTitle } from './sessionText';
import { changedDetails, detailsText } from './sessionDetails';

interface Opened {
  /** As it was when it was opened or saved last. */
  readonly session: Session;
  readonly savedAt: number;
}

const lineMs = 8_000;

/** What people may say of a session (title, key, cost limit, metadata), as a JSON document: saving it stores what was changed in it. */
export class SessionDetailsFiles extends DocumentFiles {
  private readonly opened = new Map<string, Opened>();

  constructor(private readonly actions: Pick<SessionActions, 'find' | 'saveDetails'>) {
    super();
    this.disposables.add(workspace.onDidCloseTextDocument(({ uri }) => this.opened.delete(uri.toString())));
  }

  async open(session: Session): Promise<void> {
    const name = sessionTitle(session)
      .replaceAll(/[\\/:*?"<>|\s]+/g, ' ')
      .trim()
      .slice(0, 60);
    const uri = Uri.from({
      scheme: detailsScheme,
      path: `/${detailsScheme}/${name} (${session.id}).json`,
      query: new URLSearchParams({ session: session.uuid }).toString(),
    });
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: false });
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { session, savedAt } = await this.read(uri);
    return { type: FileType.File, ctime: 0, mtime: savedAt, size: Buffer.byteLength(detailsText(session)) };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return Buffer.from(detailsText((await this.read(uri)).session));
  }

  /** Rejects with the reason when the session stays as it was; VS Code shows it and keeps the document unsaved. */
  async writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
    const { session } = await this.read(uri);
    try {
      const details = changedDetails(Buffer.from(bytes).toString('utf8'), session);
      if (Object.keys(details).length > 0) await this.actions.saveDetails(session.uuid, details);
    } catch (error) {
      throw FileSystemError.Unavailable(shown(errorText(error)));
    }
    this.opened.delete(uri.toString());
    await this.read(uri);
    window.setStatusBarMessage(`$(check) ${t('Threadkeeper: the details of the session are saved.')}`, lineMs);
  }

  private async read(uri: Uri): Promise<Opened> {
    const known = this.opened.get(uri.toString());
    if (known) return known;
    const session = await this.actions.find(new URLSearchParams(uri.query).get('session') ?? '');
    if (!session) throw FileSystemError.FileNotFound(t('This session does not exist any more.'));
    const opened = { session, savedAt: Date.now() };
    this.opened.set(uri.toString(), opened);
    return opened;
  }
}
