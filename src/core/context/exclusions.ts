import type { ContextEngine } from './engine';
import { t } from '../l10n';
import type { SessionStore } from '../ports';
import { excludedEntries, exclusionContent, isExcludable, leavingTogether } from './contextExclusion';
import type { StoredEntry } from '../session/entry';
import { verbatimEntries } from '../session/liveCompaction';
import type { BranchState } from '../chat/branchState';
import type { ConversationEvent } from '../chat/events';

export interface ExclusionsDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly store: Pick<SessionStore, 'pins'>;
  readonly emit: (event: ConversationEvent) => void;
  /** What was prepared for the context as it was is of no use any more. */
  readonly changed: () => void;
}

/** Takes single entries out of what the model is sent, and puts them back. Each change is a mark on the branch; the entries stay. */
export class Exclusions {
  constructor(private readonly deps: ExclusionsDeps) {}

  /** Null when it is as asked, else why not, in words for the user. Rejects with `StoreError`. */
  async set(uuid: string, excluded: boolean): Promise<string | null> {
    const { branch, engine, emit, changed } = this.deps;
    const entry = verbatimEntries(branch.entries).find((one) => one.uuid === uuid);
    if (!entry) return excluded ? notSent() : foldedNow();
    if (excludedEntries(branch.entries).has(uuid) === excluded) return null;
    const refusal = excluded ? await this.refusal(entry) : null;
    if (refusal !== null) return refusal;
    const exclusion = { entries: leavingTogether(entry, branch.entries), excluded };
    const draft = branch.draft(exclusionContent({ ...exclusion, tokensAfter: 0 }), flags);
    const { used: tokensAfter } = engine.measure([...branch.entries, { ...draft, seq: 0 }]);
    const mark = await branch.append(exclusionContent({ ...exclusion, tokensAfter }), flags);
    changed();
    engine.recounted();
    emit({ type: 'entry_appended', entry: mark });
    return null;
  }

  private async refusal(entry: StoredEntry): Promise<string | null> {
    const { branch, store } = this.deps;
    if (!isExcludable(entry)) return t('This cannot be left out by itself.');
    const pins = await store.pins(branch.session.uuid);
    if (pins.some(({ kind, target }) => kind === 'entry' && target === entry.uuid))
      return t('This is pinned, so that it always stays in the context. Unpin it first.');
    return isUnanswered(entry, branch.entries)
      ? t('This message has no answer yet: it is what the model is asked. Leave it out when it has been answered, or edit it.')
      : null;
  }
}

/** The marks stand in the transcript's pages, so that whoever reads the originals again knows what was left out of them. */
const flags = { display: true, modelFacing: false };

const notSent = () => t('This is not sent to the model as it is: it reaches the model through the summary, or is on another branch.');
const foldedNow = () => t('This is now part of the summary. Undo the compaction to get it back word for word.');

function isUnanswered({ uuid, content }: StoredEntry, entries: readonly StoredEntry[]): boolean {
  if (content.type !== 'message' || content.role !== 'user') return false;
  const after = entries.slice(entries.findIndex((one) => one.uuid === uuid) + 1);
  return !after.some((one) => one.content.type === 'message');
}
