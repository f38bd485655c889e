import type { SideStep } from './sideQuestion';

export const asideToolName = 'ask_aside';

/** Characters of one result that are kept: what was read can be read again. */
const mostOfResult = 20_000;

/** Everything of a side question as Markdown, for people. Whatever stands in a result cannot end its fence. */
export function transcriptOf(question: string, steps: readonly SideStep[]): string {
  return [
    quoted(question),
    ...steps.map((step) =>
      step.type === 'text'
        ? step.text.trim()
        : `**${step.name.replaceAll(/[*_`\\]/g, '\\$&')}** ${step.status === 'ok' ? '' : `(${step.status}) `}${fenced(JSON.stringify(step.input) ?? '')}\n\n${fenced(step.text.slice(0, mostOfResult))}`,
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([marks]) => marks.length));
  const fence = '`'.repeat(longest + 1);
  return `\n\n${fence}\n${text}\n${fence}`;
}
