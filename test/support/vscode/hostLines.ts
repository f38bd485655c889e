/** Starts every line that tests print inside the extension host, where the workbench logs a great deal of its own. */
export const lineMark = 'tests| ';

/** The tests' part of what VS Code logged, without the mark. */
export function testLines(log: string): string[] {
  return log.split('\n').flatMap((line) => {
    const at = line.indexOf(lineMark);
    return at < 0 ? [] : [line.slice(at + lineMark.length)];
  });
}
