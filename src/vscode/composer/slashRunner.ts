import { presetNames } from '../../core/context/resolvePolicy';
import type { PinTarget } from '../../core/chat/pins';
import type { SlashName } from '../../protocol/slashCommands';
import type { ChatController } from '../chatController';
import type { CommandName } from '../contributions';
import type { ModelSource } from '../modelSource';
import type { SessionChoices } from '../sessionChoices';

export interface SlashRunnerDeps {
  readonly controller: Pick<ChatController, 'compact' | 'undoCompaction' | 'newSession' | 'focusComposer' | 'renameSession' > & { readonly choices: Pick<SessionChoices, 'setModel' | 'setPolicy'> };
  readonly models: Pick<ModelSource, 'list'>;
  readonly run: (command: CommandName, args?: readonly unknown[]) => Promise<void>;
  readonly confirmUndo: (question: string) => Promise<boolean>;
  readonly pin: (target: PinTarget) => Promise<boolean>;
}

/** Carries out what was typed behind a slash; with an argument nothing is asked any more. Rejects in words for the user. */
export class SlashRunner {
  constructor(private readonly deps: SlashRunnerDeps) {}

  run(name: SlashName, argument: string): Promise<void> {
    return this.all[name](argument);
  }

  private readonly all: Readonly<Record<SlashName, (argument: string) => Promise<void>>> = {
    compact: (argument) => this.compact(argument),
    undo: () => this.undo(),
    checkpoint: () => this.deps.run('createCheckpoint'),
    pin: (argument) => this.pin(argument),
    breakdown: () => this.deps.run('showBreakdown'),
    model: (argument) => this.model(argument),
    policy: (argument) => this.policy(argument),
    thinking: () => this.deps.run('setThinkingLevel'),
    tools: () => this.deps.run('selectTools'),
    new: () => this.deps.controller.newSession().then(() => this.deps.controller.focusComposer()),
    rename: (argument) => (argument === '' ? this.deps.run('renameSession') : this.deps.controller.renameSession(argument)),
    switch: () => this.deps.run('switchSession'),
    branch: () => this.deps.run('switchBranch'),
    fork: () => this.deps.run('forkSession'),
    search: (argument) => this.deps.run('searchHistory', [argument]),
    ask: (argument) => this.deps.run('askWithoutHistory', [argument]),
    export: () => this.deps.run('exportSession'),
    analytics: () => this.deps.run('showAnalytics'),
    memory: () => this.deps.run('openMemoryNotes'),
    log: () => this.deps.run('showLog'),
  };

  private async compact(instructions: string): Promise<void> {
    const { message } = await this.deps.controller.compact(instructions === '' ? null : instructions);
    if (message !== null) throw new Error(message);
  }

  private async undo(): Promise<void> {
    const result = await this.deps.controller.undoCompaction(this.deps.confirmUndo);
    if (typeof result === 'object') throw new Error(result.message);
  }

  private async pin(text: string): Promise<void> {
    if (text === '') return this.deps.run('pin');
    if (!(await this.deps.pin({ kind: 'text', target: text }))) throw new Error('This is pinned already.');
  }

  private async model(wanted: string): Promise<void> {
    if (wanted === '') return this.deps.run('selectModel');
    const models = await this.deps.models.list();
    const names = (word: string) => models.filter(({ provider, id, name }) => [id, `${provider}/${id}`, name].some((one) => one.toLowerCase() === word));
    const word = wanted.toLowerCase();
    const exact = names(word);
    const found = exact.length > 0 ? exact : models.filter(({ id, name }) => id.toLowerCase().includes(word) || name.toLowerCase().includes(word));
    const [model] = found;
    if (!model) throw new Error(`There is no model “${wanted}”. Type /model alone to choose from the list.`);
    if (found.length > 1) throw new Error(`“${wanted}” could be ${found.slice(0, 4).map(({ id }) => id).join(', ')}. Say which.`);
    await this.deps.controller.choices.setModel(`${model.provider}/${model.id}`);
  }

  private async policy(wanted: string): Promise<void> {
    if (wanted === '') return this.deps.run('selectPolicy');
    const preset = presetNames.find((name) => name === wanted.toLowerCase());
    if (!preset) throw new Error(`There is no policy “${wanted}”. There are ${presetNames.join(', ')}.`);
    await this.deps.controller.choices.setPolicy({ preset });
  }
}
