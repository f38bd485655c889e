import type { ModelFailure } from '../../core/models/modelEvent';
import type { ModelInfo } from '../../core/models/modelInfo';

/** Windows that are smaller than a server says, as its refusals or its memory have shown. */
export class LearnedWindows {
  private readonly limits = new Map<string, number>();

  /** `outputShare`: of the window, that an answer may take at most. */
  constructor(private readonly outputShare: number) {}

  learn(model: string, { reason, window }: Pick<ModelFailure, 'reason' | 'window'>): void {
    if (reason === 'overflow' && window) this.limits.set(model, Math.min(window, this.limits.get(model) ?? window));
  }

  limited(info: ModelInfo): ModelInfo {
    const window = Math.min(info.window, this.limits.get(info.id) ?? info.window);
    return { ...info, window, maxOutput: Math.min(info.maxOutput, Math.ceil(window * this.outputShare)) };
  }
}
