import type { Clock, Summarizer } from '../../ports';

export interface FailoverRule {
  readonly failureThreshold: number;
  readonly resetMinutes: number;
}

/**
 * Which summariser to ask first. One that failed `failureThreshold` times in a row is asked last, until `resetMinutes` have passed
 * or it succeeds:
 *
 *   trusted ──n failures in a row──▶ last ──success, or reset time──▶ trusted
 */
export class Failover {
  private readonly failures = new Map<string, { count: number; at: number }>();

  constructor(private readonly clock: Clock) {}

  order(chain: readonly Summarizer[], { failureThreshold, resetMinutes }: FailoverRule): readonly Summarizer[] {
    const isLast = (summarizer: Summarizer) => {
      const failed = this.failures.get(nameOf(summarizer));
      return failed !== undefined && failed.count >= failureThreshold && this.clock.now() - failed.at < resetMinutes * 60_000;
    };
    return [...chain.filter((one) => !isLast(one)), ...chain.filter(isLast)];
  }

  failed(summarizer: Summarizer): void {
    const name = nameOf(summarizer);
    this.failures.set(name, { count: (this.failures.get(name)?.count ?? 0) + 1, at: this.clock.now() });
  }

  succeeded(summarizer: Summarizer): void {
    this.failures.delete(nameOf(summarizer));
  }
}

function nameOf({ provider, model, serverSide }: Summarizer): string {
  return `${provider}/${model}${serverSide ? ' (server)' : ''}`;
}
