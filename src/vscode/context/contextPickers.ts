import { window, QuickPickItemKind, workspace, ConfigurationTarget, type QuickPickItem } from 'vscode';
import { t } from '../../core/l10n';
import { timeText } from '../../core/recall/dateText';
import { speaker } from '../../core/recall/history';
import type { PastCompaction } from '../../core/session/liveCompaction';
import { entryText, type StoredEntry } from '../../core/session/entry';
import { compactionText } from './compactionText';
import { oneLine, plainLabel } from '../plainText';
import { shortTokens } from '../../protocol/figures';
import type { PinTarget } from '../../core/context/pins';
import type { Pin } from '../../core/session/storage';
import { presetNames, type PresetName } from '../../core/context/policy/resolvePolicy';
import { settingKey } from '../settingsValues';
import { placeName, toPlace } from '../../core/tools/guard/workspacePath';
import { lastTextEditor } from '../lastTextEditor';
import { openFolders } from '../tools/openFolders';

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
      return t('included in a later one');
  }
}

interface PinItem extends QuickPickItem {
  readonly pick?: () => Promise<PinTarget | undefined>;
}

const recentMessages = 50;
/** Leaves room beside it for what it is: a quick pick cuts off the end of a line. */
const pinLabelLength = 60;

const pinKinds: Readonly<Record<Pin['kind'], () => string>> = { entry: () => t('message'), file: () => t('file'), text: () => t('text') };

/** A text of the user's own, the file in the editor, or a message of the conversation; undefined when a list was closed. */
export async function pickPin(entries: readonly StoredEntry[]): Promise<PinTarget | undefined> {
  const file = activeFile();
  const messages = entries
    .filter(({ content, display }) => content.type === 'message' && display && content.text.trim() !== '')
    .slice(-recentMessages)
    .toReversed();
  const items: PinItem[] = [
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
      ({ uuid, content }): PinItem => ({
        label: plainLabel(oneLine(entryText(content), pinLabelLength)),
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
    return { label: plainLabel(oneLine(text, pinLabelLength)), description: pinKinds[pin.kind](), pin };
  });
  return (await window.showQuickPick(items, { title: t('Unpin'), placeHolder: t('What need not be kept any more') }))?.pin;
}

async function writtenText(): Promise<PinTarget | undefined> {
  const text = await window.showInputBox({ title: t('Pin a Text'), prompt: t('Kept in front of the model through every compaction') });
  return text === undefined || text.trim() === '' ? undefined : { kind: 'text', target: text.trim() };
}

/** Only what lies in the workspace can be pinned; with several folders the path begins with the name of one. */
function activeFile(): string | undefined {
  const uri = lastTextEditor()?.document.uri;
  if ((uri?.scheme !== 'file' && uri?.scheme !== 'vscode-remote') || !workspace.getWorkspaceFolder(uri)) return undefined;
  const folders = openFolders();
  return placeName(toPlace(uri.scheme === 'file' ? uri.fsPath : uri.path, folders), folders);
}

type PickedPolicy =
  /** Null: whatever the settings say. */
  { readonly scope: 'session'; readonly preset: PresetName | null } | { readonly scope: 'workspace'; readonly preset: PresetName };

interface PolicyPickerInput {
  /** The session has this policy; null means that it has none of its own. */
  readonly current: string | null;
  readonly setting: string;
}

interface PolicyItem extends QuickPickItem {
  readonly preset?: PresetName | null;
}

/** What a policy is called, and one line about it; the settings say more. */
const policyTexts: Readonly<Record<PresetName, () => readonly [name: string, explanation: string]>> = {
  balanced: () => [t('Balanced'), t('compacts at 85%, keeps the last two turns, notes at 50% and 75%')],
  'goose-aggressive': () => [t('Cheapest'), t('compacts at 70% of 128k, keeps three messages: the smallest prompts')],
  librecode: () => [t('Keep the Most'), t('compacts at 80%, keeps 40 messages and what was done')],
  goose: () => [t('Like Goose'), t('compacts at 80% of 128k, keeps five messages')],
  'goose-conservative': () => [t('Like Goose, conservative'), t('compacts at 90% of 128k, keeps ten messages, best model')],
  goclaw: () => [t('Like GoClaw'), t('compacts 4,000 tokens before the end or at 500 messages, keeps half')],
  'session-state': () => [t('Merged state'), t('compacts at 70% until less than 60% is left, into one state')],
  'keep-recent': () => [t('Keep recent'), t('compacts at 20 messages or 75%, keeps four')],
};
const plainPolicies: readonly PresetName[] = ['balanced', 'goose-aggressive', 'librecode'];

export function policyName(preset: string): string {
  return presetNames.some((name) => name === preset) ? policyTexts[preset as PresetName]()[0] : preset;
}

/** Undefined when the user has closed a list. */
export async function pickPolicy({ current, setting }: PolicyPickerInput): Promise<PickedPolicy | undefined> {
  const mark = (preset: string | null) => (preset === current ? '$(check) ' : '');
  const item = (preset: PresetName): PolicyItem => {
    const [name, explanation] = policyTexts[preset]();
    return { label: `${mark(preset)}${name}`, description: explanation, preset };
  };
  const items: PolicyItem[] = [
    ...plainPolicies.map(item),
    { label: `${mark(null)}${t('As the settings say')}`, description: policyName(setting), preset: null },
    { label: t('Like other tools'), kind: QuickPickItemKind.Separator },
    ...presetNames.filter((preset) => !plainPolicies.includes(preset)).map(item),
  ];
  const picked = await window.showQuickPick(items, {
    title: t('Select Policy'),
    placeHolder: t('How the context is managed, from the next request on'),
    matchOnDescription: true,
  });
  if (picked?.preset === undefined) return undefined;
  if (picked.preset === null) return { preset: null, scope: 'session' };
  const scopes = [
    { label: t('For this session'), scope: 'session' as const },
    { label: t('For the workspace'), description: t('every session that has no policy of its own'), scope: 'workspace' as const },
  ];
  const where = await window.showQuickPick(scopes, { title: t('Select Policy: {0}', policyName(picked.preset)) });
  return where && { scope: where.scope, preset: picked.preset };
}

/** The user's own settings where no folder is open. */
export async function savePolicySetting(preset: string): Promise<void> {
  const target = workspace.workspaceFolders ? ConfigurationTarget.Workspace : ConfigurationTarget.Global;
  await workspace.getConfiguration().update(settingKey('context.policy'), preset, target);
}
