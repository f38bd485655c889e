import { priceText, timesDearer, type Price } from '../../core/cost/prices';
import { shown, t } from '../../core/l10n';
import { modelTurnError } from '../../core/chat/turn/turnError';
import type { ModelFailure } from '../../core/models/modelEvent';
import type { ModelInfo } from '../../core/models/modelInfo';
import type { ProviderId } from '../../node/models/providerAccess';
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
  return failure ? shown(modelTurnError(failure, '').message) : t('The provider lists no models.');
}
