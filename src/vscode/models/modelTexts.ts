import { priceText, timesDearer, type Price } from '../../core/cost/prices';
import { shown, t } from '../../core/l10n';
import { modelTurnError, wholeError } from '../../core/chat/turn/turnError';
import type { ModelFailure } from '../../core/models/modelEvent';
import { thinkingLevels, thinkingTokens, type ModelInfo, type ThinkingLevel } from '../../core/models/modelInfo';
import type { ProviderId } from '../../core/models/providers';
import { shortTokens } from '../../protocol/figures';

export const providerTitles: Readonly<Record<ProviderId, () => string>> = {
  anthropic: () => 'Claude',
  'openai-compatible': () => t('OpenAI-compatible server'),
  ollama: () => 'Ollama',
  vscode: () => t('VS Code language models'),
};

/** The line under a model's name. */
export function modelDetail({ window, maxOutput, source }: Pick<ModelInfo, 'window' | 'maxOutput' | 'source'>, price: string): string {
  const size = t(source === 'table' ? '{0} tokens of context (assumed)' : '{0} tokens of context', shortTokens(window));
  // The line is cut off where the list ends: what matters least stands last.
  return [size, price, t('answers of up to {0}', shortTokens(maxOutput))].join(' · ');
}

/** What a model costs, and what is to be known before it takes the place of the one in use. */
export function priceNote(price: Price | undefined, inUse: Price | undefined): string {
  if (!price) return inUse ? `$(warning) ${t('price unknown: what it costs is not counted')}` : t('price unknown');
  const times = inUse ? timesDearer(price, inUse) : null;
  if (times === null) return priceText(price);
  return `$(arrow-up) ${times === Infinity ? t('the model in use is free') : t('{0} × the model in use', Number(times.toPrecision(2)))} · ${priceText(price)}`;
}

/** Why a provider offers nothing, and what to do. `failure` null: it answered with an empty list. */
export function whyNotListed(provider: ProviderId, failure: ModelFailure | null): string {
  if (provider === 'ollama') {
    if (failure?.reason === 'network') return t('Ollama does not answer. Run “ollama serve”, or set threadkeeper.ollama.baseUrl.');
    if (!failure) return t('Ollama has no model to talk to. Get one, for example with “ollama pull llama3.1”.');
  }
  if (provider === 'vscode' && !failure)
    return t('VS Code offers no language models: sign in to GitHub Copilot, or install an extension that brings models.');
  if (provider === 'openai-compatible') {
    if (failure?.reason === 'network') return t('The server does not answer. Start it, or change threadkeeper.openaiCompatible.baseUrl.');
    if (failure?.status === 404 || !failure) return t('The server lists no models. Enter a model id.');
  }
  return failure ? shown(wholeError(modelTurnError(failure, ''))) : t('The provider lists no models.');
}

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
