import { english } from '../l10n';

/** The start of the day, local time. */
export function dayBegan(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0);
}

export interface DailyBudgetOptions {
  /** Dollars; 0: none. */
  readonly budget: () => number;
  /** Dollars since then, as far as prices are known. */
  readonly spentSince: (from: number) => Promise<number>;
  /** Whether to go on. Must not reject. */
  readonly ask: (spent: number, budget: number) => Promise<boolean>;
  readonly now: () => number;
}

/** Stops before a request when the day's budget is spent, and asks. Who goes on has as much again before the next question. */
export class DailyBudget {
  private allowed = { day: 0, upTo: 0 };
  private asking: Promise<boolean> | null = null;

  constructor(private readonly options: DailyBudgetOptions) {}

  /** Null: go on; else what to tell the user, who is asked only with `mayAsk`. Rejects only with what `spentSince` rejects with. */
  async check(mayAsk: boolean): Promise<string | null> {
    const { spentSince, ask, now } = this.options;
    const budget = this.options.budget();
    if (budget <= 0) return null;
    const day = dayBegan(now());
    const spent = await spentSince(day);
    if (spent < Math.max(budget, this.allowed.day === day ? this.allowed.upTo : 0)) return null;
    const refusal = english(
      "Today's requests have cost ${0}, and the budget is ${1} (setting threadkeeper.budget.perDay).",
      spent.toFixed(2),
      budget.toFixed(2),
    );
    if (!mayAsk) return refusal;
    // Two sessions get one question.
    this.asking ??= ask(spent, budget).finally(() => (this.asking = null));
    if (!(await this.asking)) return refusal;
    this.allowed = { day, upTo: spent + budget };
    return null;
  }
}
