import { ConfigurationTarget, QuickPickItemKind, window, workspace, type QuickPickItem } from 'vscode';
import { presetNames, type PresetName } from '../core/context/resolvePolicy';
import { settingKey } from './contributions';

export type PickedPolicy =
  /** Null: whatever the settings say. */
  { readonly scope: 'session'; readonly preset: PresetName | null } | { readonly scope: 'workspace'; readonly preset: PresetName };

export interface PolicyPickerInput {
  /** Of the session; null: it has none of its own. */
  readonly current: string | null;
  readonly setting: string;
}

interface Item extends QuickPickItem {
  readonly preset?: PresetName | null;
}

/** One line each; the settings say more. */
const explanations: Readonly<Record<PresetName, string>> = {
  balanced: 'notes at 50 and 75 %, folds at 85 %, keeps the last two turns',
  goose: 'folds at 80 % of 128k, keeps five messages, three or four sentences by a cheap model',
  'goose-conservative': 'as goose, at 90 %, keeps ten messages, best model',
  'goose-aggressive': 'as goose, at 70 %, keeps three messages: smallest prompts, lowest cost',
  goclaw: 'notes, checkpoints, folds 4,000 tokens before the end or at 500 messages, keeps half',
  'session-state': 'above 70 %: a state, merged over time, until less than 60 % is left',
  'keep-recent': 'above 20 messages or 75 %: keeps four, all of it when no model can summarise',
  librecode: 'folds at 80 %, keeps 40 messages, sections by kind of work',
};

/** Undefined when the user has closed a list. */
export async function pickPolicy({ current, setting }: PolicyPickerInput): Promise<PickedPolicy | undefined> {
  const mark = (preset: string | null) => (preset === current ? '$(check) ' : '');
  const items: Item[] = [
    { label: `${mark(null)}As the settings say`, description: setting, preset: null },
    { label: 'Policies', kind: QuickPickItemKind.Separator },
    ...presetNames.map((preset): Item => ({ label: `${mark(preset)}${preset}`, description: explanations[preset], preset })),
  ];
  const picked = await window.showQuickPick(items, { title: 'Select Policy', placeHolder: 'How the context is managed, from the next request on', matchOnDescription: true });
  if (picked?.preset === undefined) return undefined;
  if (picked.preset === null) return { preset: null, scope: 'session' };
  const scopes = [
    { label: 'For this session', scope: 'session' as const },
    { label: 'For the workspace', description: 'every session that has no policy of its own', scope: 'workspace' as const },
  ];
  const where = await window.showQuickPick(scopes, { title: `Select Policy: ${picked.preset}` });
  return where && { scope: where.scope, preset: picked.preset };
}

/** The user's own settings where no folder is open. */
export async function savePolicySetting(preset: string): Promise<void> {
  const target = workspace.workspaceFolders ? ConfigurationTarget.Workspace : ConfigurationTarget.Global;
  await workspace.getConfiguration().update(settingKey('policy'), preset, target);
}
