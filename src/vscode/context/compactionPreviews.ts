import {
  CodeLens,
  FileSystemError,
  FileType,
  languages,
  Range,
  TabInputText,
  Uri,
  window,
  workspace,
  type CodeLensProvider,
  type FileStat,
} from 'vscode';
import { t, shown, wholeNumber } from '../../core/l10n';
import { summaryIn, compactionPreviewText } from './compactionText';
import { commandIds, previewScheme } from '../manifest';
import { DocumentFiles } from '../documentFiles';
import { errorText } from '../../core/errors';
import type { CompactionReview, ReviewCompaction } from '../../core/chat/turn/turn';

/** What a preview was made for: applying it means the same session and the same instructions. */
export interface PreviewedCompaction {
  readonly session: string;
  readonly instructions: string | null;
  /** A compaction that waits for an answer has this; it is called instead of making another one. */
  readonly answer?: (apply: boolean) => void;
}

interface Shown extends PreviewedCompaction {
  readonly text: string;
  readonly at: number;
}

/**
 * Documents that show what a compaction would do. The summary in them can be edited; closing one changes nothing, and saving one
 * keeps what was written for as long as it is open.
 */
export class CompactionPreviews extends DocumentFiles implements CodeLensProvider {
  private readonly shown = new Map<string, Shown>();
  private made = 0;

  constructor() {
    super();
    this.disposables.add(languages.registerCodeLensProvider({ scheme: previewScheme }, this));
    this.disposables.add(workspace.onDidCloseTextDocument(({ uri }) => void this.shown.delete(uri.toString())));
  }

  /** Takes the focus only where the user has asked for it. Its address. */
  async show(previewed: PreviewedCompaction, text: string): Promise<Uri> {
    const uri = Uri.from({ scheme: previewScheme, path: `/${t('Compaction Preview')}.md`, query: String(++this.made) });
    this.shown.set(uri.toString(), { ...previewed, text, at: Date.now() });
    const document = await workspace.openTextDocument(uri);
    await languages.setTextDocumentLanguage(document, 'markdown');
    await window.showTextDocument(document, { preview: false, preserveFocus: previewed.answer !== undefined });
    return uri;
  }

  /** Finds the preview that is looked at; undefined when there is none, or one of an earlier run of VS Code. */
  get current(): (PreviewedCompaction & { readonly uri: Uri }) | undefined {
    const uri = window.activeTextEditor?.document.uri;
    const shown = uri && this.shown.get(uri.toString());
    return shown && { ...shown, uri };
  }

  /** The summary when the user has changed it. Throws in words for the user when it cannot be told from the rest any more. */
  edited(uri: Uri): string | undefined {
    const before = this.shown.get(uri.toString())?.text;
    const now = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString())?.getText();
    if (before === undefined || now === undefined || now === before) return undefined;
    const summary = summaryIn(now);
    if (summary === null)
      throw new Error(
        t(
          'The lines that mark where the summary begins and ends are gone. Undo that change in the preview, then apply it again. Nothing was compacted.',
        ),
      );
    if (summary === '')
      throw new Error(t('An empty summary would lose what it stands for. Write one, or close the preview. Nothing was compacted.'));
    return summary === summaryIn(before) ? undefined : summary;
  }

  /** Whatever was written in it. */
  async close(uri: Uri): Promise<void> {
    const isIt = (tab: { readonly input: unknown }) => tab.input instanceof TabInputText && tab.input.uri.toString() === uri.toString();
    // What is not saved would be asked about.
    await workspace.textDocuments.find((document) => document.uri.toString() === uri.toString())?.save();
    await window.tabGroups.close(window.tabGroups.all.flatMap((group) => group.tabs).filter(isIt));
  }

  stat(uri: Uri): FileStat {
    const { text, at } = this.find(uri);
    return { type: FileType.File, ctime: 0, mtime: at, size: Buffer.byteLength(text) };
  }

  readFile(uri: Uri): Uint8Array {
    return Buffer.from(this.find(uri).text);
  }

  /** The text it was opened with stays what changes are told from. */
  writeFile(uri: Uri): void {
    this.shown.set(uri.toString(), { ...this.find(uri), at: Date.now() });
  }

  provideCodeLenses(): CodeLens[] {
    const top = new Range(0, 0, 0, 0);
    return [
      new CodeLens(top, { title: `$(check) ${t('Apply')}`, command: commandIds.applyPreview }),
      new CodeLens(top, { title: `$(close) ${t('Cancel')}`, command: commandIds.closePreview }),
    ];
  }

  private find(uri: Uri): Shown {
    const shown = this.shown.get(uri.toString());
    if (!shown)
      throw FileSystemError.FileNotFound(t('This preview is not valid any more: the window was reloaded. Nothing was compacted.'));
    return shown;
  }
}

/** Opens the preview beside whatever the user is doing; the answer is given there or in the message. Closing the message means no. */
export function reviewWith(previews: CompactionPreviews): ReviewCompaction {
  return async (review) => {
    let uri: Uri | undefined;
    const inDocument = new Promise<boolean>((answer) => {
      // Without the document the message still asks.
      previews.show({ session: review.session, instructions: null, answer }, textOf(review)).then(
        (shown) => (uri = shown),
        () => undefined,
      );
    });
    const { tokensBefore, tokensAfter } = review.content;
    const apply = t('Compact');
    const question = t(
      'Threadkeeper: the context is full enough for a compaction ({0} → {1} tokens). The preview shows what it does. Your message waits for your answer.',
      wholeNumber(tokensBefore),
      wholeNumber(tokensAfter),
    );
    const inMessage = window.showInformationMessage(question, apply, t('Not Now')).then((picked) => picked === apply);
    const applies = await Promise.race([inDocument, inMessage]);
    if (!uri) return applies;
    try {
      const summary = applies ? previews.edited(uri) : undefined;
      await previews.close(uri);
      return summary === undefined ? applies : { summary };
    } catch (error) {
      // The document stays open, with what was written.
      void window.showErrorMessage(`Threadkeeper: ${shown(errorText(error))}`);
      return false;
    }
  };
}

function textOf({ content, folds, stays }: CompactionReview): string {
  const uuids = (entries: CompactionReview['folds']) => entries.map(({ uuid }) => uuid);
  return compactionPreviewText(
    { content, folds: uuids(folds), stays: uuids(stays), message: null },
    new Map([...folds, ...stays].map((entry) => [entry.uuid, entry])),
  );
}
