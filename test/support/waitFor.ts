import { patience } from './run/patience';

export interface WaitOptions {
  /** Milliseconds until the wait fails, on a quiet machine; 60 seconds by default. */
  timeout?: number;
  /** Milliseconds between two looks; by default 50 at first, and up to 200 while nothing comes: each costs a window up to 10 ms of work. */
  interval?: number;
}

/**
 * Looks until `probe` returns something other than undefined, null or false, and resolves with it.
 * Rejects at the timeout, naming `what` and the last error a probe threw; a throwing probe counts as "not yet".
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeout = 60_000, interval }: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const began = Date.now();
  let lastError: unknown;
  do {
    try {
      const found = await probe();
      if (found !== undefined && found !== null && found !== false) return found as Exclude<T, undefined | null | false>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    await new Promise((resolve) => setTimeout(resolve, interval ?? Math.min(200, Math.max(50, (Date.now() - began) / 8))));
  } while (Date.now() - began < timeout * patience());
  throw new Error(
    `Waited ${Math.round((Date.now() - began) / 1000)} s in vain for ${what}`,
    lastError === undefined ? {} : { cause: lastError },
  );
}
