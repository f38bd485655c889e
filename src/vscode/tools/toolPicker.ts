import { QuickPickItemKind, window, type QuickPickItem } from 'vscode';
import { t, wholeNumber } from '../../core/l10n';
import type { ListedTool } from '../../core/tools/toolBox';
import { plainLabel } from '../plainLabel';

interface Item extends QuickPickItem {
  readonly name?: string;
}

/** Names of the tools that are on; undefined when the user has closed the list. */
export async function pickTools(tools: readonly ListedTool[]): Promise<readonly string[] | undefined> {
  const item = ({ name, description, tokens, isOn }: ListedTool): Item => ({
    label: plainLabel(name),
    name,
    picked: isOn,
    description: t('~{0} tokens', wholeNumber(tokens)),
    detail: plainLabel(description.replace(/\s+/g, ' ').slice(0, 200)),
  });
  const others = tools.filter(({ isOwn }) => !isOwn);
  const items: Item[] = [
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
