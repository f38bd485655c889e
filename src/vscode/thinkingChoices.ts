import type { ModelInfo } from '../core/models/modelInfo';
import { thinkingLevels, thinkingTokens, type ThinkingLevel } from '../core/context/thinkingLevel';

export interface ThinkingChoice {
  readonly label: string;
  readonly description: string;
  /** Null: as the model does by itself; undefined: cannot be chosen, the description says why. */
  readonly level: ThinkingLevel | null | undefined;
}

const names: Readonly<Record<ThinkingLevel, string>> = { off: 'Off', low: 'Low', medium: 'Medium', high: 'High' };

/** For a model that can only be told to think or not. */
const on: ThinkingLevel = 'medium';

/** What the model can be told, and why not the rest. */
export function thinkingChoices(current: ThinkingLevel | null, { name, thinking }: Pick<ModelInfo, 'name' | 'thinking'>): ThinkingChoice[] {
  const mark = (isIt: boolean) => (isIt ? '$(check) ' : '');
  const choices: ThinkingChoice[] = [{ label: `${mark(current === null || thinking === 'none')}Automatic`, description: 'as the model does by itself', level: null }];
  const off: ThinkingChoice = { label: `${mark(current === 'off')}Off`, description: 'answers at once, where the model can', level: 'off' };
  const levels = thinkingLevels.filter((level) => level !== 'off').map((level) => ({ label: `${mark(current === level)}${names[level]}`, description: `about ${thinkingTokens[level].toLocaleString('en')} tokens before an answer`, level }));
  switch (thinking) {
    case 'none':
      return [...choices, { label: '$(info) No levels', description: `${name} cannot be told how much to think`, level: undefined }];
    case 'switch':
      return [...choices, { ...off, description: 'answers at once' }, { label: `${mark(current !== null && current !== 'off')}On`, description: `${name} decides how much`, level: on }];
    case 'always':
      return [...choices, ...levels, { label: '$(info) Not off', description: `${name} always thinks`, level: undefined }];
    default:
      return [...choices, off, ...levels];
  }
}
