import { ConfigurationTarget, window, workspace, type QuickPickItem } from 'vscode';
import { priceOf, type PriceTable } from '../../core/cost/prices';
import type { ModelInfo, ThinkingLevel } from '../../core/models/modelInfo';
import { t } from '../../core/l10n';
import { providerIds, type ProviderId } from '../../core/models/providers';
import { removeApiKey, setApiKey, type ApiKeyCommandsDeps } from './apiKeyCommands';
import type { ChatController } from '../chat/chatController';
import { offerPlace } from '../chat/places/offerPlace';
import type { WindowState } from '../chat/windowState';
import { settingKey } from '../settingsValues';
import { offlineSessionModel } from './modelChoice';
import { pickModel } from './modelPicker';
import type { ModelSource } from './modelSource';
import { priceNote, providerTitles, thinkingChoices, type ThinkingChoice } from './modelTexts';

export interface ModelCommandsDeps {
  readonly controller: ChatController;
  readonly models: ModelSource;
  readonly memory: WindowState;
  readonly apiKeys: ApiKeyCommandsDeps;
  readonly prices: () => PriceTable;
  readonly tell: (text: string) => void;
}

/** What the user does about models and keys. */
export class ModelCommands {
  constructor(private readonly deps: ModelCommandsDeps) {}

  /** With `only`: what that provider offers. */
  async select(only?: ProviderId): Promise<void> {
    const { controller, models, memory, prices } = this.deps;
    const groups = providerIds
      .filter((provider) => only === undefined || provider === only)
      .map((provider) => ({
        provider,
        title: providerTitles[provider](),
        needs:
          provider === 'anthropic' && !models.hasKey()
            ? ('key' as const)
            : provider === 'openai-compatible' && !models.hasServer()
              ? ('address' as const)
              : null,
        list: () => models.list(provider),
      }));
    // A history that cannot be opened keeps nobody from choosing.
    const conversation = await controller.active.conversation().catch(() => null);
    const session = controller.active.addressee;
    const current = controller.choices.model;
    const { provider, id } = conversation?.model.info ?? models.fallback(current).info;
    const inUse = priceOf(prices(), provider, id);
    const picked = await pickModel({
      current,
      groups,
      nameOf: (id) => models.names.of(id),
      price: (...model) => priceNote(priceOf(prices(), ...model), inUse),
      tokens: conversation?.entries.length ? conversation.snapshot.used : 0,
    });
    if (!picked) return;
    if (picked.kind === 'set_key') return this.setKey(picked.provider);
    if (picked.kind === 'thinking') return this.setThinkingLevel();
    const { model } = picked;
    const sessions = controller.list.count;
    if (model !== offlineSessionModel) await memory.setOfflineChosen(false);
    await controller.choices.setModel(model, session);
    await this.keepForNewSessions(model);
    this.chosen(sessions);
  }

  async setThinkingLevel(): Promise<void> {
    const { controller, tell } = this.deps;
    await controller.active.open();
    const { choices } = controller;
    const level = await pickThinkingLevel(choices.thinkingLevel, choices.modelInfo);
    if (level === undefined || level === choices.thinkingLevel) return;
    await choices.setThinkingLevel(level);
    if (choices.areForNewSession)
      tell(
        level === null
          ? t('In the new session the model decides how much it thinks.')
          : t('The new session uses the thinking level {0}.', level),
      );
  }

  async setKey(provider?: 'anthropic' | 'openai-compatible'): Promise<void> {
    const { controller, memory, apiKeys } = this.deps;
    if (!(await setApiKey(apiKeys, provider))) return;
    const sessions = controller.list.count;
    await memory.setOfflineChosen(false);
    // Who enters a key wants a model: a session that was offline for want of one follows.
    if (controller.choices.model === offlineSessionModel) await controller.choices.setModel(null);
    else await controller.connectionChanged();
    this.chosen(sessions);
  }

  async removeKey(): Promise<void> {
    if (await removeApiKey(this.deps.apiKeys)) await this.deps.controller.connectionChanged();
  }

  async chooseOffline(): Promise<void> {
    const { controller, memory } = this.deps;
    const sessions = controller.list.count;
    await memory.setOfflineChosen(true);
    if (controller.choices.model !== null && controller.choices.model !== offlineSessionModel)
      await controller.choices.setModel(offlineSessionModel);
    else await controller.connectionChanged();
    this.chosen(sessions);
  }

  /** Something can answer; there were so many sessions when it was chosen. Nobody waits for what the user says to the offer. */
  private chosen(sessions: number): void {
    void offerPlace(this.deps.memory, sessions);
  }

  /** Where nothing else could answer in a new session, the choice holds for those as well. */
  private async keepForNewSessions(model: string | null): Promise<void> {
    const { models, tell } = this.deps;
    if (model === null || model === offlineSessionModel || models.hasDefault()) return;
    await workspace.getConfiguration().update(settingKey('model'), model, ConfigurationTarget.Global);
    tell(t('New sessions use this model too (setting threadkeeper.model).'));
  }
}

/** Answers null for what the model does by itself, and undefined when the list was closed. */
async function pickThinkingLevel(
  current: ThinkingLevel | null,
  model: Pick<ModelInfo, 'name' | 'thinking'>,
): Promise<ThinkingLevel | null | undefined> {
  const items = thinkingChoices(current, model).map((choice): QuickPickItem & ThinkingChoice => ({
    ...choice,
    alwaysShow: choice.level === undefined,
  }));
  const picked = await window.showQuickPick(items, {
    title: t('Set Thinking Level'),
    placeHolder: t('For this session. A change sends the conversation again, once'),
  });
  return picked?.level;
}
