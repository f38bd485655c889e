import type { LogOutputChannel } from 'vscode';
import type { Disposable } from '../core/base/disposable';
import type { Logger } from '../core/ports';
import { logLine } from './logLine';

type Data = Readonly<Record<string, unknown>>;

export type LogChannel = Pick<LogOutputChannel, 'debug' | 'info' | 'warn' | 'error' | 'show' | 'dispose'>;

/**
 * Writes to the output channel *Threadkeeper*. Its level is VS Code's (*Developer: Set Log Level…*). Once disposed it says nothing:
 * a closed channel throws, and what still ends then must not fail over a line of the log.
 */
export class Log implements Logger, Disposable {
  private readonly secrets = new Set<string>();
  private disposed = false;

  constructor(private readonly channel: LogChannel) {}

  /** Keeps a secret out of the log even if it looks like an ordinary word. */
  hide(secret: string): void {
    this.secrets.add(secret);
  }

  debug(event: string, data?: Data): void {
    if (!this.disposed) this.channel.debug(this.line(event, data));
  }

  info(event: string, data?: Data): void {
    if (!this.disposed) this.channel.info(this.line(event, data));
  }

  warn(event: string, data?: Data): void {
    if (!this.disposed) this.channel.warn(this.line(event, data));
  }

  error(event: string, data?: Data): void {
    if (!this.disposed) this.channel.error(this.line(event, data));
  }

  show(): void {
    if (!this.disposed) this.channel.show();
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.channel.dispose();
  }

  private line(event: string, data: Data | undefined): string {
    return logLine(event, data, [...this.secrets]);
  }
}
