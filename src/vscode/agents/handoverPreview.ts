import { fenced } from '../../core/base/fence';
import { t, wholeNumber } from '../../core/l10n';
import type { HandedStep } from '../../core/transfer/handover/handedStep';
import type { Handover } from '../../node/transfer/handover/handOver';
import { escapeMarkdown } from '../plainText';

/** More of it makes the editor slow. */
const mostCharacters = 400_000;

/** Markdown: what a program is told, and where that is written. */
export function handoverPreview({ name, history, files, cwd, missing }: Handover, command: string): string {
  const size = t('{0} messages, about {1} tokens', wholeNumber(history.steps.length), wholeNumber(history.tokens));
  const said = history.steps.map(stepText).join('\n\n');
  return [
    `# ${t('Hand over to {0}', name)}`,
    [
      ...files.map(({ file }) => `- ${t('New file: {0}', `\`${file}\``)}`),
      ...(missing === null
        ? []
        : [`- ${t('The folder of the session is not on this machine: {0}', escapeMarkdown(missing.replace(/\p{Cc}/gu, ' ')))}`]),
      `- ${t('Goes on in: {0}', `\`${cwd}\``)}`,
      ...command.split('\n').map((line) => `- ${t('Command: {0}', `\`${line}\``)}`),
      `- ${size}${history.isFolded ? `; ${t('what is older is told in a summary')}` : ''}`,
      ...(history.unreadable === 0
        ? []
        : [`- ${t('Damaged or missing, and left out: {0} entries and attached texts', wholeNumber(history.unreadable))}`]),
      `- ${t('What is said there comes back into this session when {0} is watched, or its file is imported.', name)}`,
    ].join('\n'),
    said.length > mostCharacters ? `${said.slice(0, mostCharacters)}\n\n…` : said,
  ].join('\n\n');
}

function stepText({ role, text, calls }: HandedStep): string {
  return [
    `## ${role === 'user' ? t('You') : t('Assistant')}`,
    ...(text === '' ? [] : [text]),
    ...calls.map(({ name, input, result }) =>
      [`**${escapeMarkdown(t('Used {0}', name))}**`, fenced(JSON.stringify(input, null, 2)), fenced(result.text)].join('\n\n'),
    ),
  ].join('\n\n');
}
