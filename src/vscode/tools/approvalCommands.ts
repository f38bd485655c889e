import { commands, ConfigurationTarget, window, workspace } from 'vscode';
import type { ApprovalAnswer, Approvals, PendingApproval } from '../../core/chat/turn/approvals';
import { visibleText } from '../../core/base/text';
import { t } from '../../core/l10n';
import { offeredRules } from '../../core/tools/allowRules';
import type { ActiveChat } from '../chat/activeChat';
import { plainLabel } from '../plainText';
import { settingKey } from '../settingsValues';
import { answerApprovals, type GivenAnswer } from './toolPickers';

interface ApprovalCommandsDeps {
  readonly active: Pick<ActiveChat, 'chat' | 'open' | 'rulesChanged'>;
  /** Goes to a session, left while it was answering, that waits for a permission. */
  readonly openWaiting: () => Promise<void>;
  readonly showChange: (call: string) => Promise<void>;
}

/** What the user answers to calls that ask, in the view and from the palette. */
export class ApprovalCommands {
  constructor(private readonly deps: ApprovalCommandsDeps) {}

  /**
   * Answers what a call asks under a title. Rejects, in words for the user, when it does not wait any more. Closing a list or an input
   * answers nothing.
   */
  async answer(call: string, title: string, given: GivenAnswer): Promise<void> {
    const { approvals } = this;
    const asked = approvals?.pending.find((one) => one.call === call && one.question.title === title);
    if (!approvals || !asked) throw noLongerWaiting();
    await this.answerIn(approvals, asked, given);
  }

  /** Puts what waits to the user, the oldest first, with the view open or not. */
  async answerPending(): Promise<void> {
    const { active, openWaiting, showChange } = this.deps;
    await active.open();
    if (!this.approvals?.pending.length) await openWaiting();
    // Lists and inputs stay open while the user looks at another session.
    const { approvals } = this;
    await answerApprovals({
      pending: () => approvals?.pending ?? [],
      answer: async (asked, given) => {
        if (approvals) await this.answerIn(approvals, asked, given);
      },
      showChange,
    });
  }

  private get approvals(): Approvals | null {
    return this.deps.active.chat?.conversation.approvals ?? null;
  }

  private async answerIn(approvals: Approvals, asked: PendingApproval, given: GivenAnswer): Promise<void> {
    if (given === 'always') return this.allowAlways(approvals, asked);
    if (given !== 'reason') return settle(approvals, asked, given);
    const reason = await window.showInputBox({
      title: t('Deny with a Reason'),
      prompt: t('The model reads this, and goes on.'),
      placeHolder: t('For example: use the existing helper instead'),
      ignoreFocusOut: true,
    });
    if (reason !== undefined) settle(approvals, asked, { deny: reason });
  }

  private async allowAlways(approvals: Approvals, asked: PendingApproval): Promise<void> {
    if (!approvals.pending.includes(asked)) throw noLongerWaiting();
    const rule = await pickRule(asked);
    if (rule === undefined) return;
    const key = settingKey('tools.alwaysAllow');
    const rules = workspace.getConfiguration().inspect<readonly string[]>(key)?.globalValue ?? [];
    // In the user's own settings: a workspace must not be able to allow itself anything.
    await workspace.getConfiguration().update(key, [...new Set([...rules, rule])], ConfigurationTarget.Global);
    await this.deps.active.rulesChanged();
    // The rule may not cover it where the session asks more often, and it may have been answered while the list was open.
    if (approvals.pending.includes(asked)) settle(approvals, asked, 'allow');
  }
}

/** The call may ask something else by now, which the user has not seen. */
function settle(approvals: Approvals, asked: PendingApproval, answer: ApprovalAnswer): void {
  if (!approvals.pending.includes(asked) || !approvals.answer(asked.call, answer)) throw noLongerWaiting();
}

const noLongerWaiting = () => new Error(t('This call does not wait for an answer any more.'));

/** The rule that the user wants; undefined when the list was closed, or the rules are edited instead. */
async function pickRule({ tool, question }: PendingApproval): Promise<string | undefined> {
  const items = offeredRules(question, tool).map((rule) => ({
    label: plainLabel(visibleText(rule.slice(rule.indexOf(' ') + 1))),
    description: describeRule(rule),
    rule,
  }));
  const edit = { label: `$(settings-gear) ${t('Edit the Rules…')}`, description: t('in your settings'), rule: null };
  const picked = await window.showQuickPick([...items, edit], {
    title: t('Always Allow'),
    placeHolder: t('In every trusted workspace, from now on'),
    ignoreFocusOut: true,
  });
  if (picked?.rule === null) await commands.executeCommand('workbench.action.openSettings', settingKey('tools.alwaysAllow'));
  return picked?.rule ?? undefined;
}

function describeRule(rule: string): string {
  if (rule.startsWith('tool ')) return t('whatever this tool is called for');
  if (rule.startsWith('edit ')) return rule.endsWith('/**') ? t('changes of all files in this folder') : t('changes of this file');
  return rule.endsWith(' *') ? t('commands that begin like this, with plain arguments') : t('exactly this command');
}
