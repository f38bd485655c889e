import { issuedSecrets } from '../../redaction/issuedSecrets';
import { globMatcher } from '../guard/glob';

/** Names of environment variables, `*` for any part of one, in upper or lower case. */
export interface VariableChoice {
  /** Reach a command although they look like secrets. */
  readonly pass: readonly string[];
  /** Reach none, beside those that look like secrets. */
  readonly withhold: readonly string[];
}

export interface CommandEnvironment {
  readonly passed: Readonly<Record<string, string>>;
  /** Names of those that look like secrets, in the order of the alphabet. */
  readonly withheld: readonly string[];
}

/** The program's own keys, and what VS Code's extension host has set for itself. No choice lets them through. */
const ownNames = ['ANTHROPIC_*', 'OPENAI_*', 'VSCODE_*', 'ELECTRON_*', 'THREADKEEPER_*'];

/** `SSH_AUTH_SOCK` is no secret itself, but whoever has it can log in wherever the user can, without a passphrase. */
const secretNames = [
  ...[
    '*TOKEN',
    '*_SECRET',
    '*_SECRET_*',
    '*SECRET',
    'SECRET_*',
    '*PASSWORD*',
    '*PASSWD*',
    '*PASSPHRASE*',
    '*_PASS',
    '*_PWD',
    '*_KEY',
    '*API_KEY*',
    '*APIKEY*',
    '*ACCESS_KEY*',
    '*PRIVATE_KEY*',
  ],
  ...[
    '*_AUTH',
    '*AUTHKEY',
    '*CREDENTIAL*',
    '*_COOKIE',
    '*CONNECTION_STRING*',
    '*WEBHOOK*',
    '*_PAT',
    '*_SAS',
    '*_JWT',
    'BW_SESSION',
    'OP_SESSION*',
    'COOKIE',
    'COOKIES',
    '*_DSN',
    'SSH_AUTH_SOCK',
    'GPG_AGENT_INFO',
  ],
];

/**
 * An address with a password, a private key, a connection string and a header; what services issue is known by its shape (`issuedSecrets`).
 */
const secretValues = [
  /:\/\/[^\s:/@]*:[^\s@]+@/,
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  /(?:^|[;?&\s])(?:password|pwd|accountkey|sharedaccesskey)=[^;&\s]/i,
  /authorization:/i,
  /(?:^|[^\w-])(?:gh[oprsu]_|github_pat_|glpat-|sk-|xox[abprs]-|AKIA|npm_|pypi-|hf_|AIza|eyJ)[\w-]{16}/,
];

/** What a command that a model runs gets of the variables of its parent. Windows' names differ in case only. */
export function commandEnvironment(
  all: Readonly<Record<string, string | undefined>>,
  { pass, withhold }: VariableChoice,
): CommandEnvironment {
  const own = anyOf(ownNames);
  const passes = anyOf(pass);
  const isNamed = anyOf([...secretNames, ...withhold]);
  const passed: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(all)) {
    if (value === undefined || own(name)) continue;
    if (!passes(name) && (isNamed(name) || holdsSecret(value))) withheld.push(name);
    else passed[name] = value;
  }
  return { passed, withheld: withheld.sort() };
}

function holdsSecret(value: string): boolean {
  return (
    secretValues.some((pattern) => pattern.test(value)) ||
    issuedSecrets.some(({ pattern, accept }) => (value.match(pattern) ?? []).some((found) => accept?.(found) ?? true))
  );
}

/** Returns the `names` that stand in a text as a word. */
export function variablesIn(text: string, names: readonly string[]): readonly string[] {
  const words = new Set(text.toUpperCase().split(/\W+/));
  return names.filter((name) => words.has(name.toUpperCase()));
}

function anyOf(patterns: readonly string[]): (name: string) => boolean {
  const matchers = patterns.filter((pattern) => pattern.trim() !== '').map((pattern) => globMatcher(pattern.trim(), { ignoreCase: true }));
  return (name) => matchers.some((matches) => matches(name));
}
