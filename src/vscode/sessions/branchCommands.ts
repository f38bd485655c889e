import { window, type QuickPickItem } from 'vscode';
import type { Conversation } from '../../core/chat/conversation';
import { t } from '../../core/l10n';
import type { IdSource } from '../../core/ports';
import type { ActiveChat } from '../chat/activeChat';
import type { BranchTip } from '../../core/branches/branch';
import { oneLine, plainLabel } from '../plainText';
import { ago } from '../../protocol/figures';
import type { CommandName } from '../manifest';
import { untilAccepted } from '../../core/chat/events';

export interface BranchCommandsDeps {
  readonly active: Pick<ActiveChat, 'openSession' | 'conversation' | 'session'>;
  readonly ids: IdSource;
  /** A new session that goes on from an entry as the session does that shows it; its uuid. */
  readonly forkAt: (entry: string, shownIn: string | null) => Promise<string>;
  readonly tell: (text: string) => void;
  /** Offers to bring the files along before another branch is shown; false: the user wants neither. */
  readonly switchFiles: (conversation: Conversation, entry: string) => Promise<boolean>;
  readonly now: () => number;
}

export type BranchCommandName = Extract<CommandName, 'switchBranch'>;

/** Other ways on from what has been said, for the view and the palette. Rejections are shown as they are. */
export class BranchCommands {
  /** The last edit that was asked for: a repeated request is the same one. */
  private last: { readonly id: string; readonly accepted: Promise<void> } | null = null;

  constructor(private readonly deps: BranchCommandsDeps) {}

  readonly all: Readonly<Record<BranchCommandName, () => Promise<void>>> = { switchBranch: () => this.pick() };

  edit(id: string, entry: string, text: string): Promise<void> {
    if (this.last?.id === id) return this.last.accepted;
    const accepted = this.conversation().then((conversation) =>
      untilAccepted((accepted) => conversation.branching.edit(entry, text, id, accepted)),
    );
    this.last = { id, accepted };
    return accepted;
  }

  async regenerate(entry: string): Promise<void> {
    const conversation = await this.conversation();
    const id = this.deps.ids.next();
    await untilAccepted((accepted) => conversation.branching.regenerate(entry, id, accepted));
  }

  async switchTo(entry: string): Promise<void> {
    const conversation = await this.conversation();
    if (!(await this.deps.switchFiles(conversation, entry))) return;
    const problem = await conversation.branching.switchTo(entry);
    if (problem !== null) throw new Error(problem);
  }

  async summarizeLeft(how: 'summarize' | 'instructions' | 'none'): Promise<void> {
    const { branching } = await this.conversation();
    if (how === 'none') return branching.forgetLeft();
    const instructions =
      how === 'summarize'
        ? ''
        : await window.showInputBox({
            title: t('Summarize the Branch with Instructions'),
            prompt: t('What of the branch that you left matters where you go on'),
            placeHolder: t('The measurements, and why the first design was dropped'),
          });
    if (instructions === undefined) return;
    const problem = await branching.summarizeLeft(instructions.trim() || null);
    if (problem !== null) throw new Error(problem);
  }

  async label(entry: string, before: string): Promise<void> {
    const { branching } = await this.conversation();
    const label = await window.showInputBox({
      title: t('Label This Turn'),
      value: before,
      prompt: t('Shown in the conversation and found by search. Leave it empty to take the label away.'),
    });
    if (label !== undefined && label.trim() !== before) await branching.label(entry, label);
  }

  async fork(entry: string): Promise<void> {
    const { active, forkAt, tell } = this.deps;
    await active.openSession(await forkAt(entry, active.session?.uuid ?? null));
    tell(t('A session of its own now; the other one is unchanged.'));
  }

  private async pick(): Promise<void> {
    const conversation = await this.conversation();
    const tips = await conversation.branching.list();
    if (tips.length < 2)
      return this.deps.tell(t('This session has one branch. Editing a message or asking for another answer begins a second one.'));
    const leaf = await pickBranch(tips, this.deps.now());
    if (leaf !== undefined) await this.switchTo(leaf);
  }

  private async conversation(): Promise<Conversation> {
    const conversation = await this.deps.active.conversation();
    if (!conversation) throw new Error(t('This session has no messages yet.'));
    return conversation;
  }
}

interface Item extends QuickPickItem {
  readonly leaf: string;
}

const textLength = 90;

/** The end of the branch that was picked; undefined when none was, or the one that is shown. */
async function pickBranch(tips: readonly BranchTip[], now: number): Promise<string | undefined> {
  const picked = await window.showQuickPick(
    tips.map((tip) => item(tip, now)),
    {
      title: t('Switch Branch'),
      placeHolder: t('The conversation goes on where the branch ends; nothing is lost'),
      matchOnDescription: true,
      matchOnDetail: true,
    },
  );
  return picked && !tips.some(({ leaf, active }) => active && leaf === picked.leaf) ? picked.leaf : undefined;
}

function item({ leaf, at, messages, firstText, label, active }: BranchTip, now: number): Item {
  const text = plainLabel(oneLine(firstText ?? t('another answer'), textLength));
  return {
    leaf,
    label: `$(git-branch) ${label === null ? text : plainLabel(label)}`,
    description: [...(active ? [t('shown now')] : []), t(messages === 1 ? '{0} message' : '{0} messages', messages), ago(at, now)].join(
      ' · ',
    ),
    ...(label === null ? {} : { detail: text }),
  };
}
