import type { Cut } from '../ladder/cutPoint';
import { editableText, emptyFoldedState, withUsersText } from '../ledgers/foldedState';
import type { Fold } from '../ladder/fold';
import type { SummaryCall } from './summaryWriter';
import type { ContextEngine } from '../../context/engine';
import type { Clock, SessionStore } from '../../ports';
import { isEntryOf, type ContentOf, type EntryOf, type StoredEntry } from '../../session/entry';
import type { Reach } from '../measure/continuity';
import { leftOutEntries, verbatimEntries } from '../../session/liveCompaction';
import type { BranchState } from '../../chat/branchState';
import type { CompactionRecorder } from '../compactionRecorder';
import type { FoldPlanner } from '../ladder/foldPlanner';
import type { JobHooks } from './summaryJob';

export interface RewriterDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly store: Pick<SessionStore, 'branchSteps' | 'entries'>;
  readonly planner: FoldPlanner;
  readonly recorder: CompactionRecorder;
  readonly clock: Clock;
}

export interface Rewritten {
  readonly target: EntryOf<'compaction'>;
  readonly fold: Fold;
  readonly cut: Cut;
  /** Whether the range is found again; omitted: it is looked up when this is recorded. */
  readonly reach?: Reach;
}

/** Puts another summary in the place of a record's: the same range, from its originals, as a new record that supersedes it. */
export class SummaryRewriter {
  constructor(private readonly deps: RewriterDeps) {}

  /** Has the folded range summarised anew. Rejects as the chain does, or with `StoreError`. */
  async rewrite(
    target: EntryOf<'compaction'>,
    options: { readonly instructions: string | null; readonly background: boolean },
    hooks: JobHooks,
  ): Promise<Rewritten> {
    const cut = await this.originals(target);
    const previous = this.deps.planner.previousState(await this.before(target));
    // In the background that is looked up first: a summary is recorded as soon as it is written.
    const reach = options.background ? await this.deps.recorder.reachOf(cut) : undefined;
    return { target, cut, fold: await this.deps.planner.byChain({ cut, previous, ...options }, hooks), ...(reach ? { reach } : {}) };
  }

  /** With the user's own text in the place of what a model wrote, or of the passages that stood in for it. */
  async edited(target: EntryOf<'compaction'>, text: string): Promise<Rewritten> {
    const state = this.deps.planner.previousState(target) ?? emptyFoldedState;
    const { model } = target.content;
    const folded = withUsersText(state, text, model !== null);
    return { target, cut: await this.originals(target), fold: { folded, rung: 'model', model, note: null, audit: null, analysis: null } };
  }

  /** What can be edited of a record. */
  editable(target: EntryOf<'compaction'>): string {
    return editableText(this.deps.planner.previousState(target) ?? emptyFoldedState);
  }

  /** Records it. The tokens before it are those without any compaction, so that an undo can be judged by it. Rejects with `StoreError`. */
  async record(
    { target, fold, cut, reach }: Rewritten,
    trigger: ContentOf<'compaction'>['trigger'],
    calls: readonly SummaryCall[],
    instructions: string | null = null,
  ): Promise<EntryOf<'compaction'>> {
    const { recorder, engine, clock } = this.deps;
    const grown = Math.max(0, engine.measure().used - target.content.tokensAfter);
    const { rung, coversFrom, firstKeptEntry, previous, masked } = target.content;
    const draft = await recorder.draft(fold, cut, {
      trigger,
      tokensBefore: target.content.tokensBefore + grown,
      rung: trigger === 'edit' ? rung : fold.rung,
      startedAt: clock.now(),
      holdsTurn: false,
      supersedes: target.uuid,
      coversFrom,
      firstKeptEntry,
      previous: previous ?? null,
      ...(instructions ? { instructions } : {}),
    });
    const { masked: _, ...content } = await recorder.measured({ ...draft, needsSummaryRetry: false, ...(masked ? { masked } : {}) });
    const continuity =
      cut.folded.length > 0 ? await recorder.continuity(fold, cut, content.summaryText, reach !== undefined, reach ?? null) : null;
    return recorder.append({ ...content, ...(masked ? { masked } : {}), ...(continuity ? { continuity } : {}) }, calls);
  }

  /** The range that a record folded, read again, and what is sent verbatim behind it now. */
  private async originals(target: EntryOf<'compaction'>): Promise<Cut> {
    const { branch, store } = this.deps;
    const { coversFrom, firstKeptEntry } = target.content;
    // By steps rather than by pages of the transcript: what takes an entry out of the prompt is not displayed.
    const steps = coversFrom === null ? [] : (await store.branchSteps(branch.session.uuid)).map(({ entry }) => entry);
    const start = Math.max(0, steps.indexOf(coversFrom ?? ''));
    const range = await store.entries(steps.slice(start, steps.indexOf(firstKeptEntry ?? target.uuid)));
    // What has been taken out of the range may have been said behind it.
    const gone = leftOutEntries([...range, ...branch.entries]);
    const folded = range.filter((entry) => entry.modelFacing && !gone.has(entry.uuid));
    const kept = verbatimEntries(branch.entries).filter(({ modelFacing }) => modelFacing);
    const hasRequest = kept.some(isUser);
    return { folded, firstKept: kept[0] ?? null, kept, currentRequest: hasRequest ? null : (folded.findLast(isUser) ?? null) };
  }

  private async before(target: EntryOf<'compaction'>): Promise<EntryOf<'compaction'> | null> {
    const { previous } = target.content;
    const [entry] = previous ? await this.deps.store.entries([previous]) : [];
    return entry && isEntryOf(entry, 'compaction') ? entry : null;
  }
}

function isUser({ content }: StoredEntry): boolean {
  return content.type === 'message' && content.role === 'user';
}
