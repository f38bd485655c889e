import type { LogOutputChannel } from 'vscode';
import { window } from 'vscode';
import type { Disposable } from '../core/base/disposable';
import type { Logger } from '../core/ports';
import { logLine } from './logLine';

type Data = Readonly<Record<string, unknown>>;

/** The output channel *Threadkeeper*. Its level is VS Code's (*Developer: Set Log Level…*). */
export class Log implements Logger, Disposable {
  private readonly channel: LogOutputChannel;
  private readonly secrets = new Set<string>();

  constructor(name: string) {
    this.channel = window.createOutputChannel(name, { log: true });
  }

  /** Keeps a secret out of the log even if it looks like an ordinary word. */
  hide(secret: string): void {
    this.secrets.add(secret);
  }

  debug(event: string, data?: Data): void {
    this.channel.debug(this.line(event, data));
  }

  info(event: string, data?: Data): void {
    this.channel.info(this.line(event, data));
  }

  warn(event: string, data?: Data): void {
    this.channel.warn(this.line(event, data));
  }

  error(event: string, data?: Data): void {
    this.channel.error(this.line(event, data));
  }

  show(): void {
    this.channel.show();
  }

  dispose(): void {
    this.channel.dispose();
  }

  private line(event: string, data: Data | undefined): string {
    return logLine(event, data, [...this.secrets]);
  }
}
