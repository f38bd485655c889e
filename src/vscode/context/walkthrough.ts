import type { ChatState } from '../chat/chatController';
import type { WindowState } from '../chat/windowState';
import type { ContextKeys } from './contextKeys';
import type { CommandName, WalkthroughStep } from '../manifest';

const byCommand: Partial<Record<CommandName, WalkthroughStep>> = {
  openInEditor: 'chat',
  showBreakdown: 'gauge',
  importSessions: 'import',
  searchHistory: 'import',
  watchAgents: 'agents',
  connectAgent: 'agents',
  handOver: 'agents',
};

/**
 * Which steps of the walkthrough the user has done, here or in another window, before or after they have opened it. The conditions that
 * `package.json` names tick a step only where they become true after the walkthrough was opened for the first time; `tick` marks one that
 * VS Code may not even have read yet.
 */
export class Walkthrough {
  constructor(
    private readonly memory: Pick<WindowState, 'stepsDone' | 'setStepsDone'>,
    private readonly keys: Pick<ContextKeys, 'set'>,
    private readonly tick: (step: WalkthroughStep) => void,
  ) {
    for (const step of memory.stepsDone()) keys.set(`${step}Done`, true);
  }

  done(step: WalkthroughStep): void {
    const before = this.memory.stepsDone();
    if (before.includes(step)) return;
    void this.memory.setStepsDone([...before, step]);
    this.keys.set(`${step}Done`, true);
    this.tick(step);
  }

  ran(command: CommandName): void {
    const step = byCommand[command];
    if (step) this.done(step);
  }

  /** Answers by a model, which the gauge counts; offline there is neither. */
  saw({ context, canUndo }: Pick<ChatState, 'context' | 'canUndo'>): void {
    if (context && !context.model.startsWith('offline/')) {
      this.done('model');
      this.done('gauge');
    }
    if (canUndo) this.done('compact');
  }
}
