/** What was said or is to be run, in a list of VS Code: that draws `$(name)` as an icon, and as nothing where there is no such icon. */
export function plainLabel(text: string): string {
  return text.replaceAll('$(', '$\u200b(');
}

/** The first words of a text, in one line. */
export function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** Text that means nothing but itself in a Markdown tooltip or document. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~$]/g, '\\$&');
}
