/** A wait between two rounds of work. A call while a round is still at work is not lost: there is no wait behind that round. */
export class Pause {
  private isCalled = false;
  private end: () => void = () => undefined;

  /** Ends the wait, or the next one before it begins. */
  call(): void {
    this.isCalled = true;
    this.end();
  }

  /** Resolves after so many milliseconds, or as soon as somebody has called since the last wait. */
  async take(ms: number): Promise<void> {
    if (!this.isCalled) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.isCalled = false;
  }
}
