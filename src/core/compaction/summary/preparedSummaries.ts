import { digest } from '../../base/digest';
import type { BranchState } from '../../chat/branchState';
import type { ContextEngine } from '../../context/engine';
import { errorText } from '../../errors';
import type { Clock, Logger } from '../../ports';
import type { ContentOf, EntryOf, StoredEntry } from '../../session/entry';
import type { CompactionRecorder } from '../compactionRecorder';
import { sentEntries, type Cut } from '../ladder/cutPoint';
import type { Fold } from '../ladder/fold';
import type { FoldPlanner } from '../ladder/foldPlanner';
import { FoldedState } from '../ledgers/foldedState';
import type { BackgroundSummary } from './backgroundSummary';
import { SummaryJob } from './summaryJob';

export interface PreparedSummariesDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly planner: FoldPlanner;
  readonly recorder: CompactionRecorder;
  readonly background: BackgroundSummary;
  readonly clock: Clock;
  readonly log: Logger;
  /** Index and head of the notes; null when there are none. */
  readonly memoryHead: () => Promise<string | null>;
}

type Content = ContentOf<'prepared_summary'>;

/**
 * Keeps what is prepared in the store, so that it is there after a restart and in every window. A record names what it has read; it is
 * used for as long as that is unchanged, whatever has been said since:
 *
 *   stored ──branch, exclusions, an undo, another record or the form of summaries differ──▶ outdated
 *      ▲                                                                                             │
 *      └──────────────────────── they are as they were (an undo undone, another window) ─────────────┘
 *   stored ──a compaction uses it: it is the record before the next one──▶ outdated
 *
 * Both are looked at, not told. Nothing is removed: the newest is looked for, and an older one is not used again.
 */
export class PreparedSummaries {
  /** Whether the newest holds was looked up for this branch. */
  private looked: {
    readonly entries: readonly StoredEntry[];
    readonly prepared: Content;
    readonly basis: string;
    readonly holds: boolean;
  } | null = null;

  constructor(private readonly deps: PreparedSummariesDeps) {}

  /** Stores what a job has written, once it is there; nothing of one that failed or is not wanted any more. Never rejects. */
  async keep(job: SummaryJob): Promise<void> {
    const { branch, engine, background, recorder, log } = this.deps;
    await job.ended;
    const { fold } = job;
    if (!fold || background.usable() !== job) return;
    try {
      const head = await this.deps.memoryHead();
      const tokensBefore = engine.measure().used;
      const [tokensAfter, keeps] = await this.sizesAfter(fold, job.cut.folded, head);
      if (background.usable() !== job || branch.session.deletedAt !== null) return;
      const { uuid: through } = job.cut.folded.at(-1)!;
      job.kept = await recorder.appendPrepared(
        {
          type: 'prepared_summary',
          folded: fold.folded,
          model: fold.model,
          ...(fold.note ? { note: fold.note } : {}),
          ...(fold.audit ? { audit: fold.audit } : {}),
          basis: job.basis,
          reads: { count: job.cut.folded.length, through, digest: digestOf(job.cut.folded) },
          notes: digest(head ?? ''),
          tokensBefore,
          tokensAfter,
          keeps,
        },
        background.takeCalls(),
      );
      log.info('summary_prepared', { tokensBefore, tokensAfter, model: fold.model });
    } catch (error) {
      log.warn('summary_not_kept', { detail: errorText(error) });
    }
  }

  /**
   * The one that is stored is used by the next compaction, where it holds. False: the notes have changed since, so that it is not for a
   * return, for which it was priced with them; a full context takes it all the same, and the notes as they are follow it. Never rejects.
   */
  async recall(): Promise<boolean> {
    const { background, branch, recorder, log } = this.deps;
    try {
      const job = background.usable();
      const content = job ? job.kept : this.usable()?.content;
      if (!content) return true;
      const knowsNotes = content.notes === digest((await this.deps.memoryHead()) ?? '');
      await branch.whole();
      const folded = FoldedState.safeParse(content.folded);
      if (job || !folded.success || background.usable()) return knowsNotes;
      const sent = sentEntries(branch.entries);
      const cut: Cut = {
        folded: sent.slice(0, content.reads.count),
        firstKept: sent[content.reads.count] ?? null,
        kept: sent.slice(content.reads.count),
        currentRequest: null,
      };
      const own = this.jobOf(cut, folded.data, content);
      // Before anybody waits for it, as a rule: a session is opened before it is written in.
      own.measure((fold) => recorder.expectedContinuity(fold, cut));
      await background.adopt(own);
      return knowsNotes;
    } catch (error) {
      log.warn('prepared_summary_not_read', { detail: errorText(error) });
      return true;
    }
  }

  /** Tokens that a prompt would come down to with it in which `said` stands and `added` follows; null where none can be used. */
  sizeOf(said: number, added: number): number | null {
    const content = this.usable()?.content;
    if (!content) return null;
    const since = said - content.tokensBefore;
    // What it does not tell of stays, and where it tells of all, what the policy keeps.
    return content.tokensAfter + (since > 0 ? since : content.keeps) + added;
  }

  /** The same for a compaction because the context is full: it leaves more than a return does. */
  sizeWhenFull(said: number, added: number): number | null {
    const content = this.usable()?.content;
    if (!content) return null;
    const since = said - content.tokensBefore;
    const { engine, planner } = this.deps;
    return content.tokensAfter + (since > 0 ? since : engine.modelTokens(planner.keptBeforeMessage(engine.ownTokens(added)))) + added;
  }

  private usable(): EntryOf<'prepared_summary'> | null {
    const { branch, background } = this.deps;
    const { prepared, entries } = branch;
    if (!prepared) return null;
    const { content } = prepared;
    const basis = background.basis();
    const { looked } = this;
    if (looked?.entries !== entries || looked.prepared !== content || looked.basis !== basis) {
      const { count, through, digest: read } = content.reads;
      const range = sentEntries(entries).slice(0, count);
      const holds = content.basis === basis && range.at(-1)?.uuid === through && digestOf(range) === read;
      this.looked = { entries, prepared: content, basis, holds };
    }
    return this.looked!.holds ? prepared : null;
  }

  private jobOf(cut: Cut, folded: FoldedState, content: Content): SummaryJob {
    const { model, note = null, audit = null } = content;
    const fold: Fold = { folded, rung: 'model', model, note, audit, analysis: null };
    const job = new SummaryJob(cut, content.basis, null, this.deps.clock, async () => fold, true);
    job.kept = content;
    return job;
  }

  /** With all of it folded, and what of it would stay beside that if the next message came now. */
  private async sizesAfter(
    fold: Fold,
    told: readonly StoredEntry[],
    head: string | null,
  ): Promise<readonly [after: number, keeps: number]> {
    const { engine, planner, recorder, clock } = this.deps;
    const facts = { trigger: 'cold', rung: 'prepared', tokensBefore: 0, startedAt: clock.now(), holdsTurn: false } as const;
    const all = await recorder.draft(fold, planner.wholeCut(), facts);
    const some = await recorder.draft(fold, planner.cutBeforeReturn(), facts, told);
    return [all.tokensAfter + (head === null ? 0 : engine.estimate(head)), some.tokensAfter - all.tokensAfter];
  }
}

function digestOf(entries: readonly StoredEntry[]): string {
  return digest(entries.map(({ uuid }) => uuid).join());
}
