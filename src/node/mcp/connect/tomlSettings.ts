import { SettingsUnreadable } from './jsonSettings';

const begin = '# >>> threadkeeper: written by Connect an Agent, taken out by Disconnect an Agent';
const end = '# <<< threadkeeper';

/** A block at the end of a file of TOML; null stands for no file. Throws `SettingsUnreadable` where the tables would collide. */
export function withTomlBlock(text: string | null, table: string, lines: readonly string[]): string {
  const removed = text === null ? null : withoutTomlBlock(text);
  const clean = (removed === undefined ? text : removed) ?? '';
  const [group = ''] = table.split('.');
  const collides = clean.split('\n').some((line) => {
    const bare = line.replace(/\s/g, '');
    return bare.startsWith(`[${table}`) || bare.startsWith(`${group}=`) || bare.startsWith(`${group}.`);
  });
  if (collides) throw new SettingsUnreadable(`it has "${table}" already, or "${group}" in another form`);
  const block = [begin, `[${table}]`, ...lines, end].join('\n');
  // What ends without a line break goes on ending so.
  return clean === '' || clean.endsWith('\n') ? `${clean}${block}\n` : `${clean}\n${block}`;
}

/** The text without the block, null when nothing but it was in the file; undefined when it is not there. */
export function withoutTomlBlock(text: string): string | null | undefined {
  const from = text.startsWith(begin) ? 0 : text.indexOf(`\n${begin}`) + 1;
  if (from === 0 && !text.startsWith(begin)) return undefined;
  const close = text.indexOf(`\n${end}`, from);
  if (close === -1) return undefined;
  const to = close + 1 + end.length;
  const others = ofOthers(text.slice(from, close + 1));
  const lineEnd = /\r?\n/y;
  lineEnd.lastIndex = to;
  // What ends without a line break goes on ending so.
  const left = lineEnd.test(text)
    ? text.slice(0, from) + others + text.slice(lineEnd.lastIndex)
    : (text.slice(0, from) + others).replace(/\r?\n$/, '') + text.slice(to);
  return left === '' ? null : left;
}

/** Tables that their program has put in front of the end mark, which it takes for a remark at the end of the file. */
function ofOthers(block: string): string {
  const lines = block.split('\n');
  const own = /^\s*\[([^\]]+)\]/.exec(lines.find((line) => /^\s*\[/.test(line)) ?? '')?.[1];
  let at = lines.findIndex((line) => {
    const name = /^\s*\[{1,2}([^\]]+)\]/.exec(line)?.[1];
    return name !== undefined && name !== own && !name.startsWith(`${own}.`);
  });
  if (own === undefined || at === -1) return '';
  while (at > 1 && /^\s*(?:#|$)/.test(lines[at - 1]!)) at--;
  return lines.slice(at).join('\n');
}

/** A basic string of TOML: JSON's escapes are among its own. */
export function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007F');
}
