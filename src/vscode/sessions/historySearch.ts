import { window, type QuickPickItem } from 'vscode';
import { errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import type { SearchResult } from '../../core/session/searchQuery';
import { SearchAsTyped, historyPicks, type HistoryPick } from './searchAsTyped';

type Item = QuickPickItem & Partial<HistoryPick>;

/** Searches as the user types. What was picked; undefined when the list was closed. */
export function pickFromHistory(
  search: (text: string) => Promise<SearchResult>,
  initial = '',
  /** What a search by meaning cannot find now; null: nothing is to be told. */
  meaning: () => string | null = () => null,
  /** Programs whose sessions are not all here; null: nothing is to be told. */
  unsearched: string | null = null,
): Promise<Pick<HistoryPick, 'session' | 'entry'> | undefined> {
  const list = window.createQuickPick<Item>();
  list.title = t('Search History');
  list.placeholder = t('Words, names, paths or a date, in every session; also tag:x role:user after:2026-11-01 session:20261122_001');
  const typed = new SearchAsTyped<SearchResult>(search, {
    busy: (isBusy) => (list.busy = isBusy),
    found: (result) => (list.items = result === null ? [] : itemsOf(result, meaning(), unsearched)),
    failed: (error) => (list.items = [note(`$(error) ${t('The history could not be searched: {0}', shown(errorText(error)))}`)]),
  });
  return new Promise((resolve) => {
    list.onDidChangeValue((text) => typed.type(text));
    list.onDidAccept(() => {
      const { session, entry } = list.selectedItems[0] ?? {};
      if (session === undefined || entry === undefined) return;
      resolve({ session, entry });
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      typed.dispose();
      list.dispose();
    });
    list.show();
    if (initial === '') return;
    list.value = initial;
    typed.type(initial);
  });
}

function itemsOf(result: SearchResult, meaning: string | null, unsearched: string | null): readonly Item[] {
  const picks = historyPicks(result);
  const notes = [
    ...(result.complete ? [] : [note(`$(info) ${t('Older history is still being indexed and was not searched.')}`)]),
    ...(meaning === null ? [] : [note(`$(info) ${meaning}`)]),
    ...(unsearched === null ? [] : [note(`$(eye-closed) ${t('Not searched: {0}', unsearched)}`)]),
  ];
  return picks.length === 0 ? [note(t('Nothing found')), ...notes] : [...picks, ...notes];
}

function note(label: string): Item {
  return { label, alwaysShow: true };
}
