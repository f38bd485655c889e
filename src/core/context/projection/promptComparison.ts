import type { BranchState } from '../../chat/branchState';
import type { ContextEngine } from '../engine';
import { oneLine, unmarked } from '../../frames/frames';
import { t, wholeNumber } from '../../l10n';
import type { SessionStore } from '../../ports';
import type { Piece, Projection } from './projection';
import { firstOfRange, liveCompaction } from '../../session/liveCompaction';

interface ComparisonDeps {
  readonly store: Pick<SessionStore, 'branchSteps' | 'entries'>;
  readonly branch: BranchState;
  readonly engine: ContextEngine;
}

/** The prompt, for people, as it was in front of a compaction and right behind it. */
export interface PromptComparison {
  readonly before: string;
  readonly after: string;
  /** When it was made. */
  readonly at: number;
}

/**
 * What a compaction of this branch has changed, whatever has become of it since: the branch is read up to its record, without and with
 * it. Rejects with `StoreError`, or with an `Error` in words for the user.
 */
export async function comparePrompts({ store, branch, engine }: ComparisonDeps, compaction: string): Promise<PromptComparison> {
  const steps = await store.branchSteps(branch.session.uuid);
  const at = steps.findIndex(({ entry }) => entry === compaction);
  if (at === -1) throw new Error(t('This compaction is not on the branch that is shown. Go to its branch first.'));
  const earlier = steps.slice(0, at).filter(({ type }) => type === 'compaction' || type === 'compaction_undone');
  const records = await store.entries(earlier.map(({ entry }) => entry));
  const live = liveCompaction(records);
  const previous = live && firstOfRange(live, records);
  const first = previous ? (previous.content.firstKeptEntry ?? previous.uuid) : null;
  const start = Math.max(
    0,
    steps.findIndex(({ entry }) => entry === first),
  );
  const entries = await store.entries(steps.slice(start, at + 1).map(({ entry }) => entry));
  const refs = new Map(entries.map(({ uuid, seq }) => [uuid, `#${seq}`]));
  const size = (part: typeof entries) => wholeNumber(engine.measure(part).used);
  const text = (part: typeof entries) => promptText(engine.projection(part), (entry) => refs.get(entry) ?? entry);
  const without = entries.slice(0, -1);
  return {
    before: `${t('Without this compaction: about {0} tokens, the system prompt and the tools included.', size(without))}\n\n${text(without)}`,
    after: `${t('With this compaction: about {0} tokens, the system prompt and the tools included.', size(entries))}\n\n${text(entries)}`,
    at: entries.at(-1)!.createdAt,
  };
}

const mark = '────';

/** What the model is sent, for people: each block below a line that says whose it is and (`refOf`: `#12`) which entry it comes from. */
function promptText({ pieces }: Pick<Projection, 'pieces'>, refOf: (entry: string) => string): string {
  return pieces
    .map(
      (piece) =>
        `${mark} ${[oneLine(speaker(piece)), piece.entryId === null ? t('not an entry') : refOf(piece.entryId)].join(' · ')}\n\n${unmarked(mark, blockText(piece))}\n`,
    )
    .join('\n');
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
