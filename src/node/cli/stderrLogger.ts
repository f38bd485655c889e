import type { Logger } from '../../core/ports';
import { redactSecrets } from '../../core/redaction/redactText';

/** Structured log lines on standard error, which leaves standard output to the events. */
export function stderrLogger(secrets: readonly string[]): Logger {
  const write = (level: string) => (event: string, data?: Readonly<Record<string, unknown>>) => {
    process.stderr.write(`${redactSecrets(JSON.stringify({ level, event, ...data }), secrets)}\n`);
  };
  return { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') };
}
