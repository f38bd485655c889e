/**
 * Completes what a half-written paragraph leaves open, so that it does not flicker between asterisks and bold as it grows:
 * code spans, emphasis, strike-through and links. Only the last line break onwards can be open; the text itself is untouched
 * once it is complete.
 */
export function closeInline(raw: string): string {
  const text = raw.trimEnd();
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1);
  const ticks = openCodeSpan(paragraph);
  if (ticks !== null) return text.endsWith('`') ? text.slice(0, -ticks.length) : text + ticks;
  const withoutLink = text.replace(/!?\[([^[\]]*)(?:\](?:\([^()\s]*)?)?$/, (whole, label: string) => (whole.endsWith(']') ? whole : label));
  return withoutLink + openMarks(withoutLink.slice(withoutLink.lastIndexOf('\n\n') + 1));
}

function openCodeSpan(text: string): string | null {
  let open: string | null = null;
  for (const [run] of text.matchAll(/`+/g)) {
    if (open === null) open = run;
    else if (open === run) open = null;
  }
  return open;
}

function withoutCode(text: string): string {
  let [kept, from, open] = ['', 0, ''];
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (open === '') [kept, from, open] = [kept + text.slice(from, index), index, run];
    else if (open === run) [from, open] = [index + run.length, ''];
  }
  return kept + text.slice(from);
}

function openMarks(text: string): string {
  const plain = withoutCode(text).replace(/\\./g, '');
  const stack: string[] = [];
  for (const match of plain.matchAll(/\*\*|~~|\*|__/g)) {
    const mark = match[0];
    if (stack.at(-1) === mark) stack.pop();
    // A mark opens when text follows it; at the very end it is still being written.
    else if (/\S/.test(plain[match.index + mark.length] ?? ' ')) stack.push(mark);
  }
  return stack.reverse().join('');
}
