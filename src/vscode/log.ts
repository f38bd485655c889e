import type { LogOutputChannel } from 'vscode';
import type { Disposable } from '../core/base/disposable';
import type { Logger } from '../core/ports';
import { redactedHead } from '../core/redaction/redactText';
import { secretKind } from '../core/redaction/secretNames';

type Data = Readonly<Record<string, unknown>>;

export type LogChannel = Pick<LogOutputChannel, 'debug' | 'info' | 'warn' | 'error' | 'show' | 'dispose'>;

/**
 * Writes to the output channel *Threadkeeper*. Its level is VS Code's (*Developer: Set Log Level…*). Once disposed it says nothing:
 * a closed channel throws, and what still ends then must not fail over a line of the log.
 */
export class Log implements Logger, Disposable {
  private readonly secrets = new Set<string>();
  private opened: LogChannel | undefined;
  private disposed = false;

  /** The channel is opened with its first line: opening it took 3 to 6 of the milliseconds that every window pays at its start. */
  constructor(private readonly open: () => LogChannel) {}

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
    this.opened?.dispose();
  }

  private get channel(): LogChannel {
    return (this.opened ??= this.open());
  }

  private line(event: string, data: Data | undefined): string {
    return logLine(event, data, [...this.secrets]);
  }
}

/** Longer values are cut: a stack or a provider's page of HTML says what matters at its beginning. */
const longestValue = 2_000;

/** One line of the log: the event's name, its data as `key=value`, nothing that looks like a secret. Never throws. */
export function logLine(event: string, data: Readonly<Record<string, unknown>> = {}, secrets: readonly string[] = []): string {
  const safe = (text: string) => redactedHead(text, longestValue, secrets) + (text.length > longestValue ? '…' : '');
  const fields = Object.entries(data).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${typeof value === 'string' && secretKind(key) ? '[secret]' : valueText(value, safe)}`],
  );
  return [redactedHead(event, longestValue, secrets), ...fields].join(' ');
}

/** Texts are redacted before they are quoted: behind an escape a key would look like the end of a word. */
function valueText(value: unknown, safe: (text: string) => string): string {
  if (typeof value === 'string') return quoted(safe(value));
  if (value instanceof Error) return quoted(safe(value.message));
  try {
    return safe(JSON.stringify(value) ?? String(value));
  } catch {
    return safe(String(value));
  }
}

function quoted(value: string): string {
  return /^[^\s="]+$/.test(value) ? value : JSON.stringify(value);
}
