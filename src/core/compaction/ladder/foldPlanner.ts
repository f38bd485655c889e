import { cutPoint, sentEntries, type Cut } from './cutPoint';
import { isUserMessage, type ContentOf, type EntryOf, type StoredEntry } from '../../session/entry';
import type { JobHooks, Failover } from '../summary/summaryJob';
import { emptyFoldedState, FoldedState, renderFoldedState } from '../ledgers/foldedState';
import { previousText, type Fold, type FoldRequest } from './fold';
import { foldByChain } from './foldByChain';
import { maskedEntries, newStubs, scaledToWindow, stubTokens, toldStubs } from './mask';
import { formatOf } from '../summary/summaryFormat';
import type { ContextEngine } from '../../context/engine';
import { leastSaving } from '../../context/measure/budget';
import { english } from '../../l10n';
import type { Clock, Logger, Summarizer, TextAnalyst } from '../../ports';
import { liveCompaction } from '../../session/liveCompaction';
import type { BranchState } from '../../chat/branchState';
import { continuationOf } from '../summary/continuation';

export interface FoldPlannerDeps {
  readonly branch: BranchState;
  readonly engine: ContextEngine;
  readonly analyst: TextAnalyst;
  readonly failover: Failover;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ChainOptions {
  readonly cut: Cut;
  readonly previous: FoldedState | null;
  readonly instructions: string | null;
  readonly background: boolean;
  /** `previous` is the state that stands in the prompt now, and the prompt still fits the model; `only`: a transcript is not worth it. */
  readonly inPrompt?: boolean | 'only';
  /** Asked before those of the policy. */
  readonly first?: readonly Summarizer[];
}

/** Share of what is folded, the state before included; the user's words and exact passages beside it come to as much again. */
const longestSummary = 0.25;
const leastSummary = 200;
const lastTurn = { userTurns: 1 };

/** What can be folded on this branch right now, and how. */
export class FoldPlanner {
  constructor(private readonly deps: FoldPlannerDeps) {}

  get live(): EntryOf<'compaction'> | null {
    return liveCompaction(this.deps.branch.entries);
  }

  /** Tokens that an entry takes in the prompt. */
  tokensOf(): (entry: StoredEntry) => number {
    const { branch } = this.deps;
    const masked = maskedEntries(branch.entries);
    return (entry) => (masked.has(entry.uuid) ? stubTokens : branch.tokensOf(entry));
  }

  /**
   * The policy's cut, then those that keep less; nothing at all is kept only for a user who asks. Without those that cannot save as much.
   */
  cuts(trigger: ContentOf<'compaction'>['trigger'], least = leastSaving): readonly Cut[] {
    const { branch, engine } = this.deps;
    const inLastTurn = (keep: typeof lastTurn | null) =>
      cutPoint(branch.entries, { keep, tokens: engine.ownTokens(engine.budget.keep), tokensOf: this.tokensOf() });
    const isReturn = trigger === 'cold' || (trigger === 'manual' && this.isReturn());
    const first = isReturn ? this.coldCut() : this.policyCut(engine.budget.maxSummary);
    if (trigger === 'cold') return first && this.saves(first, least) ? [first] : [];
    const cuts = [first, inLastTurn(lastTurn), ...(trigger === 'manual' ? [inLastTurn(null)] : [])].filter((cut) => cut !== null);
    return cuts.filter((cut) => this.saves(cut, least));
  }

  private saves(cut: Cut, least: number): boolean {
    const tokensOf = this.tokensOf();
    return (
      cut.folded.reduce((sum, entry) => sum + tokensOf(entry), 0) * (1 - 2 * longestSummary) > this.deps.engine.rawRequestTokens() * least
    );
  }

  /** Where the policy cuts when a summary of so many own tokens stands in front; `share`: and with that much less of what it would keep. */
  private policyCut(summaryTokens: number, share = 1): Cut | null {
    const { branch, engine } = this.deps;
    return cutPoint(branch.entries, {
      keep: engine.policy.compaction.keep,
      tokens: engine.keepTokens(summaryTokens) * share,
      tokensOf: this.tokensOf(),
    });
  }

  /**
   * Where a summary that was written for `cut` may be put now, the cut that keeps most first. More has been said since: that stays,
   * and so does what the policy would keep if the summary were begun now, although the summary tells of that too. Behind those come
   * cuts that fold more than it tells of.
   */
  cutsFor(cut: Cut, state: FoldedState, trigger: ContentOf<'compaction'>['trigger']): readonly Cut[] {
    const { branch, engine } = this.deps;
    const summaryTokens = engine.estimate(renderFoldedState(state, null, 0));
    const live = sentEntries(branch.entries);
    const read = live.findIndex(({ uuid }) => uuid === cut.folded.at(-1)!.uuid) + 1;
    const kept = live.slice(read);
    const own: Cut = {
      folded: live.slice(0, read),
      firstKept: kept[0] ?? null,
      kept,
      currentRequest: kept.some(isUserMessage) ? null : cut.currentRequest,
    };
    const shares = engine.budget.target === null ? [1] : [1, 0.9, 0.75];
    // Nothing that is worth folding may be left: then the summary takes the place of the state before.
    const all: Cut = { folded: [], firstKept: live[0] ?? null, kept: live, currentRequest: null };
    const now = this.cuts(trigger)[0] ?? all;
    if (trigger === 'manual' || trigger === 'cold' || now === all) return [now.folded.length < read ? now : own];
    const wanted = shares.map((share) => this.policyCut(summaryTokens, share)).filter((one) => one !== null);
    const cuts = [own, ...wanted].sort((a, b) => a.folded.length - b.folded.length);
    return cuts.filter((one, index) => one.folded.length !== cuts[index - 1]?.folded.length);
  }

  /**
   * For a summary that is used some turns from now: what is said until then is what stays, so that everything said so far can be
   * folded, or all but the turn that is not at its end. Null when nothing is worth folding.
   */
  preparedCut(): Cut | null {
    const { entries } = this.deps.branch;
    const least = this.cuts('automatic').at(-1);
    if (!least) return null;
    return isAnswer(sentEntries(entries).at(-1)) ? cutPoint(entries, { keep: null, tokens: 0, tokensOf: this.tokensOf() }) : least;
  }

  /** The same while nothing runs, shortly before the prompt cache expires: null also where an answer is missing. */
  idleCut(): Cut | null {
    const { entries } = this.deps.branch;
    const cut = cutPoint(entries, { keep: null, tokens: 0, tokensOf: this.tokensOf() });
    return cut && isAnswer(sentEntries(entries).at(-1)) && this.saves(cut, leastSaving) ? cut : null;
  }

  /** The prompt cache has expired, and the policy does something about it. */
  private isReturn(): boolean {
    const { engine, clock } = this.deps;
    const { state, matters, whenCold } = engine.cache(clock.now());
    return state === 'cold' && matters && whenCold !== 'keep';
  }

  /** Where to fold when everything is written to the cache anew: the newest message stays, and what fits of what was said before it. */
  private coldCut(): Cut | null {
    const { branch, engine } = this.deps;
    const tokensOf = this.tokensOf();
    const sent = sentEntries(branch.entries);
    const newest = sent.slice(Math.max(0, sent.findLastIndex(isUserMessage))).reduce((sum, entry) => sum + tokensOf(entry), 0);
    const tokens = engine.ownTokens(engine.policy.compaction.coldKeepTokens) + newest;
    return cutPoint(branch.entries, { keep: { userTurns: 2 }, tokens, tokensOf });
  }

  /** The same before there is a newest message. */
  cutBeforeReturn(): Cut {
    const { branch, engine } = this.deps;
    const tokensOf = this.tokensOf();
    const most = engine.ownTokens(engine.policy.compaction.coldKeepTokens);
    const turn = cutPoint(branch.entries, { keep: { userTurns: 1 }, tokens: most, tokensOf });
    const kept = turn?.kept.reduce((sum, entry) => sum + tokensOf(entry), 0) ?? 0;
    return turn && kept <= most && !turn.currentRequest ? turn : this.wholeCut();
  }

  /**
   * Own tokens that the policy keeps verbatim of what a summary tells of, all of which has been said, if a message of so many comes now;
   * old results among them are stubs then.
   */
  keptBeforeMessage(message: number): number {
    const { branch, engine } = this.deps;
    const { keep, masking } = engine.policy.compaction;
    const [userTurns, messages] = [keep.userTurns && keep.userTurns - 1, keep.messages && keep.messages - 1];
    if (userTurns === 0 || messages === 0) return 0;
    const cut = cutPoint(branch.entries, {
      keep: { ...keep, ...(userTurns ? { userTurns } : {}), ...(messages ? { messages } : {}) },
      tokens: engine.keepTokens(engine.budget.maxSummary) - message,
      tokensOf: this.tokensOf(),
    });
    // Inside of the last turn nothing is cut any more once there is another.
    if (!cut || (keep.userTurns !== undefined && cut.currentRequest)) return 0;
    const masked = maskedEntries(branch.entries);
    const { gain } = masking.enabled
      ? newStubs(
          cut.kept.filter(({ uuid }) => !masked.has(uuid)),
          {
            protectTokens: scaledToWindow(masking.protectTokens, engine.budget.effective),
            protectUserTurns: masking.protectUserTurns - 1,
            tokensOf: branch.tokensOf,
            isTold: () => true,
          },
        )
      : { gain: 0 };
    return cut.kept.reduce((sum, entry) => sum + this.tokensOf()(entry), 0) - gain;
  }

  /** Everything is folded. */
  wholeCut(): Cut {
    const whole = cutPoint(this.deps.branch.entries, { keep: null, tokens: 0, tokensOf: this.tokensOf() });
    return whole ?? { folded: [], firstKept: null, kept: [], currentRequest: null };
  }

  /** Own tokens of what has been said behind a cut. */
  saidSince({ folded }: Cut): number {
    const sent = sentEntries(this.deps.branch.entries);
    const read = sent.findIndex(({ uuid }) => uuid === folded.at(-1)?.uuid) + 1;
    return sent.slice(read).reduce((sum, entry) => sum + this.deps.branch.tokensOf(entry), 0);
  }

  /** For the last rung: as much of the tail as the policy keeps in an emergency, and less when that does not fit. */
  emergencyCuts(): readonly Cut[] {
    const { branch, engine } = this.deps;
    const tokensOf = this.tokensOf();
    const { emergencyKeepPercent } = engine.policy.compaction;
    const shares =
      emergencyKeepPercent === undefined
        ? []
        : [
            cutPoint(branch.entries, {
              keep: { percentOfMessages: emergencyKeepPercent },
              tokens: engine.ownTokens(engine.budget.limit * emergencyKeepPercent),
              tokensOf,
            }),
          ];
    const tail = [0.5, 0.25, 0.1].map((share) =>
      cutPoint(branch.entries, {
        keep: { tokens: { percent: share, min: 0, max: engine.budget.limit } },
        tokens: engine.ownTokens(engine.budget.limit * share),
        tokensOf,
      }),
    );
    return [
      ...shares,
      ...tail,
      cutPoint(branch.entries, { keep: lastTurn, tokens: engine.ownTokens(engine.budget.keep / 4), tokensOf }),
    ].filter((cut) => cut !== null);
  }

  previousState(live: EntryOf<'compaction'> | null = this.live): FoldedState | null {
    if (!live) return null;
    const stored = FoldedState.safeParse(live.content.summary);
    if (stored.success) return stored.data;
    return live.content.summaryText === '' ? null : { ...emptyFoldedState, raw: live.content.summaryText };
  }

  request(cut: Cut, instructions: string | null, previous: FoldedState | null = this.previousState()): FoldRequest {
    const { branch, engine, analyst, log } = this.deps;
    const live = this.live;
    const carried = live ? branch.tokensOf(live) : 0;
    const tokens = cut.folded.reduce((sum, entry) => sum + branch.tokensOf(entry), carried);
    // A summary as long as what it stands for would help nobody: short ranges get a short one.
    const maxSummaryTokens = Math.min(engine.budget.maxSummary, Math.max(leastSummary, Math.floor(tokens * longestSummary)));
    return {
      frames: branch.frames,
      cut,
      stubs: toldStubs(branch.entries),
      previous,
      maxSummaryTokens,
      ledgerTokens: Math.min(engine.ownTokens(engine.budget.maxSummary), maxSummaryTokens + carried),
      instructions,
      format: formatOf(engine.policy.compaction.format),
      estimate: engine.estimate,
      analyst,
      log,
    };
  }

  /** Rejects as `foldByChain` does. */
  async byChain({ cut, previous, instructions, background, inPrompt = false, first = [] }: ChainOptions, hooks: JobHooks): Promise<Fold> {
    const { branch, engine, failover, clock } = this.deps;
    const continuation = inPrompt
      ? await continuationOf({
          branch,
          engine,
          range: cut.folded,
          transcript: cut.folded,
          previous: previous && previousText(previous),
          now: clock.now(),
        })
      : null;
    const chain = [...first, ...(await engine.summarizers())];
    if (inPrompt === 'only' && !continuation)
      throw new Error(english('the prompt is not cached any more, or too short for a summary to pay'));
    return foldByChain({
      ...this.request(cut, instructions, previous),
      chain,
      continuation,
      failover,
      rule: engine.policy.summarizer,
      background,
      now: () => clock.now(),
      ...(inPrompt === 'only' ? { continuesOnly: true } : {}),
      ...hooks,
    });
  }
}

/** The end of a turn: calls that wait for their results are none. */
function isAnswer(entry: StoredEntry | undefined): boolean {
  return entry?.content.type === 'message' && entry.content.role === 'assistant';
}
