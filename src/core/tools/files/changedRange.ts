/**
 * How many characters two texts share at their beginning (`start`) and at their end (`end`), in whole lines: what lies between is the
 * smallest run of lines in which they differ.
 */
export function changedRange(a: string, b: string): { readonly start: number; readonly end: number } {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a[same] === b[same]) same++;
  const start = a.slice(0, same).lastIndexOf('\n') + 1;
  let back = 0;
  while (back < most - start && a[a.length - 1 - back] === b[b.length - 1 - back]) back++;
  const startsLine = (text: string) => back === text.length || text[text.length - 1 - back] === '\n';
  if (startsLine(a) && startsLine(b)) return { start, end: back };
  const line = a.slice(a.length - back).indexOf('\n');
  return { start, end: line < 0 ? 0 : back - line - 1 };
}
