import { t } from '../l10n';
import { timeText } from '../recall/dateText';
import type { TranscriptBlock } from './transcriptBlocks';

/** Headings of messages are of level 2; what a message itself heads with `#` may be larger, and stays as it was written. */
export function blockMarkdown({ kind, heading, at, parts, attachments }: TranscriptBlock): string {
  const title =
    kind === 'user' || kind === 'assistant'
      ? `## ${escapeLine(heading)} · ${timeText(at)}`
      : `**${escapeLine(heading)}** · ${timeText(at)}`;
  const body = parts.map(({ format, text }) =>
    format === 'verbatim' ? fenced(text) : kind === 'user' || kind === 'assistant' ? text : quoted(text),
  );
  const files = attachments.map(({ name, mime }) => `- ${t('attached: {0} ({1})', escapeLine(name), mime)}`).join('\n');
  return [title, ...body, ...(files === '' ? [] : [files])].join('\n\n');
}

/** Returns Markdown of one line that means nothing but itself. */
export function escapeLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
}

/** A fence is longer than every run of backticks within. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
