/** Returns the backticks of a fence around `text`: at least three, and more than stand in a row within. */
export function fenceAround(text: string): string {
  let longest = 2;
  // One by one: a text can have more runs than a call takes arguments (some 120,000).
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return '`'.repeat(longest + 1);
}

/** Returns Markdown that shows `text` as it is. */
export function fenced(text: string): string {
  const fence = fenceAround(text);
  return `${fence}\n${text}\n${fence}`;
}
