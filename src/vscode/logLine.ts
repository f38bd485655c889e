import { redactSecrets } from '../node/models/redact';

/** Longer values are cut: a stack or a provider's page of HTML says what matters at its beginning. */
const longestValue = 2_000;

/** One line of the log: the event's name, its data as `key=value`, nothing that looks like a secret. Never throws. */
export function logLine(event: string, data: Readonly<Record<string, unknown>> = {}, secrets: readonly string[] = []): string {
  const fields = Object.entries(data).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${valueText(value)}`]));
  return redactSecrets([event, ...fields].join(' '), secrets);
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? quoted(value) : jsonText(value);
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`;
}

function quoted(value: string): string {
  return /^[^\s="]+$/.test(value) ? value : JSON.stringify(value);
}

function jsonText(value: unknown): string {
  if (value instanceof Error) return quoted(value.message);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
