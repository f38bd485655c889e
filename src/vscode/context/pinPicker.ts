import { QuickPickItemKind, window, workspace, type QuickPickItem } from 'vscode';
import type { PinTarget } from '../../core/context/pins';
import { t } from '../../core/l10n';
import type { Pin } from '../../core/session/pin';
import type { StoredEntry } from '../../core/session/entry';
import { entryText } from '../../core/session/entryKinds';
import { oneLine } from './compactionPreviewText';
import { plainLabel } from '../plainLabel';

interface Item extends QuickPickItem {
  readonly pick?: () => Promise<PinTarget | undefined>;
}

const recentMessages = 50;
/** Leaves room beside it for what it is: a quick pick cuts off the end of a line. */
const labelLength = 60;

const kinds: Readonly<Record<Pin['kind'], () => string>> = { entry: () => t('message'), file: () => t('file'), text: () => t('text') };

/** A text of the user's own, the file in the editor, or a message of the conversation; undefined when a list was closed. */
export async function pickPin(entries: readonly StoredEntry[]): Promise<PinTarget | undefined> {
  const file = activeFile();
  const messages = entries
    .filter(({ content, display }) => content.type === 'message' && display && content.text.trim() !== '')
    .slice(-recentMessages)
    .toReversed();
  const items: Item[] = [
    {
      label: `$(edit) ${t('Write a text…')}`,
      description: t('a rule or a fact that must stay in sight'),
      alwaysShow: true,
      pick: writtenText,
    },
    ...(file === undefined
      ? []
      : [
          {
            label: `$(file) ${file}`,
            description: t('the active file, read again at every compaction'),
            pick: async () => ({ kind: 'file' as const, target: file }),
          },
        ]),
    { label: t('Messages, the newest first'), kind: QuickPickItemKind.Separator },
    ...messages.map(
      ({ uuid, content }): Item => ({
        label: plainLabel(oneLine(entryText(content), labelLength)),
        description: content.type === 'message' && content.role === 'user' ? t('you') : t('answer'),
        pick: async () => ({ kind: 'entry', target: uuid }),
      }),
    ),
  ];
  const picked = await window.showQuickPick(items, {
    title: t('Pin'),
    placeHolder: t('What every compaction shall keep, word for word'),
    matchOnDescription: true,
  });
  return picked?.pick?.();
}

/** One of what is pinned. */
export async function pickPinned(pins: readonly Pin[], entries: ReadonlyMap<string, StoredEntry>): Promise<PinTarget | undefined> {
  const items = pins.map((pin) => {
    const entry = entries.get(pin.target);
    const text = pin.kind === 'entry' ? (entry ? entryText(entry.content) : t('a message that is gone')) : pin.target;
    return { label: plainLabel(oneLine(text, labelLength)), description: kinds[pin.kind](), pin };
  });
  return (await window.showQuickPick(items, { title: t('Unpin'), placeHolder: t('What need not be kept any more') }))?.pin;
}

async function writtenText(): Promise<PinTarget | undefined> {
  const text = await window.showInputBox({ title: t('Pin a Text'), prompt: t('Kept in front of the model through every compaction') });
  return text === undefined || text.trim() === '' ? undefined : { kind: 'text', target: text.trim() };
}

/** Only what lies in the workspace can be pinned. */
function activeFile(): string | undefined {
  const uri = window.activeTextEditor?.document.uri;
  if (uri?.scheme !== 'file' && uri?.scheme !== 'vscode-remote') return undefined;
  return workspace.getWorkspaceFolder(uri) && workspace.asRelativePath(uri, false);
}
