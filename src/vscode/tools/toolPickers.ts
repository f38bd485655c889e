import { window, QuickPickItemKind, type QuickPickItem } from 'vscode';
import type { PendingApproval } from '../../core/chat/turn/approvals';
import { offeredRules } from '../../core/tools/allowRules';
import { visibleText } from '../../core/base/text';
import { t, wholeNumber } from '../../core/l10n';
import { plainLabel } from '../plainText';
import { showText } from '../notices';
import type { ListedTool } from '../../core/tools/toolBox';
import type { ViewRequest } from '../../protocol/messages';

export type GivenAnswer = Extract<ViewRequest, { method: 'answer_tool' }>['answer'];

interface ApprovalPickerDeps {
  /** Oldest first; asked again after each answer: what waits may have been answered elsewhere meanwhile. */
  readonly pending: () => readonly PendingApproval[];
  /** Rejects, in words for the user, for what does not wait any more. */
  readonly answer: (asked: PendingApproval, answer: GivenAnswer) => Promise<void>;
  readonly showChange: (call: string) => Promise<void>;
}

/** Characters that fit beside each other in a quick pick of the usual width. */
const longDetail = 80;

interface Item extends QuickPickItem {
  readonly choice: GivenAnswer | 'show' | 'read';
}

/** Puts what waits for a permission to the user, the oldest first, with the view open or not. Closing a list answers nothing. */
export async function answerApprovals({ pending, answer, showChange }: ApprovalPickerDeps): Promise<void> {
  if (pending().length === 0) throw new Error(t('Nothing waits for your permission.'));
  const answered = new Set<PendingApproval>();
  for (;;) {
    const waiting = pending().filter((one) => !answered.has(one));
    const [next] = waiting;
    if (!next) return;
    const choice = await pickAnswer(next, waiting.length);
    if (choice === undefined) return;
    if (choice === 'show') return showChange(next.call);
    if (choice === 'read') return showText(visibleText(next.question.detail ?? '', 'lines'), 'shellscript');
    await answer(next, choice);
    answered.add(next);
  }
}

async function pickAnswer({ tool, question }: PendingApproval, waiting: number): Promise<Item['choice'] | undefined> {
  const { title, detail, note, everyTime, change } = question;
  const items: Item[] = [
    // The command itself, or why this is asked. The list cuts a long line: all of it can be read from the last item.
    {
      label: `$(check) ${t('Allow')}`,
      description: plainLabel(visibleText(title)),
      ...(detail === null ? {} : { detail: plainLabel(visibleText(detail.replaceAll('\n', ' ⏎ '))) }),
      choice: 'allow',
    },
    ...(everyTime
      ? []
      : [
          {
            label: `$(check-all) ${t('Allow for This Session')}`,
            description: question.kind === 'command' ? t('the same command') : t('whatever else {0} is called for', visibleText(tool)),
            choice: 'session' as const,
          },
        ]),
    ...(offeredRules(question, tool).length === 0
      ? []
      : [{ label: `$(pass) ${t('Always Allow…')}`, description: t('by a rule in your settings'), choice: 'always' as const }]),
    { label: `$(close) ${t('Deny')}`, description: t('the model is told, and goes on without it'), choice: 'deny' },
    { label: `$(comment) ${t('Deny with a Reason…')}`, description: t('the model reads it'), choice: 'reason' },
    ...(detail !== null && (detail.length > longDetail || detail.includes('\n'))
      ? [{ label: `$(file) ${t('Show All of It')}`, description: t('answer afterwards with the same command'), choice: 'read' as const }]
      : []),
    ...(change
      ? [{ label: `$(diff) ${t('Show the Change')}`, description: t('answer afterwards with the same command'), choice: 'show' as const }]
      : []),
  ];
  const heading = waiting > 1 ? t('Permission Needed ({0} more waiting)', waiting - 1) : t('Permission Needed');
  const picked = await window.showQuickPick(items, {
    title: heading,
    placeHolder: [title, ...(note === undefined ? [] : [note])].map((text) => visibleText(text)).join(' — '),
    ignoreFocusOut: true,
  });
  return picked?.choice;
}

interface ToolItem extends QuickPickItem {
  readonly name?: string;
}

/** Names of the tools that are on; undefined when the user has closed the list. */
export async function pickTools(tools: readonly ListedTool[]): Promise<readonly string[] | undefined> {
  const item = ({ name, description, tokens, isOn }: ListedTool): ToolItem => ({
    label: plainLabel(name),
    name,
    picked: isOn,
    description: t('~{0} tokens', wholeNumber(tokens)),
    detail: plainLabel(description.replace(/\s+/g, ' ').slice(0, 200)),
  });
  const others = tools.filter(({ isOwn }) => !isOwn);
  const items: ToolItem[] = [
    { label: 'Threadkeeper', kind: QuickPickItemKind.Separator },
    ...tools.filter(({ isOwn }) => isOwn).map(item),
    ...(others.length > 0
      ? [{ label: t('Other extensions and MCP servers'), kind: QuickPickItemKind.Separator }, ...others.map(item)]
      : []),
  ];
  const picked = await window.showQuickPick(items, {
    title: t('Select Tools'),
    placeHolder: t('What the model may use from the next message on'),
    canPickMany: true,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked?.flatMap(({ name }) => name ?? []);
}
