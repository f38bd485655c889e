import type { Middleware } from '@anthropic-ai/sdk';

/** Ends a request whose connection has gone silent. Runs from construction until `stop`. */
export class Watchdog {
  private timer: NodeJS.Timeout;
  private silent: number | null = null;

  constructor(
    firstByteMs: number,
    private readonly idleMs: number,
    private readonly onSilence: () => void,
  ) {
    this.timer = this.after(firstByteMs);
  }

  /** How long nothing came before the request was ended for it; null when something else ended it. */
  get silentMs(): number | null {
    return this.silent;
  }

  /** The next byte may take `ms`. */
  allow(ms = this.idleMs): void {
    if (this.silent !== null) return;
    clearTimeout(this.timer);
    this.timer = this.after(ms);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  /**
   * Watches the bytes of the response rather than the events of the SDK's stream: the provider's keep-alive pings are bytes, but
   * the SDK does not pass them on.
   */
  readonly middleware: Middleware = async (request, next) => {
    const response = await next(request);
    this.allow();
    if (!response.body) return response;
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.allow();
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(watched), response);
  };

  private after(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.silent = ms;
      this.onSilence();
    }, ms);
  }
}
