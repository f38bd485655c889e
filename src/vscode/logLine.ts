import { redactedHead } from '../core/redaction/redactText';
import { secretKind } from '../core/redaction/secretNames';

/** Longer values are cut: a stack or a provider's page of HTML says what matters at its beginning. */
const longestValue = 2_000;

/** One line of the log: the event's name, its data as `key=value`, nothing that looks like a secret. Never throws. */
export function logLine(event: string, data: Readonly<Record<string, unknown>> = {}, secrets: readonly string[] = []): string {
  const safe = (text: string) => redactedHead(text, longestValue, secrets) + (text.length > longestValue ? '…' : '');
  const fields = Object.entries(data).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${typeof value === 'string' && secretKind(key) ? '[secret]' : valueText(value, safe)}`]));
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
