import { costOf, priceOf, type CostOf } from '../cost/prices';
import { returnCost, type ReturnRow } from '../cost/returns';
import { dayOf, daysBetween, type AnalyticsReport } from './report';
import type { AnalyticsQuery, AnalyticsRows, CompactionRow, NudgeRow, UsageRow } from './rows';

export interface AnalyticsFilter {
  /** Folder of a session. */
  readonly workspace?: string;
  /** `provider/model`: its requests, and the sessions that it answered in. */
  readonly model?: string;
  readonly tag?: string;
  /** Sessions that are listed; 10 by default. */
  readonly top?: number;
  /** What a part of a request costs; omitted: by the built-in prices. */
  readonly costOf?: CostOf;
}

const builtInCost: CostOf = (provider, model, usage) => costOf(priceOf({}, provider, model), usage);

/** Pure: rows of the store in, what is shown out. Whatever is counted comes from the rows that pass the filter. */
export function analyse(rows: AnalyticsRows, range: AnalyticsQuery, filter: AnalyticsFilter = {}): AnalyticsReport {
  const answered = new Set(
    rows.usage.filter((row) => filter.model === undefined || modelName(row) === filter.model).map(({ session }) => session),
  );
  const sessions = rows.sessions.filter(
    ({ uuid, cwd, tags }) =>
      (filter.workspace === undefined || cwd === filter.workspace) &&
      (filter.tag === undefined || tags.includes(filter.tag)) &&
      (filter.model === undefined || answered.has(uuid)),
  );
  const wanted = new Set(sessions.map(({ uuid }) => uuid));
  const of = <T extends { readonly session: string }>(list: readonly T[]) => list.filter(({ session }) => wanted.has(session));
  const usage = of(rows.usage).filter((row) => filter.model === undefined || modelName(row) === filter.model);
  const entries = of(rows.entries);
  const created = sessions.filter(({ createdAt }) => createdAt >= range.from && createdAt <= range.to);

  const usageByDay = grouped(usage, ({ at }) => dayOf(at));
  const entriesByDay = grouped(entries, ({ at }) => dayOf(at));
  const createdByDay = grouped(created, ({ createdAt }) => dayOf(createdAt));
  const usageBySession = grouped(usage, ({ session }) => session);
  const entriesBySession = grouped(entries, ({ session }) => session);

  const active = (days: readonly { readonly session: string }[]) => new Set(days.map(({ session }) => session)).size;
  const listed = sessions
    .map(({ uuid, id, title, cwd, tags, createdAt }) => {
      const said = entriesBySession.get(uuid) ?? [];
      return {
        uuid,
        id,
        title,
        cwd,
        tags: [...tags],
        createdAt,
        messages: sum(said, 'messages'),
        contentTokens: sum(said, 'tokens'),
        ...spent(usageBySession.get(uuid) ?? []),
      };
    })
    .sort((a, b) => b.contentTokens - a.contentTokens || b.tokens - a.tokens || (a.id < b.id ? 1 : -1));
  const top = filter.top ?? 10;
  return {
    from: dayOf(range.from),
    to: dayOf(range.to),
    totals: {
      sessionsCreated: created.length,
      sessionsActive: active([...entries, ...usage]),
      messages: sum(entries, 'messages'),
      ...spent(usage),
    },
    days: daysBetween(range.from, range.to).map((day) => {
      const said = entriesByDay.get(day) ?? [];
      const billed = usageByDay.get(day) ?? [];
      return {
        day,
        sessionsCreated: createdByDay.get(day)?.length ?? 0,
        sessionsActive: active([...said, ...billed]),
        messages: sum(said, 'messages'),
        ...spent(billed),
      };
    }),
    sessions: listed.slice(0, top),
    moreSessions: Math.max(0, listed.length - top),
    models: [...grouped(usage, modelName).values()]
      .map((list) => ({
        provider: list[0]!.provider,
        model: list[0]!.model,
        input: sum(list, 'input'),
        cacheWrite: sum(list, 'cacheWrite'),
        ...spent(list),
      }))
      .sort((a, b) => b.tokens - a.tokens),
    compactions: compactions(of(rows.compactions), usage),
    returns: returns(
      of(rows.returns).filter((row) => filter.model === undefined || modelName(row) === filter.model),
      filter.costOf ?? builtInCost,
    ),
    nudges: nudges(of(rows.nudges)),
    choices: {
      workspaces: distinct(rows.sessions.flatMap(({ cwd }) => cwd ?? [])),
      models: distinct(rows.usage.map(modelName)),
      tags: distinct(rows.sessions.flatMap(({ tags }) => tags)),
    },
  };
}

function compactions(all: readonly CompactionRow[], usage: readonly UsageRow[]): AnalyticsReport['compactions'] {
  const folds = all.filter(({ replaces }) => !replaces);
  const standing = folds.filter(({ undone }) => !undone);
  const saved = (list: readonly CompactionRow[]) => sum(list, 'tokensBefore') - sum(list, 'tokensAfter');
  return {
    count: folds.length,
    undone: folds.length - standing.length,
    tokensBefore: sum(standing, 'tokensBefore'),
    tokensAfter: sum(standing, 'tokensAfter'),
    savedTokens: saved(standing),
    durationMs: sum(all, 'durationMs'),
    heldMs: sum(all, 'heldMs'),
    cost: spent(usage.filter(({ kind }) => kind === 'compaction')).cost,
    byRung: [...grouped(standing, ({ rung }) => rung)]
      .map(([rung, list]) => ({ rung, count: list.length, savedTokens: saved(list) }))
      .sort((a, b) => b.count - a.count),
  };
}

function returns(all: readonly ReturnRow[], price: CostOf): AnalyticsReport['returns'] {
  const costs = all.map((row) => returnCost(row, price));
  const folded = costs.filter((_, index) => all[index]!.folded !== null);
  const total = (list: readonly (number | null)[]) => ({
    usd: list.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    requestsWithoutCost: list.filter((one) => one === null).length,
    requestsEstimated: 0,
  });
  return {
    count: all.length,
    again: sum(costs, 'again'),
    cost: total(costs.map(({ cost }) => cost)),
    folded: folded.length,
    saved: sum(folded, 'saved'),
    savedCost: total(folded.map(({ savedCost }) => savedCost)),
  };
}

function nudges(all: readonly NudgeRow[]): AnalyticsReport['nudges'] {
  const counted = (list: readonly NudgeRow[]) => ({ delivered: list.length, acted: list.filter(({ acted }) => acted).length });
  return {
    ...counted(all),
    byPercent: [...grouped(all, ({ percent }) => percent)]
      .sort(([a], [b]) => a - b)
      .map(([percent, list]) => ({ percent, ...counted(list) })),
  };
}

function spent(list: readonly UsageRow[]) {
  const [output, cacheRead] = [sum(list, 'output'), sum(list, 'cacheRead')];
  return {
    requests: sum(list, 'requests'),
    tokens: sum(list, 'input') + cacheRead + sum(list, 'cacheWrite') + output,
    output,
    cacheRead,
    cost: {
      usd: sum(list, 'cost'),
      requestsWithoutCost: sum(list, 'requestsWithoutCost'),
      requestsEstimated: sum(list, 'requestsEstimated'),
    },
  };
}

function modelName({ provider, model }: Pick<UsageRow, 'provider' | 'model'>): string {
  return `${provider}/${model}`;
}

function sum<K extends string>(list: readonly Readonly<Record<K, number>>[], key: K): number {
  return list.reduce((total, row) => total + row[key], 0);
}

function grouped<T, K>(list: readonly T[], keyOf: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of list) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
