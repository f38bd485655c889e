import { Emitter } from '../../core/base/event';
import type { Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import type { Logger, SessionStore } from '../../core/ports';
import { spending, type Spending } from '../../core/cost/spending';

export interface SpendingWatchDeps {
  readonly store: () => SessionStore | null;
  readonly session: () => string | null;
  readonly now: () => number;
  readonly log: Logger;
}

/** Totals are read at most this often. */
const everyMs = 2_000;

/** What the open session and the day have cost, for surfaces that show it. */
export class SpendingWatch implements Disposable {
  private readonly _onDidChange = new Emitter<Spending>();
  readonly onDidChange = this._onDidChange.event;
  private timer: NodeJS.Timeout | null = null;
  private last = '';

  constructor(private readonly deps: SpendingWatchDeps) {}

  /** Something has happened that may have cost something. */
  touch(): void {
    this.timer ??= setTimeout(() => void this.read(), everyMs);
  }

  dispose(): void {
    if (this.timer) clearTimeout(this.timer);
    this._onDidChange.dispose();
  }

  private async read(): Promise<void> {
    this.timer = null;
    const store = this.deps.store();
    if (!store) return;
    try {
      const found = await spending(store, this.deps.session(), this.deps.now());
      const text = JSON.stringify(found);
      if (text !== this.last) this._onDidChange.fire(found);
      this.last = text;
    } catch (error) {
      this.deps.log.debug('spending_not_read', { detail: errorText(error) });
    }
  }
}
