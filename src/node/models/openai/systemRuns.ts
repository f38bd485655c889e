import type { ModelBlock, ModelRequest } from '../../../core/models/modelRequest';

export interface Run {
  readonly as: 'user' | 'system';
  readonly blocks: readonly ModelBlock[];
}

/** The blocks of a user's message, parted where the program speaks as the system. */
export function systemRuns(blocks: readonly ModelBlock[]): Run[] {
  const runs: { as: Run['as']; blocks: ModelBlock[] }[] = [];
  for (const block of blocks) {
    const as = speaksAsSystem(block) ? 'system' : 'user';
    const last = runs.at(-1);
    if (last?.as === as) last.blocks.push(block);
    else runs.push({ as, blocks: [block] });
  }
  return runs;
}

export function holdsSystem({ messages }: ModelRequest): boolean {
  return messages.some(({ blocks }) => blocks.some(speaksAsSystem));
}

/** A server's words for a system message, or a turn of roles, that it does not take. */
export function refusesSystem(refusal: string): boolean {
  return /\bsystem\b|\broles?\b/i.test(refusal);
}

function speaksAsSystem(block: ModelBlock): boolean {
  return block.type === 'text' && block.as === 'system';
}
