import { foldByExtraction } from '../compaction/ladder/fold';
import { renderFoldedState } from '../compaction/ledgers/foldedState';
import { entryRef } from '../compaction/summary/prompts';
import type { SummaryCall } from '../compaction/summary/summaryWriter';
import type { ContextEngine } from '../context/engine';
import { english } from '../l10n';
import type { Clock, SessionStore } from '../ports';
import { isEntryOf, isUserMessage, type StoredEntry } from '../session/entry';
import { leftOutEntries, liveCompaction } from '../session/liveCompaction';
import type { BranchState } from '../chat/branchState';
import type { ConversationEvent } from '../chat/events';
import type { FoldPlanner } from '../compaction/ladder/foldPlanner';
import { SummaryJob } from '../compaction/summary/summaryJob';

export interface BranchSummariesDeps {
  readonly store: Pick<SessionStore, 'commonAncestor'>;
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly planner: FoldPlanner;
  readonly clock: Clock;
  readonly emit: (event: ConversationEvent) => void;
  /** It records requests that led to no entry. */
  readonly spend: (calls: readonly SummaryCall[]) => Promise<void>;
  /** Whether the user wants to be offered a summary at all. */
  readonly isOffered: () => boolean;
}

interface LeftBranch {
  readonly leaf: string;
  /** The branch that was left has these, and the one that is shown does not. */
  readonly entries: readonly StoredEntry[];
}

/** One exchange that went wrong is not worth a question: offered from here on, or where something was done. */
const leastQuestions = 2;
const ownTools = new Set(['recall', 'memory']);

/**
 * What was worked out on a branch that is left, brought along to where the conversation goes on: offered, never done unasked.
 *
 *   nothing ──left with unmerged work──▶ offered ──summarise──▶ summarising ──an entry──▶ nothing
 *                                           └──declined, next message──▶ nothing
 */
export class BranchSummaries {
  private left: LeftBranch | null = null;

  constructor(private readonly deps: BranchSummariesDeps) {}

  /** `before`: the branch that has been left. Rejects with `StoreError`. */
  async noteLeft(before: readonly StoredEntry[]): Promise<void> {
    const { store, branch, isOffered } = this.deps;
    const leaf = before.at(-1)?.uuid;
    this.forget();
    if (leaf === undefined || branch.leaf === null || !isOffered()) return;
    const shared = await store.commonAncestor(leaf, branch.leaf);
    const entries = before.slice(before.findIndex(({ uuid }) => uuid === shared) + 1);
    const isMerged = branch.entries.some((entry) => isEntryOf(entry, 'branch_summary') && entry.content.branchLeaf === leaf);
    if (isMerged || !isWork(entries)) return;
    this.left = { leaf, entries };
    this.tell(false);
  }

  /** The offer is void. */
  forget(): void {
    if (!this.left) return;
    this.left = null;
    this.deps.emit({ type: 'branch_left', left: null });
  }

  /** Appends what the left branch came to. Null when it is done, else why not. Rejects with `StoreError`. */
  async summarize(instructions: string | null, stop: AbortSignal): Promise<string | null> {
    const { branch, engine, planner, clock, emit, spend } = this.deps;
    const { left } = this;
    if (!left) return english('There is no branch that could be summarized: it was offered for the branch that was left last.');
    this.tell(true);
    try {
      const live = liveCompaction(left.entries);
      const leftOut = leftOutEntries(left.entries);
      const folded = left.entries.filter(({ uuid, modelFacing }) => modelFacing && !leftOut.has(uuid));
      const cut = { folded, firstKept: null, kept: [], currentRequest: null };
      const previous = live ? planner.previousState(live) : null;
      const job = new SummaryJob(cut, left.leaf, instructions, clock, (hooks) =>
        planner.byChain({ cut, previous, instructions, background: false }, hooks),
      );
      await job.wait(null, stop);
      if (stop.aborted) job.cancel();
      await job.ended;
      if (stop.aborted) {
        await spend(job.calls);
        this.tell(false);
        return english('Cancelled: nothing was added.');
      }
      const fold = job.fold ?? (await foldByExtraction(planner.request(cut, instructions, previous), job.failure));
      const from = left.entries[0];
      const opening = `The user left another branch of this conversation${from ? `, which began with ${entryRef(from)}` : ''}. Nothing of it is part of this one; this is what it came to. Its messages still exist: recall {"query": …} searches them, recall {"entryIds": ["#12"]} reads the entries whose ids are cited here.`;
      const text = renderFoldedState(fold.folded, null, engine.budget.oversized * 3, '', opening);
      const usage = job.calls.map(({ provider, model, usage: used }, index) => ({
        provider,
        model,
        kind: 'compaction' as const,
        ...used,
        cost: null,
        at: clock.now() + index,
      }));
      const entry = await branch.append(
        { type: 'branch_summary', text, branchLeaf: left.leaf },
        { display: true, modelFacing: true, usage },
      );
      emit({ type: 'entry_appended', entry });
      this.forget();
      return null;
    } catch (error) {
      this.tell(false);
      throw error;
    }
  }

  private tell(summarizing: boolean): void {
    if (this.left)
      this.deps.emit({
        type: 'branch_left',
        left: { messages: this.left.entries.filter(({ content }) => content.type === 'message').length, summarizing },
      });
  }
}

function isWork(entries: readonly StoredEntry[]): boolean {
  const questions = entries.filter(isUserMessage).length;
  return questions >= leastQuestions || entries.some(({ content }) => content.type === 'tool_call' && !ownTools.has(content.name));
}
