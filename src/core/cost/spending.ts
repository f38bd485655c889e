import { t, english } from '../l10n';
import type { SessionStore } from '../ports';
import type { UsageTotal } from './usage';

export interface Spent {
  /** Dollars, of the requests whose cost is known. */
  readonly cost: number;
  readonly requestsWithoutCost: number;
  /** Some costs are only about right: the provider has not said how many tokens the requests took. */
  readonly isEstimated: boolean;
}

export interface Spending {
  readonly session: Spent | null;
  readonly today: Spent;
}

/** Rejects with `StoreError`. */
export async function spending(store: Pick<SessionStore, 'usageTotals'>, session: string | null, now: number): Promise<Spending> {
  const [today, own] = await Promise.all([
    store.usageTotals({ from: dayBegan(now), own: true }),
    session === null ? null : store.usageTotals({ session }),
  ]);
  return { today: sumOf(today), session: own && sumOf(own) };
}

export function sumOf(totals: readonly UsageTotal[]): Spent {
  return {
    cost: totals.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    requestsWithoutCost: totals.reduce((sum, one) => sum + one.requestsWithoutCost, 0),
    isEstimated: totals.some(({ cost, requestsEstimated }) => (cost ?? 0) > 0 && requestsEstimated > 0),
  };
}

/** `$0.42`, `about $0.42`, `$0.42 + 3 requests without a known price`, `unknown` */
export function spentText({ cost, requestsWithoutCost: unknown, isEstimated }: Spent): string {
  if (cost === 0 && unknown > 0) return t('unknown');
  const known = cost > 0 && cost < 0.01 ? '<$0.01' : `$${cost.toFixed(2)}`;
  const told = isEstimated ? t('about {0}', known) : known;
  return unknown === 0
    ? told
    : t(unknown === 1 ? '{0} + {1} request without a known price' : '{0} + {1} requests without a known price', told, unknown);
}

/** The start of the day, local time. */
export function dayBegan(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0);
}

interface DailyBudgetOptions {
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

interface SessionLimitOptions {
  /** Dollars; null: none. */
  readonly limit: () => number | null;
  /** Dollars that the session has cost, as far as prices are known. */
  readonly spent: () => Promise<number>;
  /** Dollars that the next request takes at least; null where no price is known. */
  readonly ahead: () => number | null;
}

/**
 * A session's own cost limit. It stops a request that would certainly go beyond it, and not only the one after that: what is sent is
 * known, what is answered is not.
 */
export class SessionLimit {
  constructor(private readonly options: SessionLimitOptions) {}

  /** Null: go on; else why not, in words for the user. Rejects with what `spent` rejects with. */
  async check(): Promise<string | null> {
    const limit = this.options.limit();
    if (limit === null) return null;
    const spent = await this.options.spent();
    const [soFar, bound] = [dollars(spent), dollars(limit)];
    if (spent >= limit)
      return english('This session has cost ${0}, and its limit is ${1}. Raise the limit, or start a new session.', soFar, bound);
    const ahead = this.options.ahead() ?? 0;
    if (spent + ahead <= limit) return null;
    return english(
      'This session has cost ${0}; the next request takes at least ${1}, and the limit is ${2}. Raise the limit, or start a new session.',
      soFar,
      dollars(ahead),
      bound,
    );
  }
}

/** Two decimals, and as many as say something of less than a cent. */
function dollars(amount: number): string {
  return amount >= 0.01 || amount === 0 ? amount.toFixed(2) : String(Number(amount.toPrecision(2)));
}
