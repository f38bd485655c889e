/** What was said or is to be run, in a list of VS Code: that draws `$(name)` as an icon, and as nothing where there is no such icon. */
export function plainLabel(text: string): string {
  return text.replaceAll('$(', '$\u200b(');
}
