import { presetNames } from '../../core/context/policy/resolvePolicy';
import { thinkingLevels, type ModelInfo } from '../../core/models/modelInfo';
import { listed, t } from '../../core/l10n';
import type { PinTarget } from '../../core/context/pins';
import type { ArgumentChoice } from '../../protocol/composer';
import type { SlashName } from '../../protocol/slashCommands';
import type { ActiveChat } from '../chat/activeChat';
import type { ChatController } from '../chat/chatController';
import type { ChatViewFeed } from '../chat/chatViewFeed';
import { orFault } from '../context/compactionText';
import type { CommandName } from '../manifest';
import type { ModelSource } from '../models/modelSource';
import { providerTitles } from '../models/modelTexts';
import type { SessionChoices } from '../chat/sessionChoices';

export interface SlashRunnerDeps {
  readonly controller: Pick<ChatController, 'compact' | 'renameSession'> & {
    readonly active: Pick<ActiveChat, 'newSession' | 'addressee'>;
    readonly feed: Pick<ChatViewFeed, 'focusComposer'>;
    readonly choices: Pick<SessionChoices, 'setModel' | 'setPolicy' | 'setThinkingLevel'>;
  };
  readonly models: Pick<ModelSource, 'listAll'>;
  readonly run: (command: CommandName, args?: readonly unknown[]) => Promise<void>;
  /** Undoes the last compaction. Rejects with the reason when it stays. */
  readonly undo: () => Promise<void>;
  readonly pin: (target: PinTarget) => Promise<boolean>;
  /** From Chat to Plan mode, or back. */
  readonly switchMode: () => Promise<void>;
  readonly openHelp: () => Promise<void>;
}

const automatic = 'automatic';
/** As many as a menu over the composer shows without hiding the transcript. */
const mostChoices = 12;

/**
 * Carries out what was typed behind a slash; with an argument nothing is asked any more. Resolves with why there was nothing to do, or
 * null; rejects in words for the user.
 */
export class SlashRunner {
  constructor(private readonly deps: SlashRunnerDeps) {}

  async run(name: SlashName, argument: string): Promise<string | null> {
    return (await this.all[name](argument)) ?? null;
  }

  /** What the argument may be, as far as it is typed; what it says word for word comes first. Never rejects. */
  async complete(name: SlashName, typed: string): Promise<ArgumentChoice[]> {
    const word = typed.toLowerCase();
    const fitting = (await this.choices(name)).filter(
      ({ value, label }) => value.toLowerCase().includes(word) || label.toLowerCase().includes(word),
    );
    const rank = ({ value, label }: ArgumentChoice) => (value.toLowerCase() === word || label.toLowerCase() === word ? 0 : 1);
    return fitting.sort((a, b) => rank(a) - rank(b)).slice(0, mostChoices);
  }

  private readonly all: Readonly<Record<SlashName, (argument: string) => Promise<string | null | void>>> = {
    compact: (argument) => this.compact(argument),
    undo: () => this.deps.undo(),
    checkpoint: () => this.deps.run('createCheckpoint'),
    pin: (argument) => this.pin(argument),
    breakdown: () => this.deps.run('showBreakdown'),
    model: (argument) => this.model(argument),
    policy: (argument) => this.policy(argument),
    thinking: (argument) => this.thinking(argument),
    plan: () => this.deps.switchMode(),
    tools: () => this.choose('selectTools'),
    new: () => this.deps.controller.active.newSession().then(() => this.deps.controller.feed.focusComposer()),
    rename: (argument) => (argument === '' ? this.choose('renameSession') : this.deps.controller.renameSession(argument)),
    switch: () => this.choose('switchSession'),
    branch: () => this.choose('switchBranch'),
    fork: () => this.deps.run('forkSession'),
    search: (argument) => this.deps.run('searchHistory', [argument]),
    ask: (argument) => this.deps.run('askWithoutHistory', [argument]),
    export: () => this.deps.run('exportSession'),
    analytics: () => this.deps.run('showAnalytics'),
    memory: () => this.deps.run('openMemoryNotes'),
    log: () => this.deps.run('showLog'),
    help: () => this.deps.openHelp(),
  };

  /** Asks about the chat in a list or an input; when these close, VS Code gives the keyboard to the editors. */
  private async choose(command: CommandName): Promise<void> {
    await this.deps.run(command);
    this.deps.controller.feed.focusComposer();
  }

  private async compact(instructions: string): Promise<string | null> {
    return orFault(await this.deps.controller.compact(instructions === '' ? null : instructions));
  }

  private async pin(text: string): Promise<void> {
    if (text === '') return this.choose('pin');
    if (!(await this.deps.pin({ kind: 'text', target: text }))) throw new Error(t('This is pinned already.'));
  }

  private async model(wanted: string): Promise<void> {
    if (wanted === '') return this.choose('selectModel');
    // Servers have seconds to answer.
    const session = this.deps.controller.active.addressee;
    const { models, silent } = await this.deps.models.listAll();
    const names = (word: string) =>
      models.filter(({ provider, id, name }) => [id, `${provider}/${id}`, name].some((one) => one.toLowerCase() === word));
    const word = wanted.toLowerCase();
    const exact = names(word);
    const found =
      exact.length > 0 ? exact : models.filter(({ id, name }) => id.toLowerCase().includes(word) || name.toLowerCase().includes(word));
    const [model] = found;
    if (!model && silent.length > 0)
      throw new Error(
        t(
          'There is no model “{0}” where there was an answer; {1} did not answer. Type /model alone to choose from the list.',
          wanted,
          listed(silent.map((provider) => providerTitles[provider]())),
        ),
      );
    if (!model) throw new Error(t('There is no model “{0}”. Type /model alone to choose from the list.', wanted));
    const named = ({ provider, id }: ModelInfo) =>
      found.some((one) => one.id === id && one.provider !== provider) ? `${provider}/${id}` : id;
    if (found.length > 1) throw new Error(t('“{0}” could be {1}. Say which.', wanted, listed(found.slice(0, 4).map(named))));
    await this.deps.controller.choices.setModel(`${model.provider}/${model.id}`, session);
  }

  private async choices(name: SlashName): Promise<ArgumentChoice[]> {
    const plain = (values: readonly string[]) => values.map((value) => ({ value, label: value, detail: '' }));
    if (name === 'policy') return plain(presetNames);
    if (name === 'thinking') return plain([automatic, ...thinkingLevels]);
    if (name !== 'model') return [];
    const { models } = await this.deps.models.listAll();
    return models.map(({ provider, id, name: label }) => ({ value: `${provider}/${id}`, label, detail: `${provider}/${id}` }));
  }

  private async thinking(wanted: string): Promise<void> {
    if (wanted === '') return this.choose('setThinkingLevel');
    const word = wanted.toLowerCase();
    const level = word === automatic ? null : thinkingLevels.find((one) => one === word);
    if (level === undefined)
      throw new Error(t('There is no thinking level “{0}”. There are {1}.', wanted, listed([automatic, ...thinkingLevels])));
    await this.deps.controller.choices.setThinkingLevel(level);
  }

  private async policy(wanted: string): Promise<void> {
    if (wanted === '') return this.choose('selectPolicy');
    const preset = presetNames.find((name) => name === wanted.toLowerCase());
    if (!preset) throw new Error(t('There is no policy “{0}”. There are {1}.', wanted, listed(presetNames)));
    await this.deps.controller.choices.setPolicy({ preset });
  }
}
