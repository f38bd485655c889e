import { oneLine, unmarked } from '../../frames/frames';
import { t } from '../../l10n';
import type { Piece, Projection } from './projection';

const mark = '────';

/** What the model is sent, for people: each block below a line that says whose it is and (`refOf`: `#12`) which entry it comes from. */
export function promptText({ pieces }: Pick<Projection, 'pieces'>, refOf: (entry: string) => string): string {
  return pieces.map((piece) => `${mark} ${[oneLine(speaker(piece)), piece.entryId === null ? t('not an entry') : refOf(piece.entryId)].join(' · ')}\n\n${unmarked(mark, blockText(piece))}\n`).join('\n');
}

function speaker({ block, role, segment }: Piece): string {
  if (segment === 'summary') return role === 'assistant' ? t('answer') : t('summary');
  if (segment === 'memory') return t('notes');
  switch (block.type) {
    case 'text':
    case 'image':
    case 'attachment':
      return role === 'assistant' ? t('answer') : t('user');
    case 'thinking':
      return t('thinking');
    case 'tool_use':
      return t('call of {0}', block.name);
    case 'tool_result':
      return block.isError ? t('error of the call') : t('result of the call');
  }
}

function blockText({ block, tokens }: Piece): string {
  switch (block.type) {
    case 'text':
    case 'thinking':
    case 'tool_result':
      return block.text;
    case 'tool_use':
      return JSON.stringify(block.input, null, 2);
    case 'image':
      return `[${block.name}]`;
    case 'attachment':
      return `[${t('attached: {0}, about {1} tokens', block.attachment.name, tokens)}]`;
  }
}
