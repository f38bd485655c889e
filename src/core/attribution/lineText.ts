/** Letters and digits from which a line tells of itself: a bracket alone stands everywhere. */
const tellingCharacters = 8;

/** The text of a line as it is compared. */
export function squeezed(line: string): string {
  return line.replace(/\s+/g, '');
}

/** Formatters change blanks and quotes: a line remains the same one. */
export function alike(line: string): string {
  return squeezed(line).replaceAll('"', "'");
}

/** How much a line tells of itself, from 0 to 1. */
export function weightOf(line: string): number {
  return Math.min(1, (line.match(/[\p{L}\p{N}_]/gu)?.length ?? 0) / tellingCharacters);
}
