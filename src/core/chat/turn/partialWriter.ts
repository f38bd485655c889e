import type { Clock, SessionStore } from '../../ports';
import type { PartialChunk } from '../../session/partialChunk';

/**
 * Least time between two commits of streaming text. What is shown has to survive a kill, so text is committed *before* it is
 * shown; a quarter of a second, as in other designs, would then be seen as stutter.
 */
const partialIntervalMs = 100;

/**
 * Makes streaming text durable, then shows it. Text that arrives while a commit is under way or less than
 * `partialIntervalMs` after the last one is gathered into the next.
 */
export class PartialWriter {
  private pending = '';
  private lastCommit = -Infinity;
  private running: Promise<void> | null = null;
  private failure: unknown = null;
  private finished = false;
  private written = '';

  constructor(
    private readonly store: Pick<SessionStore, 'writePartial'>,
    private readonly clock: Clock,
    private readonly chunk: Omit<PartialChunk, 'text' | 'offset'>,
    private readonly show: (text: string) => void,
  ) {}

  get entryId(): string {
    return this.chunk.entry;
  }

  /** All text that has been committed and shown. */
  get shown(): string {
    return this.written;
  }

  /** Throws what an earlier commit failed with, so that a full disk ends the turn instead of losing text silently. */
  add(text: string): void {
    if (this.failure) throw this.failure;
    this.pending += text;
    this.running ??= this.run();
  }

  /**
   * The finished entry has been appended with all of the text: what was still waiting needs no commit of its own and is shown.
   * Never rejects.
   */
  async replacedBy(text: string): Promise<void> {
    this.pending = '';
    await this.running;
    const rest = text.startsWith(this.written) ? text.slice(this.written.length) : '';
    if (rest === '') return;
    this.written = text;
    this.show(rest);
  }

  /** Commits and shows what is left. Rejects with what a commit failed with. */
  async finish(): Promise<void> {
    this.finished = true;
    while (this.running) await this.running;
    if (this.pending !== '') await (this.running = this.run());
    if (this.failure) throw this.failure;
  }

  private async run(): Promise<void> {
    try {
      while (this.pending !== '') {
        const wait = this.lastCommit + partialIntervalMs - this.clock.now();
        if (wait > 0 && !this.finished) await this.clock.sleep(Math.min(wait, partialIntervalMs));
        const text = this.pending;
        this.pending = '';
        if (text === '') break;
        await this.store.writePartial({ ...this.chunk, text, offset: this.written.length });
        this.lastCommit = this.clock.now();
        this.written += text;
        this.show(text);
      }
    } catch (error) {
      this.failure = error;
    } finally {
      this.running = null;
    }
  }
}
