import { applyPatch } from 'diff';

/** Code of an answer, and the file that it is said to belong to. */
export interface NamedCode {
  /** Null where none is named. */
  readonly path: string | null;
  /** The code without the line that only names the file. */
  readonly text: string;
}

const pathLike = /^(?:\.\/)?[\w@+.~-]+(?:[\\/][\w@+.~-]+)*$/;

/** The file that a fence names (`ts src/a.ts`, `ts:src/a.ts`, `ts title="src/a.ts"`), or the first line of its code (`// src/a.ts`). */
export function namedCode(info: string, text: string): NamedCode {
  const patched = /^\+\+\+ (?:b\/)?([^\t\n]+)/m.exec(text)?.[1]?.trim();
  if (patched !== undefined && isDiff(info)) return { path: patched, text };
  const words = info.trim().split(/\s+/);
  const first = words[0] ?? '';
  const assigned = /(?:^|[\s{])(?:title|file|filename|path)=["']?([^"'\s}]+)/i.exec(info)?.[1];
  const named = [assigned, /^[\w+#-]+:(.+)$/.exec(first)?.[1], ...words.slice(1), first].find(isPath);
  const line = /^[^\n]*/.exec(text)![0].trim();
  const comment = /^(?:\/\/|#|--|;|%|\/\*|<!--)\s*(?:file(?:name)?:\s*)?(\S+)\s*(?:\*\/|-->)?$/i.exec(line)?.[1];
  const path = named ?? (isPath(comment) ? comment : undefined);
  const isOnlyName = comment !== undefined && comment === path;
  return { path: path ?? null, text: isOnlyName ? text.slice(text.indexOf('\n') + 1 || text.length) : text };
}

export function isDiff(info: string): boolean {
  return /^(?:diff|patch|udiff)\b/i.test(info.trim());
}

/**
 * What a file becomes: a diff is applied; what is selected is replaced; code whose first and last line stand in the file, once each, takes
 * the place of what is between them; else it is the whole file where it names one, and put in at the cursor where it does not. Null:
 * the diff does not fit.
 */
export function withCode(
  before: string,
  code: string,
  how: { readonly isDiff: boolean; readonly isNamed: boolean; readonly from: number; readonly to: number },
): string | null {
  const eol = before.includes('\r\n') ? '\r\n' : '\n';
  const text = code.replace(/\r?\n/g, eol);
  if (how.isDiff) {
    const after = applyPatch(before.replace(/\r\n/g, '\n'), code.replace(/\r\n/g, '\n'), { fuzzFactor: 1 });
    return after === false ? null : after.replace(/\n/g, eol);
  }
  if (how.to > how.from) return before.slice(0, how.from) + text + before.slice(how.to);
  const place = placeOf(before, text);
  if (place) return before.slice(0, place.start) + text.trimEnd() + before.slice(place.end);
  if (how.isNamed) return text.endsWith('\n') || text === '' ? text : text + eol;
  return before.slice(0, how.from) + text + before.slice(how.to);
}

/** From the line that is the code's first to the one that is its last. */
function placeOf(before: string, code: string): { readonly start: number; readonly end: number } | null {
  const wanted = code.split(/\r?\n/).filter((line) => line.trim() !== '');
  const [first, last] = [wanted[0], wanted.at(-1)];
  if (first === undefined || last === undefined || wanted.length < 2) return null;
  let [start, end, at, starts] = [-1, -1, 0, 0];
  for (const line of before.split('\n')) {
    const plain = line.replace(/\r$/, '');
    if (plain === first) [start, end, starts] = [at, -1, starts + 1];
    else if (plain === last && start >= 0 && end < 0) end = at + plain.length;
    at += line.length + 1;
  }
  return starts === 1 && end > start ? { start, end } : null;
}

/** What a shell is to be given: in a transcript (`console`) only what stands behind a prompt. */
export function commandLines(text: string, language: string): string {
  const lines = text.trim().split(/\r?\n/);
  const prompted = lines.filter((line) => /^[$%❯] /.test(line));
  if (prompted.length > 0 && (prompted.length === lines.length || /^(?:console|shellsession|shell-session|terminal)$/.test(language)))
    return prompted.map((line) => line.slice(2)).join('\n');
  return lines.join('\n');
}

function isPath(text: string | undefined): text is string {
  return text !== undefined && text.length < 300 && /\.\w+$|\//.test(text) && pathLike.test(text) && !/^\.+$/.test(text);
}
