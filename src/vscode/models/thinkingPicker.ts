import { window, type QuickPickItem } from 'vscode';
import { t } from '../../core/l10n';
import type { ThinkingLevel } from '../../core/context/policy/thinkingLevel';
import type { ModelInfo } from '../../core/models/modelInfo';
import { thinkingChoices, type ThinkingChoice } from './thinkingChoices';

/** Null: as the model does by itself; undefined when the list was closed. */
export async function pickThinkingLevel(current: ThinkingLevel | null, model: Pick<ModelInfo, 'name' | 'thinking'>): Promise<ThinkingLevel | null | undefined> {
  const items = thinkingChoices(current, model).map((choice): QuickPickItem & ThinkingChoice => ({ ...choice, alwaysShow: choice.level === undefined }));
  const picked = await window.showQuickPick(items, { title: t('Set Thinking Level'), placeHolder: t('For this session; a change makes the provider read the conversation anew once') });
  return picked?.level;
}
