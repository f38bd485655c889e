export interface Shape {
  readonly pattern: RegExp;
  /** It names the pattern's groups, as `replace` has them. */
  readonly replacement: string;
  /** Whether what the pattern has found is meant. */
  readonly accept?: (found: string) => boolean;
}

/** A number or a mixture of capitals: names of things (`sk-toggleable-control`) have neither. */
function looksMade(found: string): boolean {
  return /\d/.test(found) || (found.length >= 24 && /[A-Z]/.test(found) && /[a-z]/.test(found));
}

/**
 * A key begins where no other character of a key stands before it, or behind an escape (`\n`, `%3D`). That is also what keeps every
 * pattern linear: of a run of such characters only the first is a beginning, so that the run is read once.
 */
const begin = String.raw`(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))`;

function token(prefixes: string, rest: string, accept?: Shape['accept']): Shape {
  // What stands before is looked at where the prefix was found: several times as fast as at every place.
  return {
    pattern: new RegExp(`(?:${prefixes})(?<=${begin}(?:${prefixes}))${rest}`, 'g'),
    replacement: '[token]',
    ...(accept ? { accept } : {}),
  };
}

const word = '[A-Za-z0-9_-]';

/**
 * Keys and tokens by the shape that their issuers give them, and private keys. No maintained set of rules does for this: secretlint's
 * (342 KB, asynchronous) knows 5 of 18 kinds tried, those of gitleaks and trufflehog are programs in Go.
 * Every pattern takes linear time on any text; `redactTime.test.ts` feeds each of them what it begins with, again and again.
 */
export const issuedSecrets: readonly Shape[] = [
  // It goes to the key's end, or to the first character that no key has: a key may be cut off.
  {
    pattern:
      /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}[A-Za-z0-9+/=\s\\:,.()@-]*?(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|(?![A-Za-z0-9+/=\s\\:,.()@-]))/g,
    replacement: '[private key]',
  },
  // A later page of one: full lines of base64. The first of them may be cut.
  {
    pattern:
      /(?:(?<![A-Za-z0-9+/=])|(?<=\\[nr]))(?:[A-Za-z0-9+/]{64}(?:\r?\n|\\n|\\r\\n)){2,}[A-Za-z0-9+/]{0,64}={0,2}(?:\s{1,2}=[A-Za-z0-9+/]{4})?(?:(?:\s{1,2}|\\n)-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
    replacement: '[private key]',
    accept: isBase64,
  },
  {
    pattern:
      /(?:(?<![A-Za-z0-9+/=])|(?<=\\[nr]))[A-Za-z0-9+/]{1,76}={0,2}(?:\s{1,2}=[A-Za-z0-9+/]{4})?(?:\s{1,2}|\\n)-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g,
    replacement: '[private key]',
  },
  { pattern: /(Private-Lines: \d{1,4}(?:\s|\\[nr]){1,4})(?:[A-Za-z0-9+/=\s]|\\[nr])+/g, replacement: '$1[private key]' },
  token('AGE-SECRET-KEY-1', '[A-Z0-9]{20,}'),
  // A recovery phrase, as that of the sync: 24 words on their own. A sentence of so many words has a shorter or a longer one among them.
  { pattern: /(?:(?<![a-z\\])(?<![a-z] )|(?<=\\[nrt]))(?:[a-z]{3,8} ){23}[a-z]{3,8}(?![a-z]| [a-z])/g, replacement: '[recovery phrase]' },
  // JSON Web Tokens, whole or cut.
  token('eyJ', String.raw`[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_.-]*)?`),
  token('(?:sk|pk|rk)[-_]', `${word}{8,}`, looksMade),
  token('gh[pousr]_', '[A-Za-z0-9]{20,}'),
  token('github_pat_', '[A-Za-z0-9_]{20,}'),
  token('gl(?:pat|ptt|dt|rt|rtr|cbt|soat|imt|agent|ft|ffct)-', '[A-Za-z0-9_.-]{16,}'),
  token('npm_', '[A-Za-z0-9]{30,}'),
  token('pypi-', `${word}{16,}`, looksMade),
  token('rubygems_', '[a-f0-9]{20,}'),
  token('dckr_(?:pat|oat)_', `${word}{16,}`),
  token('xox[abeoprsc](?:\\.xox[bp])?-|xapp-', '[A-Za-z0-9-]{10,}', looksMade),
  token('hf_', '[A-Za-z0-9]{20,}'),
  token('(?:AKIA|ASIA|ABIA|ACCA)', '[A-Z0-9]{16}(?![A-Za-z0-9])'),
  token('AIza', `${word}{30,}`),
  token('GOCSPX-', `${word}{16,}`),
  token(String.raw`ya29\.`, '[A-Za-z0-9_.-]{16,}'),
  token('1//0', `${word}{20,}`),
  token(String.raw`SG\.`, String.raw`[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
  token(String.raw`hv[bsr]\.`, '[A-Za-z0-9_-]{20,}'),
  token(String.raw`[A-Za-z0-9]{14}\.atlasv1\.`, `${word}{20,}`),
  token('gsk_', '[A-Za-z0-9]{20,}'),
  token('xai-|tvly-|pplx-|nvapi-|fc-|pul-|key-', `${word}{20,}`, looksMade),
  token('do[opr]_v1_', '[a-f0-9]{20,}'),
  token('whsec_', '[A-Za-z0-9+/=_-]{16,}'),
  token(
    '(?:shp(?:at|ss|ca|pa)|r8|lin_(?:api|oauth)|ntn|figd|sbp|sb_secret|nfp|nfc|bkua|CCIPAT|lsv2_(?:pt|sk)|phx|rnd|glsa|sntry[su]|pscale_(?:tkn|pw|oauth)|dapi|tfp|ops|vcp|vck|oat|fo1|cfut|PRIVATE)_',
    `${word}{20,}`,
    looksMade,
  ),
  token('dapi', '[a-f0-9]{32}'),
  token(String.raw`FlyV1 `, '[A-Za-z0-9_,+/=-]{20,}'),
  token('secret_', '[A-Za-z0-9]{40,}', looksMade),
  token('xkeysib-', '[a-f0-9]{20,}'),
  token('sq0(?:atp|csp|idp)-', `${word}{20,}`),
  token('NRAK-|PMAK-|CFPAT-', `${word}{20,}`),
  token(String.raw`dp\.(?:pt|st|ct|sa|scim|audit)\.`, '[A-Za-z0-9._-]{20,}'),
  token('AT[AC]TT3', '[A-Za-z0-9_=-]{20,}'),
  token('EAA', '[A-Za-z0-9]{60,}'),
  // Mailchimp.
  token('[a-f0-9]{32}-us', '[0-9]{1,2}'),
  // Bots of Telegram and Discord.
  { pattern: /(?:(?<![A-Za-z0-9])|(?<=bot))\d{8,10}:[A-Za-z0-9_-]{32,}/g, replacement: '[token]' },
  { pattern: /(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/g, replacement: '[token]' },
  // Whoever knows the address of a webhook can write there.
  { pattern: /(hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/)[A-Za-z0-9/_-]{8,}/g, replacement: '$1[token]' },
  { pattern: /(discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{5,25}\/)[A-Za-z0-9_-]{16,}/g, replacement: '$1[token]' },
  {
    pattern:
      /((?:webhook\.office\.com\/webhookb2|hooks\.zapier\.com\/hooks\/catch|hook\.[a-z0-9]{2,5}\.make\.com|chat\.googleapis\.com\/v1\/spaces)\/)[A-Za-z0-9/@._-]{8,}/g,
    replacement: '$1[token]',
  },
  // Signatures and keys in addresses.
  {
    pattern:
      /([?&;](?:amp;)?(?:sig|signature|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|x-goog-credential|key|code|auth|jwt|sid)=)[^\s"'`<>&;\\]{12,}/gi,
    replacement: '$1[token]',
    accept: looksMade,
  },
  { pattern: /\b(Bearer(?: |%20|\+)\s{0,4})[A-Za-z0-9._~+/=-]{8,}/gi, replacement: '$1[token]', accept: isBearer },
  { pattern: /\b(Basic(?: |%20|\+)\s{0,4})[A-Za-z0-9+/]{8,}={0,2}(?![A-Za-z0-9+/=._-])/gi, replacement: '$1[token]', accept: isCredential },
];

/** A key has letters of both cases and digits; lines of hexadecimal hashes have not. */
function isBase64(found: string): boolean {
  return /[g-z]/.test(found) && /[G-Z]/.test(found) && /\d/.test(found);
}

function isBearer(found: string): boolean {
  return !/^Bearer\W+(?:auth\w*|tokens?|credentials?|security|headers?|schemes?|certificates?)[.:=]*$/i.test(found);
}

/** "Basic authentication" is none. */
function isCredential(found: string): boolean {
  const value = found.slice(found.search(/(?: |%20|\+)/) + 1).trim();
  return /[\d+/=._~]/.test(value.slice(0, -1)) || value.length >= 20 || /[a-z][A-Z].*[a-z][A-Z]/.test(value.slice(0, 200));
}
