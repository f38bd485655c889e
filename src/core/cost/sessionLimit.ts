import { english } from '../l10n';

export interface SessionLimitOptions {
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
