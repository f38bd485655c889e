/**
 * What a name says of its value: `password` is one that people choose, of any words; `token` is made by a machine; `header` is the rest
 * of a line.
 */
export type SecretKind = 'password' | 'token' | 'header';

/** Quick, for the many names that say nothing. */
const hint = /pass|pwd|pw$|secret|token|key|cred|auth|cookie|phrase|mnemonic|jwt|sig|kennwort/i;
/** What may stand behind the word that decides: `password_1`, `secretValue`, `API_KEY_PROD`. */
const qualifiers: ReadonlySet<string> = new Set([
  'value',
  'text',
  'plain',
  'plaintext',
  'raw',
  'b64',
  'base64',
  'hash',
  'prod',
  'production',
  'dev',
  'staging',
  'live',
  'new',
  'old',
  'current',
  'base',
  'string',
]);
/** A key with one of these words opens something; a cache key or a primary key does not. */
const opening: ReadonlySet<string> = new Set([
  'api',
  'access',
  'private',
  'secret',
  'signing',
  'sign',
  'encryption',
  'encrypt',
  'master',
  'account',
  'shared',
  'auth',
  'client',
  'service',
  'admin',
  'webhook',
  'license',
  'ssh',
  'deploy',
  'hmac',
  'jwt',
  'aes',
  'rsa',
  'app',
  'subscription',
  'root',
  'recovery',
  'activation',
  'security',
  'wallet',
  'gpg',
  'pgp',
  'tls',
  'ssl',
  'instrumentation',
  'openai',
  'anthropic',
  'openrouter',
  'gemini',
  'mistral',
  'cohere',
  'groq',
  'deepseek',
  'speech',
  'anon',
]);
const headers: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/** `DB_PASSWORD`, `x-api-key`, `clientSecret`, `api key`: by the last words of a name. Null: it says nothing of the kind. */
export function secretKind(name: string): SecretKind | null {
  if (!hint.test(name)) return null;
  if (name === '_auth') return 'token';
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  while (words.length > 1 && (qualifiers.has(words.at(-1)!) || /^\d+$/.test(words.at(-1)!))) words.pop();
  const last = (words.at(-1) ?? '').replace(/(?<=[a-z])\d{1,3}$/, '');
  const before = words.at(-2) ?? '';
  if (headers.has(last)) return 'header';
  if (/(?:password|passwd|passphrase|passcode|passwort|kennwort|pwd|mnemonic)$/.test(last) || /(?:^|[_-])pw$/i.test(name))
    return 'password';
  if (last === 'pass') return words.length > 1 ? 'password' : null;
  if (last === 'phrase' && ['pass', 'seed', 'recovery', 'secret', 'sync'].includes(before)) return 'password';
  if (/(?:secret|token|jwt|credential|credentials)$/.test(last)) return 'token';
  if (/(?:api|access|secret|private|account|signing|encryption|auth|master)key$/.test(last)) return 'token';
  // A storage key or a role key by itself is the name of something.
  if (last === 'key' && (opening.has(before) || words.includes('azure') || (before === 'role' && words.at(-3) === 'service')))
    return 'token';
  if (last === 'signature' && ['access', 'sas'].includes(before)) return 'token';
  return null;
}
