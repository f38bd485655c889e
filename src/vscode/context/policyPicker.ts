import { ConfigurationTarget, QuickPickItemKind, window, workspace, type QuickPickItem } from 'vscode';
import { presetNames, type PresetName } from '../../core/context/policy/resolvePolicy';
import { t } from '../../core/l10n';
import { settingKey } from '../manifest';

export type PickedPolicy =
  /** Null: whatever the settings say. */
  { readonly scope: 'session'; readonly preset: PresetName | null } | { readonly scope: 'workspace'; readonly preset: PresetName };

export interface PolicyPickerInput {
  /** The session has this policy; null means that it has none of its own. */
  readonly current: string | null;
  readonly setting: string;
}

interface Item extends QuickPickItem {
  readonly preset?: PresetName | null;
}

/** One line each; the settings say more. */
const explanations: Readonly<Record<PresetName, () => string>> = {
  balanced: () => t('notes at 50 and 75 %, folds at 85 %, keeps the last two turns'),
  goose: () => t('folds at 80 % of 128k, keeps five messages, three or four sentences by a cheap model'),
  'goose-conservative': () => t('as goose, at 90 %, keeps ten messages, best model'),
  'goose-aggressive': () => t('as goose, at 70 %, keeps three messages: smallest prompts, lowest cost'),
  goclaw: () => t('notes, checkpoints, folds 4,000 tokens before the end or at 500 messages, keeps half'),
  'session-state': () => t('above 70 %: a state, merged over time, until less than 60 % is left'),
  'keep-recent': () => t('above 20 messages or 75 %: keeps four, all of it when no model can summarise'),
  librecode: () => t('folds at 80 %, keeps 40 messages, sections by kind of work'),
};

/** Undefined when the user has closed a list. */
export async function pickPolicy({ current, setting }: PolicyPickerInput): Promise<PickedPolicy | undefined> {
  const mark = (preset: string | null) => (preset === current ? '$(check) ' : '');
  const items: Item[] = [
    { label: `${mark(null)}${t('As the settings say')}`, description: setting, preset: null },
    { label: t('Policies'), kind: QuickPickItemKind.Separator },
    ...presetNames.map((preset): Item => ({ label: `${mark(preset)}${preset}`, description: explanations[preset](), preset })),
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
  const where = await window.showQuickPick(scopes, { title: t('Select Policy: {0}', picked.preset) });
  return where && { scope: where.scope, preset: picked.preset };
}

/** The user's own settings where no folder is open. */
export async function savePolicySetting(preset: string): Promise<void> {
  const target = workspace.workspaceFolders ? ConfigurationTarget.Workspace : ConfigurationTarget.Global;
  await workspace.getConfiguration().update(settingKey('policy'), preset, target);
}
