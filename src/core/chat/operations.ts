import { Serial } from '../base/serial';
import type { SharedSession } from './sharedSession';

/**
 * What is done in a conversation, one thing at a time and in the order it was asked for; each waits for the end of the one before,
 * however that ended. `becameIdle` is told after the last one has given back whatever it held: until then `isBusy` says so.
 */
export class Operations {
  private readonly serial = new Serial();
  /** Counts the operations that run or wait. */
  private pending = 0;
  private running: AbortController | null = null;

  constructor(
    private readonly shared: Pick<SharedSession, 'take'>,
    private readonly becameIdle: () => void,
  ) {}

  get isBusy(): boolean {
    return this.pending > 0;
  }

  enqueue<T>(operation: () => Promise<T>): Promise<T> {
    this.pending++;
    return this.serial.run(async () => {
      try {
        return await operation();
      } finally {
        if (--this.pending === 0) this.becameIdle();
      }
    });
  }

  /**
   * Enqueued, and with the session to itself, of all windows. `held`: what becomes of it while another window works in it; undefined waits.
   */
  enqueueExclusive<T>(run: (signal: AbortSignal) => Promise<T>, held: () => Promise<T | undefined>): Promise<T> {
    return this.enqueue(() => this.exclusive(run, held));
  }

  /** The same, inside of an operation that is enqueued already. */
  async exclusive<T>(run: (signal: AbortSignal) => Promise<T>, held: () => Promise<T | undefined>): Promise<T> {
    const abort = new AbortController();
    this.running = abort;
    try {
      const taken = await this.shared.take(held, abort.signal);
      if ('refused' in taken) return taken.refused;
      try {
        return await run(abort.signal);
      } finally {
        await taken.release();
      }
    } finally {
      this.running = null;
    }
  }

  /** Ends the one that runs. */
  abort(): void {
    this.running?.abort();
  }

  /** Resolves when everything asked for so far has ended. */
  idle(): Promise<void> {
    return this.serial.idle();
  }
}
