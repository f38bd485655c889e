/** Sections for those who have the repository before them. */
const ofRepository: ReadonlySet<string> = new Set(['Install', 'Set-up for working on it', 'Architecture in ten lines']);

/**
 * The README as the marketplaces and the editor show it. There is no address at which its pictures and pages could be reached, and none
 * is invented: pictures go, and so do references to other pages where they stand alone; in a sentence their text stays.
 */
export function packagedReadme(readme: string): string {
  const [head = '', ...sections] = readme.split(/^(?=## )/m);
  const kept = sections.filter((section) => !ofRepository.has(/^## (.*)/.exec(section)![1]!));
  return [head, ...kept]
    .join('')
    .replace(/^!\[[^\]]*\]\([^)]*\)\n\n?/gm, '')
    .replace(/(?<=[.:;]) \[[^\]]*\]\((?!https:)[^)]*\)$/gm, '')
    .replace(/\[([^\]]*)\]\((?!https:)[^)]*\)/g, '$1');
}
