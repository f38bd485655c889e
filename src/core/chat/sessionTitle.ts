/** First line of the first message, at most 60 characters, cut at a word. */
export function titleFrom(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.replace(/\s+/g, ' ').trim();
  if (line.length <= 60) return line;
  const cut = line.slice(0, 60);
  const space = cut.lastIndexOf(' ');
  return `${(space > 30 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
