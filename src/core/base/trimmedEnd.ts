/** Leaves out the characters at the end that `edge` (one character, no flags) takes. `replace(/x+$/, '')` would do the same, but is quadratic: it begins anew at every x. */
export function trimmedEnd(text: string, edge: RegExp): string {
  let end = text.length;
  while (end > 0 && edge.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}
