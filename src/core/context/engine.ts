import { cjkShare, estimateTokens, learn, startingFactor, type CalibrationRow } from './measure/estimateTokens';
import type { ModelClient, SessionStore, Summarizer, TokenCounter } from '../ports';
import { usableLevel, type ModelInfo, type ThinkingLevel } from '../models/modelInfo';
import type { ModelRequest, ToolSpec } from '../models/modelRequest';
import type { TokenUsage } from '../models/modelEvent';
import type { Attachment } from '../session/userMessage';
import { isUserMessage, type ContentOf, type StoredEntry } from '../session/entry';
import { afterLastBreak, leftOutEntries, recordedBound, CompactionChain } from '../session/liveCompaction';
import type { BranchState } from '../chat/branchState';
import { promptId } from '../chat/turn/systemPrompt';
import { nudgeStates, type NudgeStatus } from '../memory/nudges';
import { countMessages, countSent, sentEntries } from '../compaction/ladder/cutPoint';
import { draftSize } from './measure/draftSize';
import { compactionDue, resolveBudget, thresholdsOf, type BoundInUse, type Budget } from './measure/budget';
import {
  type EntrySize,
  forecastByMessages,
  forecastTurns,
  largestEntries,
  measure,
  type Measurement,
  recentTurns,
  toSnapshot,
} from './measure/measure';
import type { Policy, SummarizerEntry } from './policy/policy';
import { fillAttachments } from './projection/attachments';
import { project, type Projection, type PromptMessage } from './projection/projection';
import type { CacheState, CacheTime, ContextSnapshot } from './measure/snapshot';
import { cacheState } from '../cost/promptCache';

/** A model that a turn can be sent to, with whoever writes its summaries. */
export interface ModelBinding {
  readonly client: ModelClient;
  readonly info: ModelInfo;
  /** Null when nothing generates: compaction then uses the extractive rung. */
  readonly summarizer: Summarizer | null;
  /** The summarisers of a policy's list that can be had, in its order; omitted: only `summarizer`. Never rejects. */
  readonly chain?: (entries: readonly SummarizerEntry[]) => Promise<readonly Summarizer[]>;
}

interface Memo {
  readonly entries: readonly StoredEntry[];
  readonly projection: Projection;
  /** Share of CJK characters in it; null until it is asked for. */
  cjkShare: number | null;
}

/** Tokens of an entry below which its head and tail say nothing. */
const leastShown = 100;

/**
 * Knows, for one session, how large its context is and what is due. The only stateful part of the context manager: the model in
 * use, what was learned about its tokenizer, the composer's draft and the text that is streaming.
 */
export class ContextEngine {
  private calibration: CalibrationRow | undefined;
  private readonly known = new Map<string, number>();
  private draftTokens = 0;
  private liveTokens = 0;
  private memo: Memo | null = null;
  /** Null: as the model does by itself. */
  private thinkingInUse: ThinkingLevel | null = null;
  budget: Budget;
  /** What the provider is paid for where nothing is held. */
  private cacheTime: CacheTime = '5m';
  /** What is being, and has been, prepared for a return after the prompt cache has expired, or for when the context is full. */
  idleCache: {
    readonly askedAt: () => number | null;
    readonly folded: (said: number, added: number) => number | null;
    readonly full: (said: number, added: number) => number | null;
  } = { askedAt: () => null, folded: () => null, full: () => null };
  /** Whether a summary is being written that nobody waits for. */
  isSummarizing: () => boolean = () => false;
  /** Tokens of one entry as the policy has them: `budget` may have less, where that did not fit. */
  private policyOversized: number;
  private readonly chain: CompactionChain;
  /** It names the system text in use. */
  readonly promptId: string;

  constructor(
    private readonly branch: BranchState,
    private readonly store: SessionStore,
    private readonly counter: TokenCounter,
    private prompt: { readonly system: string; readonly tools: readonly ToolSpec[] },
    private policyInUse: Policy,
    private bindingInUse: ModelBinding,
  ) {
    this.budget = resolveBudget(policyInUse, bindingInUse.info);
    this.policyOversized = this.budget.oversized;
    this.chain = new CompactionChain(store);
    this.promptId = promptId(branch.frames);
  }

  get binding(): ModelBinding {
    return this.bindingInUse;
  }

  /** Who may write summaries, the first first; empty when nothing generates. */
  async summarizers(): Promise<readonly Summarizer[]> {
    const { chain, summarizer } = this.bindingInUse;
    if (chain) return chain(this.policyInUse.summarizer.chain);
    return summarizer ? [summarizer] : [];
  }

  /** Adopts another system text: a prefix break that whoever asks has to declare. */
  useSystem(system: string): void {
    if (system === this.prompt.system) return;
    this.prompt = { ...this.prompt, system };
    this.memo = null;
  }

  /** Adopts other tools: a prefix break that whoever asks has to declare. */
  useTools(tools: readonly ToolSpec[]): void {
    if (JSON.stringify(tools) === JSON.stringify(this.prompt.tools)) return;
    this.prompt = { ...this.prompt, tools };
    this.memo = null;
  }

  get policy(): Policy {
    return this.policyInUse;
  }

  /**
   * Adopts a model and a policy; the sizes that follow are re-estimated with that model's learned factor. True: in tokens, something is due
   * elsewhere now.
   */
  async use(binding: ModelBinding, policy: Policy, thinking: ThinkingLevel | null = null): Promise<boolean> {
    const before = JSON.stringify(thresholdsOf(this.budget));
    const changed = binding.info.id !== this.bindingInUse.info.id || binding.info.provider !== this.bindingInUse.info.provider;
    this.bindingInUse = binding;
    this.policyInUse = policy;
    this.thinkingInUse = usableLevel(thinking, binding.info.thinking);
    this.budget = resolveBudget(policy, binding.info, this.thinkingInUse);
    this.policyOversized = this.budget.oversized;
    const moved = JSON.stringify(thresholdsOf(this.budget)) !== before;
    this.memo = null;
    this.resumeBound();
    if (changed || !this.calibration)
      this.calibration = (await this.store.calibration(this.calibrationKey)).find((row) => row.kind === 'prompt');
    return moved;
  }

  /**
   * Shows half as much of long entries, where nothing else has made the request fit: in a small window the instructions and tools leave
   * less than the policy's share for one message. False when they are as short as they can be.
   */
  showLess(): boolean {
    const oversized = Math.floor(this.budget.oversized / 2);
    if (oversized < leastShown) return false;
    this.bound(oversized);
    return true;
  }

  /** Entries are shown as this cycle says that they were, if that was less than the policy, which still is the same, allows. */
  resumeBound(): void {
    const recorded = recordedBound(this.branch.entries);
    this.bound(recorded?.insteadOf === this.policyOversized ? Math.min(recorded.oversized, this.policyOversized) : this.policyOversized);
  }

  get boundInUse(): BoundInUse {
    return { oversized: this.budget.oversized, policyOversized: this.policyOversized };
  }

  private bound(oversized: number): void {
    if (oversized === this.budget.oversized) return;
    this.budget = { ...this.budget, oversized };
    this.memo = null;
  }

  /** Calibrated tokens of the request by our own count alone: what a prompt takes of which no beginning has been measured. */
  estimatedTokens(): number {
    return Math.round(this.factor * this.rawRequestTokens());
  }

  /** A refusal has told that the model takes less than was thought. */
  async learnWindow(window: number): Promise<void> {
    const { info } = this.bindingInUse;
    if (window < info.window)
      await this.use(
        { ...this.bindingInUse, info: { ...info, window, maxOutput: Math.min(info.maxOutput, window) } },
        this.policyInUse,
        this.thinkingInUse,
      );
  }

  private get calibrationKey(): string {
    return `${this.bindingInUse.info.provider}/${this.bindingInUse.info.id}`;
  }

  /** Calibrated tokens of one of our own counts. */
  private get factor(): number {
    return this.bindingInUse.client.generates ? startingFactor(this.calibration, this.calibration ? 0 : this.cjkShare()) : 1;
  }

  private cjkShare(): number {
    const { pieces } = this.projection();
    const share = () => cjkShare(pieces.flatMap(({ block }) => ('text' in block ? [block.text] : [])));
    return this.memo ? (this.memo.cjkShare ??= share()) : share();
  }

  /** Finds out how many compactions there were before the live one. True: the snapshot is another now. Rejects with `StoreError`. */
  settleCompactions(): Promise<boolean> {
    return this.chain.settle(this.branch.entries);
  }

  /** Counts the constant parts of the prompt once, so that they are not estimated for ever. */
  async countPrompt(): Promise<void> {
    const texts = [this.prompt.system, ...this.prompt.tools.map((tool) => JSON.stringify(tool))].filter((text) => !this.known.has(text));
    if (texts.length === 0) return;
    const counts = await this.counter.count(texts);
    texts.forEach((text, index) => this.known.set(text, counts[index]!));
    this.memo = null;
  }

  readonly estimate = (text: string): number => this.known.get(text) ?? estimateTokens(text);

  projection(entries: readonly StoredEntry[] = this.branch.entries): Projection {
    const { memo } = this;
    if (memo?.entries === entries) return memo.projection;
    const projection = project({
      entries,
      system: this.prompt.system,
      tools: this.prompt.tools,
      budget: this.budget,
      frames: this.branch.frames,
      promptId: this.promptId,
      model: this.bindingInUse.info.id,
      tokensOf: this.branch.tokensOf,
      estimate: this.estimate,
    });
    if (entries === this.branch.entries) this.memo = { entries, projection, cjkShare: null };
    return projection;
  }

  /** Forget the cached projection: token counts have become known since. */
  recounted(): void {
    this.memo = null;
  }

  measure(entries: readonly StoredEntry[] = this.branch.entries): Measurement {
    return measure({
      entries,
      projection: this.projection(entries),
      lastUsage: this.branch.measurement(this.bindingInUse.info),
      provider: this.bindingInUse.info.provider,
      model: this.bindingInUse.info.id,
      factor: this.factor,
      estimate: this.estimate,
    });
  }

  /** The largest entries of the prompt, and how many tokens one of our own count is. */
  breakdown(limit: number): { readonly largest: EntrySize[]; readonly scale: number } {
    const measurement = this.measure();
    return { largest: largestEntries(this.projection(), measurement, limit), scale: measurement.scale };
  }

  nudges(used: number): NudgeStatus[] {
    return nudgeStates(this.branch.entries, this.budget, used);
  }

  /** What would be sent now, or other messages in the same frame. Rejects with `StoreError` when attachments cannot be read. */
  async request(messages: readonly PromptMessage[] = this.projection().messages): Promise<ModelRequest> {
    if (!this.branch.isWhole) throw new Error('A request was made of a branch whose texts have not been read');
    const { system, systemSummary, tools } = this.projection();
    const { outputTokens: maxOutputTokens } = this.budget;
    const isKept = this.bindingInUse.client.cacheRules !== undefined;
    const { id: model, thinking: control } = this.bindingInUse.info;
    const thinking = this.lostThinking() ? usableLevel('off', control) : this.thinkingInUse;
    return {
      model,
      system,
      ...(systemSummary === null ? {} : { systemSummary }),
      tools,
      messages: await fillAttachments(messages, this.branch.frames, this.store),
      maxOutputTokens,
      ...(thinking === null ? {} : { thinking }),
      ...(isKept ? { cacheTime: this.cacheTime } : {}),
    };
  }

  /** Whether the unfinished turn has thought, between its calls, what can no longer be sent. */
  private lostThinking(): boolean {
    const { entries } = this.branch;
    const { id } = this.bindingInUse.info;
    const turn = currentTurn(entries);
    return (
      thinksThroughCalls(entries.slice(turn, afterLastBreak(entries)), (thought) => thought.model === id) ||
      thinksThroughCalls(entries.slice(turn), (thought) => thought.model === id && thought.promptId !== this.promptId)
    );
  }

  /** Whether a prefix break would now part calls that are being answered from the thinking they came from. */
  get isThinkingThroughCalls(): boolean {
    const { entries } = this.branch;
    const { id } = this.bindingInUse.info;
    return thinksThroughCalls(
      entries.slice(Math.max(currentTurn(entries), afterLastBreak(entries))),
      (thought) => thought.model === id && thought.promptId === this.promptId,
    );
  }

  /** Whether the policy's trigger has been reached. */
  compactionDue(used: number): boolean {
    return compactionDue(this.policyInUse.compaction, this.budget, used, countMessages(this.branch.entries));
  }

  /** Whether it would still be due, or short of what the policy wants to come down to, with so many tokens and messages left. */
  isDueAfter(used: number, messages: number): boolean {
    const { target } = this.budget;
    return compactionDue(this.policyInUse.compaction, this.budget, used, messages) || (target !== null && used >= target);
  }

  /** Our own count of what the model counts as so many tokens. */
  ownTokens(tokens: number): number {
    return Math.floor(tokens / this.factor);
  }

  /** What the model counts for so many of our own. */
  modelTokens(own: number): number {
    return Math.round(own * this.factor);
  }

  /** Own, uncalibrated tokens that a compaction may leave verbatim behind a summary of `summaryTokens`. */
  keepTokens(summaryTokens: number): number {
    const { keep, target } = this.budget;
    if (target === null) return this.ownTokens(keep);
    // What stands in front of the messages belongs to the size that has to come down, and so does the summary that is to be written.
    const fixed =
      this.rawRequestTokens() -
      this.projection().pieces.reduce((sum, piece) => sum + (piece.segment === 'summary' || piece.entryId === null ? 0 : piece.tokens), 0);
    const summary = this.projection().pieces.reduce((sum, piece) => sum + (piece.segment === 'summary' ? piece.tokens : 0), 0);
    return Math.max(0, Math.min(this.ownTokens(keep), this.ownTokens(target) - 1 - fixed + summary - summaryTokens));
  }

  /** Own, uncalibrated count of the request that would be sent now. */
  rawRequestTokens(): number {
    const projection = this.projection();
    const fixed =
      this.estimate(projection.system) + projection.tools.reduce((sum, tool) => sum + this.estimate(JSON.stringify(tool)) + 8, 0);
    return fixed + projection.pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  }

  /** Calibrated tokens of what stands at the end of the request only to make it valid: the next message takes its place. */
  framingTokens(): number {
    const last = this.projection().pieces.at(-1);
    return last && last.entryId === null ? Math.round(last.tokens * this.factor) : 0;
  }

  /** Learns from what the provider reported for a request that we had counted as `rawTokens`. */
  async learn(usage: TokenUsage, rawTokens: number): Promise<void> {
    const row = learn(this.calibration, this.calibrationKey, usage.input + usage.cacheRead + usage.cacheWrite, rawTokens);
    if (!row || row === this.calibration) return;
    this.calibration = row;
    await this.store.saveCalibration(row);
  }

  /** Calibrated tokens that the largest of the last turns took; null while there are too few to tell. */
  turnGrowth(): number | null {
    const recent = recentTurns(this.branch.entries, this.projection());
    return recent.length < 2 ? null : Math.max(...recent) * this.factor;
  }

  /** Takes the raw tokens of what is written, and what is attached. Returns whether some of it is too long to be sent whole. */
  setDraft(text: number, attachments: readonly Attachment[]): boolean {
    const { tokens, isCut } = draftSize(text, attachments, this.budget.oversized);
    this.draftTokens = tokens * this.factor;
    return isCut;
  }

  setLive(text: string): void {
    this.liveTokens = text === '' ? 0 : estimateTokens(text) * this.factor;
  }

  /**
   * Decides for how long the provider is to keep a prompt of which it has nothing; while it has something, what was paid for holds: a time
   * that changed behind the system text would last no longer than that. Rejects as `decide` does.
   */
  async chooseCacheTime(now: number, decide: () => Promise<CacheTime>): Promise<void> {
    const { state, time } = this.cache(now);
    if (state === 'warm' && time !== null) this.cacheTime = time;
    else if (state === 'cold') this.cacheTime = await decide();
  }

  /** What the provider still has of the prompt, and what the next message costs. */
  cache(now: number, measurement = this.measure()): CacheState {
    const { client, info } = this.bindingInUse;
    const { segments } = measurement;
    const { whenCold, coldLeastTokens: leastTokens } = this.policyInUse.compaction;
    const added = this.liveTokens + this.draftTokens;
    const used = Math.round(measurement.used + added);
    return cacheState({
      now,
      rules: client.cacheRules ?? null,
      provider: info.provider,
      model: info.id,
      entries: this.branch.entries,
      requests: this.branch.requests,
      time: this.cacheTime,
      used,
      head: segments.system + segments.tools,
      askedAt: this.idleCache.askedAt(),
      folded: client.cacheRules ? this.idleCache.folded(measurement.used, Math.round(added)) : null,
      full: client.cacheRules ? this.idleCache.full(measurement.used, Math.round(added)) : null,
      whenCold,
      leastTokens,
      costOf: (usage) => this.branch.costOf(info.provider, info.id, usage),
    });
  }

  snapshot(now: number): ContextSnapshot {
    const measurement = this.measure();
    const used = measurement.used + this.liveTokens + this.draftTokens;
    const { enabled } = this.policyInUse.compaction;
    const target = enabled ? this.budget.trigger : this.budget.limit;
    const byTokens = forecastTurns(this.branch.entries, this.projection(), used, target, this.factor);
    const sent = enabled && this.budget.triggerMessages > 0 ? sentEntries(this.branch.entries) : null;
    const byMessages = sent && forecastByMessages(sent, this.budget.triggerMessages);
    return toSnapshot({
      sessionId: this.branch.session.id,
      provider: this.bindingInUse.info.provider,
      model: this.bindingInUse.info.id,
      policy: this.policyInUse,
      budget: this.budget,
      entries: this.branch.entries,
      measurement,
      nudges: this.nudges(used),
      liveTokens: this.liveTokens,
      draftTokens: this.draftTokens,
      turnsLeft: byTokens === null || byMessages === null ? (byTokens ?? byMessages) : Math.min(byTokens, byMessages),
      isDueByMessages: sent !== null && compactionDue(this.policyInUse.compaction, this.budget, 0, countSent(sent) + 1),
      compactions: this.chain.count(this.branch.entries),
      cache: this.cache(now, measurement),
      summarizing: this.isSummarizing(),
      now,
    });
  }
}

/** Index of what came after the user's last message. */
function currentTurn(entries: readonly StoredEntry[]): number {
  return entries.findLastIndex(isUserMessage) + 1;
}

function thinksThroughCalls(entries: readonly StoredEntry[], counts: (thought: ContentOf<'thinking'>) => boolean): boolean {
  const leftOut = leftOutEntries(entries);
  const own = entries.filter(({ uuid }) => !leftOut.has(uuid));
  return (
    own.some(({ content }) => content.type === 'tool_call') &&
    own.some(({ content }) => content.type === 'thinking' && counts(content) && (content.signature ?? content.redactedData) !== undefined)
  );
}
