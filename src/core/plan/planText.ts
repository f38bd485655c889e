/** The plan that an answer ends in: what stands below its last heading "Plan". Null when there is none. */
export function planIn(markdown: string): string | null {
  const lines = markdown.split('\n');
  let at = -1;
  let fence: string | null = null;
  for (const [index, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) fence = fence === null ? mark : mark.startsWith(fence) ? null : fence;
    else if (fence === null && isPlanHeading(line)) at = index;
  }
  const plan =
    at === -1
      ? ''
      : lines
          .slice(at + 1)
          .join('\n')
          .trim();
  return plan === '' ? null : plan;
}

function isPlanHeading(line: string): boolean {
  const marks = /^ {0,3}#{1,4}(?=\s)/.exec(line)?.[0];
  return marks !== undefined && /^plan:?$/i.test(line.slice(marks.length).replaceAll('#', '').trim());
}
