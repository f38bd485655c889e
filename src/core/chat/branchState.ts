import { estimateTokens } from '../context/measure/estimateTokens';
import type { BranchReach, LiveBranch } from '../branches/branch';
import type { CostOf } from '../cost/prices';
import { Frames } from '../frames/frames';
import type { Clock, IdSource, SessionStore, TokenCounter } from '../ports';
import type { TokenUsage } from '../models/modelEvent';
import type { ModelInfo } from '../models/modelInfo';
import { newestRequests, type UsageRecord } from '../cost/usage';
import { attachmentTokens } from '../session/userMessage';
import { isEntryOf, entryText, markTypes, type EntryContent, type NewEntry, type StoredEntry } from '../session/entry';
import type { Session } from '../session/session';
import type { NoteWrite } from '../tools/tool';

export interface BranchDeps {
  readonly store: SessionStore;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Omitted: nobody knows what requests cost. */
  readonly costOf?: CostOf;
}

export interface AppendOptions {
  readonly display: boolean;
  readonly modelFacing: boolean;
  /** The block has been streaming under this uuid. */
  readonly uuid?: string;
  /** A side entry's is recorded with the entry that it hangs off. */
  readonly usage?: readonly Omit<UsageRecord, 'entry'>[];
  /** What it did to the notes. */
  readonly notes?: readonly NoteWrite[];
  /** A side entry may belong to an earlier entry than the leaf. */
  readonly parent?: string;
  /** The queued message that it is. */
  readonly queued?: string;
}

/**
 * Characters of one token. Long runs of one character or word are more in our tokenizer, up to a hundred spaces, and may be many times
 * as many tokens for a provider: counted like that, what cannot fit would be sent. Prose and code have 3 to 5.
 */
const mostPerToken = 8;

/**
 * Characters of a branch that a session is opened with: some 250,000 tokens, which is what most windows hold. Nothing older can be sent
 * before a compaction has read it, and one that is never made should not be waited for.
 */
export const openingReach: BranchReach = { texts: 1_000_000, outline: false };
/** Entries whose texts are read in one piece: whoever else asks the store something waits for no more than that. */
const piece = 400;

/**
 * The live branch in memory: what the store returned when it was opened, plus everything appended since. Of a long one the older part
 * may be an outline at first, good for sizes and for what shapes the prompt; whoever needs what was said there waits for `whole`.
 */
export class BranchState {
  private list: StoredEntry[];
  /** There are older entries, of which nothing is known yet. */
  private cut = false;
  /** So many of the first entries have no texts yet. */
  private outlined = 0;
  private reading: Promise<void> | null = null;
  private readonly counts = new Map<string, number>();
  /** What has measured a prompt up to one of the entries, the newest of each model, by `provider/model`. */
  private readonly measured = new Map<string, UsageRecord>();
  /** The newest requests of the session, oldest first. */
  requests: readonly UsageRecord[];
  /** The newest summary that was prepared on this branch. */
  prepared: LiveBranch['prepared'];

  private constructor(
    private readonly deps: BranchDeps,
    public session: Session,
    live: LiveBranch,
    /** The session's prompts have these frames. */
    readonly frames: Frames,
  ) {
    this.list = [...live.entries];
    this.adoptMeasurement(live.lastUsage);
    this.requests = live.requests;
    this.prepared = live.prepared;
    this.adoptOutline(live);
  }

  static async load(deps: BranchDeps, session: string, reach?: BranchReach): Promise<BranchState> {
    const live = await deps.store.liveBranch(session, reach);
    return new BranchState(deps, live.session, live, new Frames(live.seal));
  }

  get entries(): readonly StoredEntry[] {
    return this.list;
  }

  /** False: what was said first has not been read. */
  get isWhole(): boolean {
    return !this.cut && this.outlined === 0;
  }

  /** Whether what this entry says has been read. */
  isRead(index: number): boolean {
    return index >= this.outlined;
  }

  /** Reads what has only been outlined. Rejects with `StoreError`, and can be asked for again. */
  async whole(): Promise<void> {
    while (!this.isWhole) {
      await this.outline();
      if (this.outlined > 0) await (this.reading ??= this.readOutlined().finally(() => (this.reading = null)));
    }
  }

  /** Has the sizes of all that is live, though not its texts; false when it had them before. Rejects with `StoreError`. */
  async outline(): Promise<boolean> {
    if (!this.cut) return false;
    const { requests } = this;
    const live = await this.deps.store.liveBranch(this.session.uuid, { texts: 0, outline: true });
    if (!this.cut) return true;
    const at = live.entries.findIndex(({ uuid }) => uuid === this.list[0]?.uuid);
    // Where the branch has been replaced, all of it is another.
    this.list = at === -1 ? [...live.entries] : [...live.entries.slice(0, at), ...this.list];
    this.adoptOutline({ ...live, outline: live.outline && { ...live.outline, count: at === -1 ? live.outline.count : at } });
    if (this.measured.size === 0) this.adoptMeasurement(live.lastUsage);
    this.prepared ??= live.prepared;
    // What has been asked for meanwhile is newer than what was read.
    if (this.requests === requests) this.requests = live.requests;
    return true;
  }

  /** The newest first, as they are what is asked for first. */
  private async readOutlined(): Promise<void> {
    const wanted = this.list.slice(0, this.outlined).map(({ uuid }) => uuid);
    const read = new Map<string, StoredEntry>();
    for (let to = wanted.length; to > 0; to -= piece)
      for (const entry of await this.deps.store.entries(wanted.slice(Math.max(0, to - piece), to))) read.set(entry.uuid, entry);
    this.list = this.list.map((entry) => read.get(entry.uuid) ?? entry);
    // The branch may have been replaced meanwhile: what has not been asked for is read by the next round.
    const asked = new Set(wanted);
    this.outlined = this.list.findLastIndex(({ uuid }, index) => index < this.outlined && !asked.has(uuid)) + 1;
  }

  private adoptOutline({ entries, outline, isCut = false }: LiveBranch): void {
    this.cut = isCut;
    this.outlined = outline?.count ?? 0;
    const guessed = new Set(outline?.guessed);
    for (const { uuid, tokenEstimate } of entries) if (tokenEstimate !== null && !guessed.has(uuid)) this.counts.set(uuid, tokenEstimate);
  }

  /** The entry that the next one follows; side entries never become a parent. */
  get leaf(): string | null {
    return this.list.at(-1)?.uuid ?? null;
  }

  readonly tokensOf = (entry: StoredEntry): number =>
    attachedTokens(entry.content) + (this.counts.get(entry.uuid) ?? entry.tokenEstimate ?? estimateTokens(entryText(entry.content)));

  /** An entry that would follow the leaf; not stored. */
  draft(content: EntryContent, options: AppendOptions): NewEntry {
    return {
      uuid: options.uuid ?? this.deps.ids.next(),
      session: this.session.uuid,
      parent: options.parent ?? this.leaf,
      createdAt: this.deps.clock.now(),
      modelFacing: options.modelFacing,
      display: options.display,
      tokenEstimate: null,
      content,
    };
  }

  /** Appends behind the leaf; durable when it resolves. Rejects with `StoreError`, and then nothing has changed. */
  async append(content: EntryContent, options: AppendOptions): Promise<StoredEntry> {
    const entry = this.draft(content, options);
    const isMark = markTypes.has(content.type);
    const usage = (options.usage ?? []).map((record) => ({
      ...this.priced(record),
      entry: isMark ? (entry.parent ?? entry.uuid) : entry.uuid,
    }));
    const memoryWrites = (options.notes ?? []).map((write) => ({ ...write, entry: entry.uuid, at: entry.createdAt }));
    const [stored] = await this.deps.store.append(this.session.uuid, {
      entries: [entry],
      usage,
      after: entry.parent,
      ...(memoryWrites.length > 0 ? { memoryWrites } : {}),
      ...(options.queued === undefined ? {} : { queued: options.queued }),
    });
    if (!isMark) this.list = [...this.list, stored!];
    if (isEntryOf(stored!, 'prepared_summary')) this.prepared = stored;
    this.remember(usage);
    return stored!;
  }

  /** Records what the provider reported for the request that led to `entry`: from now on the anchor of every size. An estimate is none. */
  async recordUsage(record: UsageRecord): Promise<UsageRecord> {
    const priced = this.priced(record);
    await this.deps.store.append(this.session.uuid, { entries: [], usage: [priced] });
    if (!priced.estimated) this.adoptMeasurement(priced);
    this.remember([priced]);
    return priced;
  }

  /** Records what was paid for without being an answer: it measures nothing. Rejects with `StoreError`. */
  async spend(usage: readonly UsageRecord[]): Promise<void> {
    const priced = usage.map((record) => this.priced(record));
    await this.deps.store.append(this.session.uuid, { entries: [], usage: priced });
    this.remember(priced);
  }

  /** What has measured the prompt of this model last; null when nothing is known to have. */
  measurement({ provider, id }: Pick<ModelInfo, 'provider' | 'id'>): UsageRecord | null {
    return this.measured.get(`${provider}/${id}`) ?? null;
  }

  private adoptMeasurement(usage: UsageRecord | null): void {
    if (usage) this.measured.set(`${usage.provider}/${usage.model}`, usage);
  }

  private remember(usage: readonly UsageRecord[]): void {
    const asked = usage.filter(({ kind }) => kind !== 'count' && kind !== 'imported' && kind !== 'aside');
    if (asked.length > 0) this.requests = newestRequests([...this.requests, ...asked]);
  }

  /** Dollars; null when nobody knows. */
  costOf(provider: string, model: string, usage: TokenUsage): number | null {
    return this.deps.costOf?.(provider, model, usage) ?? null;
  }

  /** Counting is free. */
  private priced<R extends Omit<UsageRecord, 'entry'>>(record: R): R {
    return { ...record, cost: record.kind === 'count' ? 0 : (record.cost ?? this.costOf(record.provider, record.model, record)) };
  }

  /** Counts whatever has only been estimated so far, and stores the counts. Does nothing when the counter is gone. */
  async settleCounts(): Promise<void> {
    const isOpen = (entry: StoredEntry) => !this.counts.has(entry.uuid) && entryText(entry.content) !== '';
    const unread = this.list.slice(0, this.outlined).filter(isOpen);
    await this.count(this.list.slice(this.outlined).filter(isOpen));
    for (let from = 0; from < unread.length; from += piece) {
      const uuids = unread.slice(from, from + piece).map(({ uuid }) => uuid);
      await this.count((await this.deps.store.entries(uuids)).filter(isOpen));
    }
  }

  private async count(open: readonly StoredEntry[]): Promise<void> {
    if (open.length === 0) return;
    const counted = await this.deps.counter.count(open.map((entry) => entryText(entry.content)));
    const rows = open.map((entry, index) => ({
      entry: entry.uuid,
      tokens: Math.max(counted[index]!, Math.ceil(entryText(entry.content).length / mostPerToken)),
    }));
    for (const row of rows) this.counts.set(row.entry, row.tokens);
    if (this.deps.store.status.access !== 'readonly') await this.deps.store.saveTokenCounts(rows);
  }

  /**
   * Appends behind an earlier entry (null: at the root), where a branch of its own begins, and goes there. `kept` is called when the entry
   * is on disk, whatever fails behind that. Rejects with `StoreError`.
   */
  async branchOff(parent: string | null, content: EntryContent, options: AppendOptions, kept: () => void): Promise<StoredEntry> {
    const [stored] = await this.deps.store.append(this.session.uuid, {
      entries: [{ ...this.draft(content, options), parent }],
      after: this.leaf,
    });
    kept();
    await this.reload();
    return stored!;
  }

  /** Goes to another end of the tree. Rejects with `StoreError`. */
  async moveTo(leaf: string | null): Promise<void> {
    await this.deps.store.moveLeaf(this.session.uuid, leaf);
    await this.reload();
  }

  /** Reads the branch again, after something other than an append has changed it (undo, another leaf). */
  async reload(): Promise<void> {
    const live = await this.deps.store.liveBranch(this.session.uuid, this.isWhole ? undefined : { ...openingReach, outline: true });
    this.session = live.session;
    this.list = [...live.entries];
    this.measured.clear();
    this.adoptMeasurement(live.lastUsage);
    this.requests = live.requests;
    this.prepared = live.prepared;
    this.adoptOutline(live);
  }
}

/** Counted when they were attached; the entry's own count is that of its text. */
function attachedTokens(content: EntryContent): number {
  const attachments = content.type === 'message' || content.type === 'tool_result' ? content.attachments : undefined;
  return (attachments ?? []).reduce((sum, attachment) => sum + attachmentTokens(attachment), 0);
}
