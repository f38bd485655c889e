import { issuedSecrets } from '../../core/transfer/redactText';

/** What a key or token looks like in the words of a provider, a proxy or a failed `fetch`. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [/\bsk-[A-Za-z0-9_-]{8,}/g, 'sk-…'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 …'],
  [/\b((?:x-)?api[-_]?key|authorization|(?:access|auth)[-_]?token)(["']?\s*[:=]\s*["']?)(?!Bearer\b|Basic\b|…)[^\s"',;}]+/gi, '$1$2…'],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+:[^\s/@]+@/gi, '$1…@'],
];

/** Shorter ones would blank ordinary words out of a message. */
const shortestSecret = 6;

/** Text that may be shown and logged: without the given secrets, and without anything that looks like one. */
export function redactSecrets(text: string, secrets: readonly string[] = []): string {
  let safe = text;
  for (const secret of secrets) if (secret.length >= shortestSecret) safe = safe.replaceAll(secret, '…');
  for (const [shape, replacement] of [...shapes, ...issuedSecrets]) safe = safe.replace(shape, replacement);
  return safe;
}
