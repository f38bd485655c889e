import { t } from '../../core/l10n';
import type { ModelInfo } from '../../core/models/modelInfo';
import { thinkingLevels, thinkingTokens, type ThinkingLevel } from '../../core/context/policy/thinkingLevel';

export interface ThinkingChoice {
  readonly label: string;
  readonly description: string;
  /** Null: as the model does by itself; undefined: cannot be chosen, the description says why. */
  readonly level: ThinkingLevel | null | undefined;
}

/** For a model that can only be told to think or not. */
const on: ThinkingLevel = 'medium';

/** What the model can be told, and why not the rest. */
export function thinkingChoices(current: ThinkingLevel | null, { name, thinking }: Pick<ModelInfo, 'name' | 'thinking'>): ThinkingChoice[] {
  const mark = (isIt: boolean) => (isIt ? '$(check) ' : '');
  const names: Readonly<Record<ThinkingLevel, string>> = { off: t('Off'), low: t('Low'), medium: t('Medium'), high: t('High') };
  const choices: ThinkingChoice[] = [
    {
      label: `${mark(current === null || thinking === 'none')}${t('Automatic')}`,
      description: t('as the model does by itself'),
      level: null,
    },
  ];
  const off: ThinkingChoice = {
    label: `${mark(current === 'off')}${names.off}`,
    description: t('answers at once, where the model can'),
    level: 'off',
  };
  const levels = thinkingLevels
    .filter((level) => level !== 'off')
    .map((level) => ({
      label: `${mark(current === level)}${names[level]}`,
      description: t('about {0} tokens before an answer', thinkingTokens[level].toLocaleString('en')),
      level,
    }));
  switch (thinking) {
    case 'none':
      return [
        ...choices,
        { label: `$(info) ${t('No levels')}`, description: t('{0} cannot be told how much to think', name), level: undefined },
      ];
    case 'switch':
      return [
        ...choices,
        { ...off, description: t('answers at once') },
        { label: `${mark(current !== null && current !== 'off')}${t('On')}`, description: t('{0} decides how much', name), level: on },
      ];
    case 'always':
      return [...choices, ...levels, { label: `$(info) ${t('Not off')}`, description: t('{0} always thinks', name), level: undefined }];
    default:
      return [...choices, off, ...levels];
  }
}
