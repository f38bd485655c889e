import { fenced } from '../base/fence';
import { wholeCharacters } from '../context/projection/excerpt';
import type { SideStep } from './sideQuestion';

export const asideToolName = 'ask_aside';

/** Characters of one result that are kept: what was read can be read again. */
const mostOfResult = 20_000;

/** Everything of a side question as Markdown, for people. Whatever stands in a result cannot end its fence. */
export function transcriptOf(question: string, steps: readonly SideStep[]): string {
  return [quoted(question), ...steps.flatMap((step) => (step.type === 'text' ? [step.text.trim()] : callParts(step)))]
    .filter((part) => part !== '')
    .join('\n\n');
}

function callParts({ name, status, input, text }: Extract<SideStep, { type: 'call' }>): string[] {
  const title = `**${name.replaceAll(/[*`\\]/g, '\\$&')}**${status === 'ok' ? '' : ` (${status})`}`;
  return [title, fenced(JSON.stringify(input) ?? ''), fenced(wholeCharacters(text, 0, mostOfResult))];
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
