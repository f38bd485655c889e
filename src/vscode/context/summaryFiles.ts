import { FileSystemError, FileType, Uri, window, workspace, type FileStat } from 'vscode';
import type { Conversation } from '../../core/chat/conversation';
import { t } from '../../core/l10n';
import { liveCompaction } from '../../core/session/liveCompaction';
import { summaryScheme } from '../manifest';
import { DocumentFiles } from '../documentFiles';
import { OpenSummaries, SummaryFault, type SummaryPlace } from './openSummaries';
import { sessionTitle } from '../sessions/sessionText';

/**
 * The summary that stands for the folded messages, as a file: saving it records a new version, closing it without saving changes
 * nothing, and VS Code keeps what is unsaved through a reload.
 */
export class SummaryFiles extends DocumentFiles {
  private readonly summaries: OpenSummaries;

  constructor(conversation: (session: string | null) => Promise<Conversation | null>) {
    super();
    this.summaries = new OpenSummaries(conversation, Date.now);
    this.disposables.add(workspace.onDidCloseTextDocument(({ uri }) => this.summaries.forget(uri.toString())));
  }

  /** Rejects in words for the user when there is no summary. */
  async open(conversation: Conversation): Promise<void> {
    const live = liveCompaction(conversation.entries);
    if (!live || conversation.editableSummary === null)
      throw new Error(t('There is no summary to edit: nothing of this conversation has been compacted.'));
    const name = sessionTitle(conversation.session)
      .replaceAll(/[\\/:*?"<>|\s]+/g, ' ')
      .trim()
      .slice(0, 60);
    const query = new URLSearchParams({ session: conversation.session.uuid, compaction: live.uuid }).toString();
    // It has the language that package.json keeps VS Code's auto-save away from: every pause in typing would become a version.
    const path = `/${summaryScheme}/${t('Summary of {0}', name)}.md`;
    const document = await workspace.openTextDocument(Uri.from({ scheme: summaryScheme, path, query }));
    await window.showTextDocument(document, { preview: false });
    window.setStatusBarMessage(`$(edit) ${t('Threadkeeper: save this document, and the model sees it from then on.')}`, lineMs);
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { text, savedAt } = await forFile(this.summaries.read(uri.toString(), placeOf(uri)));
    return { type: FileType.File, ctime: 0, mtime: savedAt, size: Buffer.byteLength(text) };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return Buffer.from((await forFile(this.summaries.read(uri.toString(), placeOf(uri)))).text);
  }

  /** Rejects with the reason when the summary stays as it was; VS Code shows it and keeps the document unsaved. */
  async writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
    const isChanged = await forFile(this.summaries.write(uri.toString(), placeOf(uri), Buffer.from(bytes).toString('utf8')));
    const line = isChanged
      ? `$(check) ${t('Threadkeeper: the model sees your summary from now on.')}`
      : `$(info) ${t('Threadkeeper: nothing changed, the summary stays as it was.')}`;
    window.setStatusBarMessage(line, lineMs);
  }
}

const lineMs = 8_000;

function placeOf({ query }: Uri): SummaryPlace {
  const asked = new URLSearchParams(query);
  return { session: asked.get('session'), compaction: asked.get('compaction') };
}

/** VS Code shows no other errors of a file. */
async function forFile<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof SummaryFault)) throw error;
    throw error.isGone ? FileSystemError.FileNotFound(error.message) : FileSystemError.Unavailable(error.message);
  }
}
