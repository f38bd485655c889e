type Rule = readonly [RegExp, string];

/** Private keys (PEM), JSON Web Tokens, and keys and tokens by the shape that their issuers give them. */
export const issuedSecrets: readonly Rule[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[private key]'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, '[token]'],
  [/\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/g, '[key]'],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,})/g, '[token]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}/g, '[key]'],
];

/**
 * What an export with redaction takes out of every text. It errs on the side of taking out too much; it cannot know what else is
 * private, so the help says that a reader has to look for himself.
 *
 * 1. What issuers make.
 * 2. What stands behind `password`, `secret`, `token`, `api key` and the like with `=` or `:`, or behind `Bearer` and `Basic`.
 * 3. Names and passwords in addresses (`https://name:password@host`).
 * 4. The user's name in home folders, however they are written: `/home/name`, `/Users/name`, `C:\Users\name`.
 */
const rules: readonly Rule[] = [
  ...issuedSecrets,
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [token]'],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+:[^\s/@]+@/gi, '$1[login]@'],
  [/((?:pass(?:word|wd|phrase)?|secret|token|credentials?|(?:api|access|private|signing|encryption)[-_ ]?key|authorization)["'\\]*\s*[:=]\s*["'\\]*)(?!Bearer\b|Basic\b|\[)[^\s"',;}\\]{6,}/gi, '$1[secret]'],
  [/([A-Za-z]:\\{1,2}Users\\{1,2})[^\\\s"'<>|:*?]+/gi, '$1user'],
  [/((?:^|[^A-Za-z0-9_.-])\/(?:home|Users)\/)[^/\s"'\\<>|:*?)\]}]+/g, '$1user'],
];

export function redactText(text: string): string {
  let safe = text;
  for (const [shape, replacement] of rules) safe = safe.replace(shape, replacement);
  return safe;
}

/** Every text within a JSON value. Names of properties stay. */
export function redactValue<T>(value: T): T {
  if (typeof value === 'string') return redactText(value) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => redactValue(one)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isSecretName(name) && typeof one === 'string' ? '[secret]' : redactValue(one as unknown)])) as T;
}

/** `{"api_key": "…"}`: the name says what the value is, whatever it looks like. */
function isSecretName(name: string): boolean {
  return /^(?:pass(?:word|wd|phrase)?|secret|(?:api|access|private)[-_]?key|(?:auth|access|refresh|bearer)[-_]?token|token|authorization|client[-_]?secret)$/i.test(name);
}
