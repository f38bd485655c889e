import { window } from 'vscode';
import { t } from '../../core/l10n';
import { timeText } from '../../core/recall/dateText';
import { speaker } from '../../core/recall/history';
import type { PastCompaction } from '../../core/session/liveCompaction';
import type { StoredEntry } from '../../core/session/entry';
import { entryText } from '../../core/session/entryKinds';
import { oneLine } from './compactionPreviewText';
import { compactionText } from './compactionText';
import { plainLabel } from '../plainLabel';
import { shortTokens } from '../../protocol/figures';

/** Leaves room beside it for who said it and how large it is: a quick pick cuts off the end of a line. */
const labelLength = 50;

/** One of the compactions of a conversation, the newest first; undefined when the list was closed. */
export async function pickCompaction(records: readonly PastCompaction[]): Promise<string | undefined> {
  const items = records
    .toReversed()
    .map(({ entry, state }) => ({
      label: timeText(entry.createdAt),
      description: stateText(state),
      detail: compactionText(entry.content),
      uuid: entry.uuid,
    }));
  return (await window.showQuickPick(items, { title: t('Compare Before and After'), placeHolder: t('Which compaction?') }))?.uuid;
}

/** One of the entries, in the order given. */
export async function pickEntry(
  offered: readonly { readonly entry: StoredEntry; readonly tokens: number | null }[],
  title: string,
  placeHolder: string,
): Promise<string | undefined> {
  const items = offered.map(({ entry: { uuid, seq, content }, tokens }) => ({
    label: plainLabel(oneLine(entryText(content).slice(0, 4 * labelLength), labelLength)) || `#${seq}`,
    description: [speaker(content), ...(tokens === null ? [] : [t('{0} tokens', shortTokens(tokens))])].join(' · '),
    uuid,
  }));
  return (await window.showQuickPick(items, { title, placeHolder, matchOnDescription: true }))?.uuid;
}

function stateText(state: PastCompaction['state']): string {
  switch (state) {
    case 'live':
      return t('in force');
    case 'undone':
      return t('undone');
    case 'replaced':
      return t('replaced by a better summary');
    case 'superseded':
      return t('folded into a later one');
  }
}
