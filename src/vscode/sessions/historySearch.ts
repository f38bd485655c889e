import { window, type QuickPickItem } from 'vscode';
import { errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import { searchTyped } from '../../core/recall/parseSearchText';
import type { SearchResult } from '../../core/session/searchQuery';
import { plainLabel } from '../plainText';
import { SearchAsTyped, historyPicks, type HistoryPick } from './searchAsTyped';
import { groupedHits, type FoundIn, type OtherHistories } from './searchOthers';
import type { OtherWorkspace } from './tree/otherWorkspace';

export interface PickedHit extends Pick<HistoryPick, 'session' | 'entry'> {
  /** Null: it is in the history of this workspace. */
  readonly workspace: OtherWorkspace | null;
}

type Item = QuickPickItem & Partial<HistoryPick & { readonly workspace: OtherWorkspace | null }>;

/** Rows that are shown of all histories together. */
const mostRows = 200;
/** Rows of each history but this workspace's. */
const mostOfOther = 10;

export interface HistorySearch {
  readonly search: (text: string) => Promise<SearchResult>;
  /** Left out: only this workspace is searched. */
  readonly others?: OtherHistories;
  readonly initial?: string;
  /** What a search by meaning cannot find now; null: nothing is to be told. */
  readonly meaning?: () => string | null;
  /** Programs whose sessions are not all here; null: nothing is to be told. */
  readonly unsearched?: string | null;
}

/** Searches as the user types: this workspace first, then the others, in one list. What was picked; undefined when the list was closed. */
export function pickFromHistory({
  search,
  others,
  initial = '',
  meaning = () => null,
  unsearched = null,
}: HistorySearch): Promise<PickedHit | undefined> {
  const list = window.createQuickPick<Item>();
  list.title = t('Search History');
  list.placeholder = t('Words, names, paths, dates; also tag:x role:user after:2026-11-01');
  list.keepScrollPosition = true;
  let round = 0;
  let areOthersSearched = false;
  const searching = (are: boolean) => {
    areOthersSearched = are;
    list.busy = are;
  };
  const show = (parts: readonly FoundIn[]) => {
    const active = list.activeItems[0]?.entry;
    list.items = itemsOf(parts, meaning(), unsearched, areOthersSearched);
    const same = parts.length > 1 && active !== undefined ? list.items.find(({ entry }) => entry === active) : undefined;
    if (same) list.activeItems = [same];
  };
  const found = async (result: SearchResult | null) => {
    const mine = ++round;
    searching(result !== null && result.terms.length > 0 && others !== undefined);
    if (result === null) return void (list.items = []);
    const parts: FoundIn[] = [{ workspace: null, result }];
    show(parts);
    if (result.terms.length === 0 || !others) return;
    const isWanted = () => mine === round;
    const text = list.value.trim();
    for await (const part of others.read((store) => searchTyped(store, text), isWanted)) {
      if (!isWanted()) return;
      parts.push(part);
      show(parts);
    }
    if (!isWanted()) return;
    searching(false);
    show(parts);
  };
  const failed = (error: unknown) => {
    round++;
    searching(false);
    list.items = [note(`$(error) ${t('The history could not be searched: {0}', shown(errorText(error)))}`)];
  };
  const typed = new SearchAsTyped<SearchResult>(search, {
    busy: (isBusy) => (list.busy = isBusy || areOthersSearched),
    found: (result) => void found(result).catch(failed),
    failed,
  });
  return new Promise((resolve) => {
    list.onDidChangeValue((text) => typed.type(text));
    list.onDidAccept(() => {
      const { session, entry, workspace = null } = list.selectedItems[0] ?? {};
      if (session === undefined || entry === undefined) return;
      resolve({ session, entry, workspace });
      list.hide();
    });
    list.onDidHide(() => {
      round++;
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

function itemsOf(parts: readonly FoundIn[], meaning: string | null, unsearched: string | null, isBusy: boolean): readonly Item[] {
  const picks = groupedHits(parts, mostRows, mostOfOther).flatMap(({ workspace, hit, result }): Item[] =>
    historyPicks({ ...result, hits: [hit] }).map((pick) => ({
      ...pick,
      workspace,
      ...(workspace ? { description: `${pick.description} · $(folder) ${plainLabel(workspace.name)}` } : {}),
    })),
  );
  const unread = parts.flatMap(({ workspace, result, isLeftOut }) => (workspace && !result && !isLeftOut ? [workspace.name] : []));
  const leftOut = parts.flatMap(({ workspace, isLeftOut }) => (workspace && isLeftOut ? [workspace.name] : []));
  const notes = [
    ...(parts.every(({ result }) => result?.complete !== false)
      ? []
      : [note(`$(info) ${t('Older history is still being indexed and was not searched.')}`)]),
    ...(meaning === null ? [] : [note(`$(info) ${meaning}`)]),
    ...(unread.length === 0 ? [] : [note(`$(error) ${t('Could not be read: {0}', plainLabel(unread.join(', ')))}`)]),
    ...(leftOut.length === 0 ? [] : [note(`$(eye-closed) ${t('Not searched: {0}', plainLabel(leftOut.join(', ')))}`)]),
    ...(unsearched === null ? [] : [note(`$(eye-closed) ${t('Not searched: {0}', unsearched)}`)]),
  ];
  return picks.length === 0 && !isBusy ? [note(t('Nothing found')), ...notes] : [...picks, ...notes];
}

function note(label: string): Item {
  return { label, alwaysShow: true };
}
