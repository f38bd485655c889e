import { QuickPickItemKind, window, workspace, type QuickPickItem, type WorkspaceFolder } from 'vscode';
import { commitText, limitTexts, saidText, unknownText } from '../../core/attribution/reasonText';
import { errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import type { SessionStore } from '../../core/ports';
import { timeText } from '../../core/recall/dateText';
import type { StoredEntry } from '../../core/session/entry';
import type { LineEdit, LineReason } from '../../node/attribution/whyLine';
import { programNameOf } from '../../core/transfer/programs';
import { plainLabel } from '../plainText';
import { openFolders } from '../tools/openFolders';

export interface WhyThisLineDeps {
  readonly store: () => Promise<SessionStore>;
  /** Opens a session and goes to one of its entries. */
  readonly goTo: (session: string, entry: string) => Promise<void>;
}

interface Item extends QuickPickItem {
  readonly place?: { readonly session: string; readonly entry: string };
}

/** Leads from the line with the cursor to what was said when it was written. Closing the list ends the search. */
export async function whyThisLine({ store, goTo }: WhyThisLineDeps): Promise<void> {
  const editor = window.activeTextEditor;
  if (!editor) throw new Error(t('Open a file first, and put the cursor in the line.'));
  if (!workspace.isTrusted) throw new Error(t('Trust this workspace first: Git is asked about its past.'));
  const { document, selection } = editor;
  if (document.uri.scheme !== 'file') throw new Error(t('Only lines of files on this machine can be led back to a session.'));
  const aborted = new AbortController();
  const list = window.createQuickPick<Item>();
  list.title = t('Why Is This Line Here?');
  list.placeholder = plainLabel(document.lineAt(selection.active.line).text.trim());
  list.busy = true;
  const picked = new Promise<Item['place']>((resolve) => {
    list.onDidAccept(() => {
      const place = list.selectedItems[0]?.place;
      if (!place) return;
      resolve(place);
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      aborted.abort();
      list.dispose();
    });
  });
  list.show();
  const folder = workspace.getWorkspaceFolder(document.uri);
  const asked = {
    file: document.uri.fsPath,
    text: document.getText(),
    line: selection.active.line,
    folder: folder?.uri.fsPath ?? '',
    names: folder ? folderNames(folder) : [],
  };
  void store()
    .then(async (opened) => (await import('../../node/attribution/whyLine')).whyLine(opened, asked, aborted.signal))
    .then(
      (reason) => (list.items = itemsOf(reason)),
      (error: unknown) => {
        if (!aborted.signal.aborted) list.items = [note('error', shown(errorText(error)))];
      },
    )
    .finally(() => {
      if (!aborted.signal.aborted) list.busy = false;
    });
  const place = await picked;
  if (place) await goTo(place.session, place.entry);
}

/** What records call the folder. */
function folderNames({ index }: WorkspaceFolder): string[] {
  const { name, was } = openFolders()[index]!;
  return was === undefined ? [name] : [name, was];
}

function itemsOf({ edits, commit, withoutGit, isCut }: LineReason): Item[] {
  const limits = limitTexts(edits.length > 0, withoutGit, isCut).map((text) => note('warning', text));
  if (edits.length === 0) return [note('question', unknownText(commit, withoutGit)), ...limits];
  return [
    ...(edits.length > 1 ? [note('question', t('One of these edits has put it there; which one cannot be told.'))] : []),
    ...edits.flatMap(editItems),
    ...(commit ? [separator(t('since then')), note('git-commit', commitText(commit))] : []),
    ...limits,
  ];
}

function editItems({ edit, session, asked, before, answer }: LineEdit): Item[] {
  const program = programNameOf(session);
  const row = (icon: string, label: string, entry: StoredEntry | null): Item[] => {
    const text = entry ? plainLabel(saidText(entry)) : '';
    return entry && text !== '' ? [rowOf(icon, label, text, { session: session.uuid, entry: entry.uuid })] : [];
  };
  const at = { session: session.uuid, entry: edit.uuid };
  return [
    separator(plainLabel(session.title) || session.id),
    ...row('account', t('You asked'), asked),
    ...row('lightbulb', t('{0}, before the edit', program), before),
    ...row('comment', t('{0} answered', program), answer?.uuid === before?.uuid || answer?.uuid === edit.uuid ? null : answer),
    rowOf('edit', t('Edited by {0}', program), timeText(edit.createdAt), at),
  ];
}

/** What was said stands below: it is longer than a label shows. */
function rowOf(icon: string, label: string, detail: string, place: NonNullable<Item['place']>): Item {
  return { label: `$(${icon}) ${label}`, detail, place, alwaysShow: true };
}

function note(icon: string, text: string): Item {
  return { label: `$(${icon}) ${plainLabel(text)}`, alwaysShow: true };
}

function separator(label: string): Item {
  return { label, kind: QuickPickItemKind.Separator };
}
