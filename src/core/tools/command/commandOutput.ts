import type { Clock, Disposable } from '../../ports';

/** Characters that are kept of the beginning and of the end of an output. */
const keptEach = 2_000_000;
/** What is shown while a command runs: at most so much at once, so often. */
const shownAtOnce = 20_000;
const everyMs = 100;

/** What a command prints: all of it up to a size, and in calm steps for whoever watches. */
export class CommandOutput implements Disposable {
  private head = '';
  private tail = '';
  private length = 0;
  private waiting = '';
  private timer: Disposable | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly show: (text: string) => void,
  ) {}

  add(text: string): void {
    this.length += text.length;
    const room = keptEach - this.head.length;
    this.head += text.slice(0, Math.max(0, room));
    this.tail += text.slice(Math.max(0, room));
    // Cut now and then, not at every piece: that would copy it all each time.
    if (this.tail.length > 2 * keptEach) this.tail = this.tail.slice(-keptEach);
    this.waiting = (this.waiting + text).slice(-shownAtOnce);
    this.timer ??= this.clock.after(everyMs, () => this.flush());
  }

  get text(): string {
    const tail = this.tail.slice(-keptEach);
    const lost = this.length - this.head.length - tail.length;
    return lost > 0 ? `${this.head}\n\n[… ${lost} characters of output were not kept …]\n\n${tail}` : this.head + tail;
  }

  dispose(): void {
    this.flush();
  }

  private flush(): void {
    this.timer?.dispose();
    this.timer = undefined;
    if (this.waiting !== '') this.show(this.waiting);
    this.waiting = '';
  }
}
