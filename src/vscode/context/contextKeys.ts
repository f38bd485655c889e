import { commands } from 'vscode';
import type { ChatState } from '../chat/chatController';
import { contextKeys, type ContextKey } from '../manifest';

/** Sets the context keys that `enablement` and `when` clauses use; unchanged values are not sent again. */
export class ContextKeys {
  private readonly values = new Map<ContextKey, boolean>();

  update({ hasSession, canUndo, busy, compacting, waiting }: ChatState): void {
    this.set('hasSession', hasSession);
    this.set('canUndo', canUndo);
    this.set('busy', busy);
    this.set('compacting', compacting);
    this.set(
      'asking',
      waiting.some((one) => one.for === 'permission'),
    );
    this.set(
      'contextFull',
      waiting.some((one) => one.for === 'decision'),
    );
  }

  set(key: ContextKey, value: boolean): void {
    if (this.values.get(key) === value) return;
    this.values.set(key, value);
    void commands.executeCommand('setContext', contextKeys[key], value);
  }
}
