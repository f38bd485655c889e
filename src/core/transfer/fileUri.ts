/** The path of a `file:` address, as the system of the address has it; any other text as it is. */
export function pathOfUri(text: string): string {
  const match = /^file:\/\/([^/]*)(\/.*)$/.exec(text);
  if (!match) return text;
  const path = decoded(match[2]!);
  if (/^\/[A-Za-z]:/.test(path)) return path.slice(1).replaceAll('/', '\\');
  return match[1] === '' || match[1] === 'localhost' ? path : `\\\\${match[1]}${path.replaceAll('/', '\\')}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
