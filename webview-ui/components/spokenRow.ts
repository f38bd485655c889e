import type { TranscriptRow } from '../../src/protocol/messages';
import { compactionSentence } from './rows/compactionRow';

const longest = 1000;

/** A row in words for the announcer; empty for what is not worth interrupting for. */
export function spokenRow(row: TranscriptRow): string {
  switch (row.kind) {
    case 'assistant':
      return `Answer: ${plainText(row.markdown)}`;
    case 'error':
      return `Error: ${row.text}`;
    case 'compaction':
      return compactionSentence(row);
    case 'checkpoint':
      return 'Checkpoint written';
    case 'branch_summary':
      return 'The branch you left has been summarised';
    case 'undo':
      return 'Compaction undone';
    case 'nudge':
      return `Memory nudge at ${Math.round(row.percent)} percent`;
    case 'info':
      return row.text;
    case 'user':
    case 'thinking':
      return '';
    case 'tool':
      return row.approval ? `Permission needed: ${row.approval.title}. Allow or deny it in the conversation.` : '';
  }
}

/** Markdown without what would be read out as punctuation; code is named, not read. */
function plainText(markdown: string): string {
  const text = markdown
    .replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm, ' Code block. ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`#>|~]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > longest ? `${text.slice(0, longest)}… The rest is in the conversation.` : text;
}
