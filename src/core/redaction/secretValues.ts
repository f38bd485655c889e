import { trimmedEnd } from '../base/text';

const typeNames: ReadonlySet<string> = new Set([
  'string',
  'number',
  'boolean',
  'null',
  'undefined',
  'true',
  'false',
  'none',
  'nil',
  'any',
  'unknown',
  'void',
  'never',
  'object',
  'str',
  'int',
  'bytes',
  'bool',
  'text',
  'varchar',
  'readonly',
  'required',
  'optional',
  'await',
  'new',
  'async',
  'function',
  'return',
  'typeof',
  'not',
  'yes',
  'no',
  'char',
  'uuid',
  'symbol',
  'bigint',
  'const',
  'let',
  'var',
  'the',
  'a',
  'an',
  'if',
  'in',
  'is',
  'for',
  'of',
  'to',
  'and',
  'or',
]);

/** What stands for a value and is none: a variable, a mark that one was taken out, an example to be filled in. */
export function isPlaceholder(value: string): boolean {
  return /^(?:\$(?!(?:2[abxy]?|argon2(?:id|i|d)?|[156y]|scrypt)\$)[A-Za-z_{(]|%[A-Za-z_]\w*%?$|\{\{|\{|<|\[|…|\*{3,}|\.{3}|x{3,}$|•|#\{|@[A-Za-z]|-----)/.test(
    value.trimStart(),
  );
}

/** What a program has there instead of a secret: a type, a call, a property. `next`: what follows it. */
export function looksLikeCode(value: string, next: string): boolean {
  const bare = trimmedEnd(value, /[,;:!?)\]}]/);
  if (bare === '' || typeNames.has(bare.toLowerCase())) return true;
  if (
    /^[\w$.?!]{1,100}\(/.test(value) ||
    value.startsWith('(') ||
    next.startsWith('<') ||
    next.startsWith('(') ||
    (next.startsWith('`') && /^\w*$/.test(value))
  )
    return true;
  if (/^[A-Za-z_$][\w$]{0,60}(?:\?\.|\[)[\w$'"]/.test(value)) return true;
  return /^(?:process|os|self|this|config|cfg|conf|options|opts|settings|secrets|vars|env|props|req|request|res|response|ctx|context|args|params|input|state|user|data|import|System|Environment|credentials|auth|body|headers|session|client|event|local|var|module|github|steps|inputs|z|t|Schema|Type|types)\.[A-Za-z_$]/.test(
    value,
  );
}

/** Machines make them long and of more than small letters. */
export function tokenValue(value: string): boolean {
  if (/\s/.test(value.trim())) return false;
  if (value.length < 6) return false;
  // A path, or a word that could be of the text.
  if (/^[.~]?\//.test(value) || /^[A-Za-z]+(?:[-._][A-Za-z]+){0,4}$/.test(value)) return value.length >= 24 && !/[-._]/.test(value);
  return /\d/.test(value) || /[^A-Za-z0-9._-]/.test(value);
}
