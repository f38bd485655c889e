import { window, type QuickPickItem } from 'vscode';
import { t } from '../../core/l10n';
import type { BranchTip } from '../../core/branches/branchTip';
import { oneLine } from '../context/compactionPreviewText';
import { plainLabel } from '../plainLabel';
import { ago } from '../../protocol/figures';

interface Item extends QuickPickItem {
  readonly leaf: string;
}

const textLength = 90;

/** The end of the branch that was picked; undefined when none was, or the one that is shown. */
export async function pickBranch(tips: readonly BranchTip[], now: number): Promise<string | undefined> {
  const picked = await window.showQuickPick(tips.map((tip) => item(tip, now)), { title: t('Switch Branch'), placeHolder: t('The conversation goes on where the branch ends; nothing is lost'), matchOnDescription: true, matchOnDetail: true });
  return picked && !tips.some(({ leaf, active }) => active && leaf === picked.leaf) ? picked.leaf : undefined;
}

function item({ leaf, at, messages, firstText, label, active }: BranchTip, now: number): Item {
  const text = plainLabel(oneLine(firstText ?? t('another answer'), textLength));
  return {
    leaf,
    label: `$(git-branch) ${label === null ? text : plainLabel(label)}`,
    description: [...(active ? [t('shown now')] : []), t(messages === 1 ? '{0} message' : '{0} messages', messages), ago(at, now)].join(' · '),
    ...(label === null ? {} : { detail: text }),
  };
}
