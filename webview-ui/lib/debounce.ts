/** Calls back once no further call has come for a while; the last arguments win. */
export class Debounce<T> {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waiting: { readonly value: () => T } | undefined;

  constructor(
    private readonly ms: number,
    private readonly callback: (value: T) => void,
  ) {}

  /** `value` is read when the time comes, so that a long text is not copied at every key. */
  call(value: () => T): void {
    this.waiting = { value };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), this.ms);
  }

  flush(): void {
    const waiting = this.waiting;
    this.cancel();
    if (waiting) this.callback(waiting.value());
  }

  cancel(): void {
    clearTimeout(this.timer);
    this.waiting = undefined;
  }
}
