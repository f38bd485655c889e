import type { Logger } from '../../core/ports';
import { redactSecrets } from '../../core/redaction/redactText';

/** History may hold control sequences of a terminal; line ends and tabs stay. */
export function plainText(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, ' ');
}

/** The text is for a terminal, whose control sequences history may hold. */
export function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ').trim();
}

/** Structured log lines on standard error, which leaves standard output to the events. */
export function stderrLogger(secrets: readonly string[]): Logger {
  const write = (level: string) => (event: string, data?: Readonly<Record<string, unknown>>) => {
    process.stderr.write(`${redactSecrets(JSON.stringify({ level, event, ...data }), secrets)}\n`);
  };
  return { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') };
}

/** What goes as it should is not said: a command that takes longer would say more than the same one that does not. */
export function stderrWarnings(): Logger {
  return { ...stderrLogger([]), info: () => undefined };
}
