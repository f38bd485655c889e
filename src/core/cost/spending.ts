import { t } from '../l10n';
import type { SessionStore } from '../ports';
import type { UsageTotal } from './usage';
import { dayBegan } from './dailyBudget';

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
    store.usageTotals({ from: dayBegan(now) }),
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

/** `$0.42`, `about $0.42`, `$0.42 and 3 requests of unknown price`, `unknown` */
export function spentText({ cost, requestsWithoutCost: unknown, isEstimated }: Spent): string {
  if (cost === 0 && unknown > 0) return t('unknown');
  const known = cost > 0 && cost < 0.01 ? '<$0.01' : `$${cost.toFixed(2)}`;
  const told = isEstimated ? t('about {0}', known) : known;
  return unknown === 0
    ? told
    : t(unknown === 1 ? '{0} and {1} request of unknown price' : '{0} and {1} requests of unknown price', told, unknown);
}
