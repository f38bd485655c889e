import { noteName } from '../../../core/memory/notes';
import { isMemoryWrite } from '../../../core/memory/nudges';
import { callChange } from '../../../core/tools/files/callChange';
import type { TranscriptPage } from '../../../core/branches/branch';
import { contextExclusionOf, excludedEntries } from '../../../core/context/contextExclusion';
import { isEntryOf, type EntryOf, type StoredEntry } from '../../../core/session/entry';
import { discardedEntries, earlierSummaries, firstOfRange, liveCompaction } from '../../../core/session/liveCompaction';
import type { FoldSaving } from '../../../core/cost/returns';
import type { ApprovalQuestion } from '../../../core/tools/tool';
import type { OlderPage, RowMark, TranscriptRow } from '../../../protocol/messages';
import { RowMarks } from './rowMarks';
import { toRow, type RowContext } from './transcriptRow';

/** What rows are derived from besides their entries; read whenever rows are made. */
export interface TranscriptSource {
  /** The live part of the branch, root side first. */
  readonly entries: readonly StoredEntry[];
  /** Entries that are sent as head + tail. */
  readonly excerpted: ReadonlySet<string>;
}

/** Rows kept for a view that (re)opens; older ones come from the store, page by page. */
const keptRows = 200;
const mostRows = 300;
/** Characters of what a running call has printed. */
const mostOutput = 20_000;

/**
 * The newest part of a session's transcript: entries become rows, a call and its result become one, and the rows whose state
 * depends on later entries (compactions, nudges, tools) are derived again when those arrive.
 */
export class Transcript {
  private entries: StoredEntry[] = [];
  private more = false;
  /** Everything whose row can change later, or that changes others, from every page that was read. */
  private readonly marks = new Map<string, StoredEntry>();
  private readonly results = new Map<string, EntryOf<'tool_result'>>();
  /** What side questions came to, by the calls that put them. */
  private readonly asides = new Map<string, EntryOf<'side_question'>>();
  private readonly undone = new Set<string>();
  /** Records whose place another summary of the same range has taken. */
  private readonly replaced = new Set<string>();
  /** Entries of attempts that failed, by the `seq` of the mark that says so. */
  private readonly discarded = new Map<string, number>();
  /** What a model has written up to here: an attempt before it has been repeated, and its remains are not shown any more. */
  private lastWritten = 0;
  private lastSeq = 0;
  /** Rows that show the id of their model because nobody has said its name, from every page that was read. */
  private readonly unnamed = new Map<string, string>();
  /** Rows that a view may show although their entries are not kept here. */
  private readonly beyond = new Set<string>();
  private readonly atRows = new RowMarks();
  private pins: ReadonlySet<string> = new Set();
  private savings: ReadonlyMap<string, FoldSaving> = new Map();
  private readonly shown = new Map<string, string>();
  /** What the user is asked about calls that run, and the end of what these have printed. */
  private readonly questions = new Map<string, ApprovalQuestion>();
  private readonly outputs = new Map<string, string>();
  /** Calls of the running turn. */
  private readonly running = new Set<string>();

  constructor(
    private readonly source: TranscriptSource,
    private readonly modelName: (id: string) => string,
    /** Asks for `anew` with these entries, which are not kept here: their rows look different now. */
    private readonly reread: (uuids: readonly string[]) => void,
  ) {}

  /** Replaces everything by the newest page. */
  load(page: TranscriptPage): void {
    const { entries, hasMore, beyondLeaf } = page;
    this.entries = [];
    this.marks.clear();
    this.results.clear();
    this.asides.clear();
    this.undone.clear();
    this.replaced.clear();
    this.discarded.clear();
    this.lastWritten = 0;
    this.lastSeq = 0;
    this.unnamed.clear();
    this.beyond.clear();
    this.shown.clear();
    this.running.clear();
    this.questions.clear();
    this.outputs.clear();
    this.more = hasMore;
    this.learn(this.source.entries);
    this.learn(entries);
    this.entries = entries.filter((entry) => this.isRow(entry));
    this.atRows.clear(beyondLeaf);
    this.atRows.learn(page, true, (entry) => this.isRow(entry));
    this.rows();
  }

  get hasMore(): boolean {
    return this.more;
  }

  rows(): TranscriptRow[] {
    return this.anew(this.entries);
  }

  /** Returns the marks of all rows that are kept. */
  rowMarks(): RowMark[] {
    return this.atRows.of(this.entries, true);
  }

  /** Returns the marks of one row, kept or not, which take the place of those it had. */
  markOf(id: string): RowMark {
    return this.atRows.at(id, this.entries.at(-1)?.uuid === id);
  }

  /** An older page, oldest row first. */
  older(page: TranscriptPage): OlderPage {
    const { entries, hasMore } = page;
    this.learn(entries);
    this.atRows.learn(page, false, (entry) => this.isRow(entry));
    const rows = this.anew(entries);
    for (const { id } of rows) this.beyond.add(id);
    return { rows, hasMore, marks: this.atRows.of(entries, false) };
  }

  /** The row that the entry adds, if it adds one; then the earlier rows that it changes. */
  append(entry: StoredEntry): {
    readonly added: TranscriptRow | null;
    readonly changed: readonly TranscriptRow[];
    /** Rows at which it says something else of files now. */
    readonly marked: readonly string[];
  } {
    this.learn([entry]);
    if (entry.content.type === 'tool_call') this.running.add(entry.uuid);
    // The calls of a failed attempt are never run.
    for (const uuid of discardedEntries([entry])) this.running.delete(uuid);
    const row = toRow(entry, this.context());
    const marked = this.atRows.append(entry, row !== null);
    if (row) {
      this.entries.push(entry);
      this.remembered(row);
      if (this.entries.length > mostRows) {
        for (const { uuid } of this.entries.slice(0, -keptRows)) this.beyond.add(uuid);
        this.entries = this.entries.slice(-keptRows);
        this.more = true;
      }
    }
    return { added: row, changed: [...this.changes(), ...this.again(this.movedBy(entry))], marked };
  }

  /** The model has begun to write again; rows of the attempts before it, which go. */
  writes(): readonly string[] {
    this.lastWritten = this.lastSeq + 0.5;
    const gone = this.entries.filter(({ uuid }) => this.isRepeated(uuid)).map(({ uuid }) => uuid);
    if (gone.length > 0) this.entries = this.entries.filter(({ uuid }) => !this.isRepeated(uuid));
    return gone;
  }

  /** Entries whose rows show the id of one of the models: they are not all kept here. */
  unnamedOf(models: ReadonlySet<string>): string[] {
    return [...this.unnamed].flatMap(([uuid, model]) => (models.has(model) ? [uuid] : []));
  }

  /** The rows of these entries, now that their models have names. */
  named(entries: readonly StoredEntry[]): readonly TranscriptRow[] {
    return this.anew(entries.filter(({ uuid }) => this.unnamed.delete(uuid)));
  }

  /** The rows of these entries as they are now. */
  anew(entries: readonly StoredEntry[]): TranscriptRow[] {
    const context = this.context();
    return entries.flatMap((entry) => this.remembered(toRow(entry, context)));
  }

  /** Messages that are pinned from now on; the rows that look different by it. */
  pinned(uuids: ReadonlySet<string>): readonly TranscriptRow[] {
    const before = this.pins;
    this.pins = uuids;
    return this.again(new Set([...before, ...uuids].filter((uuid) => before.has(uuid) !== uuids.has(uuid))));
  }

  /** What compactions on a return have saved; the rows that tell it now. */
  saved(savings: readonly FoldSaving[]): readonly TranscriptRow[] {
    this.savings = new Map(savings.map((one) => [one.compaction, one]));
    return this.again(new Set(this.savings.keys()));
  }

  /** Entries that are in the context no longer, or again: an undo brings back what was said of those it unfolds. */
  private movedBy(entry: StoredEntry): ReadonlySet<string> {
    if (entry.content.type === 'compaction_undone') return excludedEntries(this.source.entries);
    return new Set(contextExclusionOf(entry)?.entries);
  }

  private again(uuids: ReadonlySet<string>): readonly TranscriptRow[] {
    const beyond = [...uuids].filter((uuid) => this.beyond.has(uuid));
    if (beyond.length > 0) this.reread(beyond);
    return this.anew(this.entries.filter(({ uuid }) => uuids.has(uuid)));
  }

  /** What a call asks the user, or (null) no longer does; its row, when it has one here. */
  asked(call: string, question: ApprovalQuestion | null): TranscriptRow | null {
    if (question) this.questions.set(call, question);
    else this.questions.delete(call);
    const entry = this.marks.get(call);
    return entry ? toRow(entry, this.context()) : null;
  }

  printed(call: string, text: string): void {
    this.outputs.set(call, ((this.outputs.get(call) ?? '') + text).slice(-mostOutput));
  }

  /** Calls that have no result by now will not get one. */
  endTurn(): readonly TranscriptRow[] {
    this.running.clear();
    this.questions.clear();
    this.outputs.clear();
    return this.changes();
  }

  /**
   * The first row that is not folded; null when nothing is folded; undefined when that row is older than what is kept here, so
   * that only a complete snapshot tells.
   */
  firstKept(): string | null | undefined {
    const foldedBefore = this.foldedBefore();
    if (foldedBefore === 0) return null;
    const index = this.entries.findIndex((entry) => entry.seq >= foldedBefore);
    if (index === 0 && this.more) return undefined;
    return this.entries[index]?.uuid ?? undefined;
  }

  /** Rows whose state has changed since they were last made. */
  private changes(): TranscriptRow[] {
    const context = this.context();
    return [...this.marks.values()].flatMap((entry) => {
      const before = this.shown.get(entry.uuid);
      if (before === undefined || (entry.content.type === 'tool_call' && before !== 'running')) return [];
      const row = toRow(entry, context);
      return row && before !== stateOf(row) ? this.remembered(row) : [];
    });
  }

  private remembered(row: TranscriptRow | null): TranscriptRow[] {
    if (!row) return [];
    if (this.marks.has(row.id)) this.shown.set(row.id, stateOf(row));
    return [row];
  }

  private learn(entries: readonly StoredEntry[]): void {
    for (const entry of entries) {
      this.lastSeq = Math.max(this.lastSeq, entry.seq);
      for (const uuid of discardedEntries([entry])) this.discarded.set(uuid, entry.seq);
      if (isWritten(entry)) this.lastWritten = Math.max(this.lastWritten, entry.seq);
      if (isEntryOf(entry, 'tool_result')) this.results.set(entry.content.callId, entry);
      else if (isEntryOf(entry, 'side_question') && entry.parent !== null) this.asides.set(entry.parent, entry);
      else if (isEntryOf(entry, 'compaction_undone')) this.undone.add(entry.content.target);
      if (isEntryOf(entry, 'compaction') && entry.content.supersedes) this.replaced.add(entry.content.supersedes);
      if (isEntryOf(entry, 'nudge') || isEntryOf(entry, 'compaction') || isEntryOf(entry, 'tool_call')) this.marks.set(entry.uuid, entry);
      const model = 'model' in entry.content ? entry.content.model : undefined;
      if (model && this.modelName(model) === model) this.unnamed.set(entry.uuid, model);
    }
  }

  private isRepeated(uuid: string): boolean {
    return (this.discarded.get(uuid) ?? Infinity) < this.lastWritten;
  }

  private isRow(entry: StoredEntry): boolean {
    return toRow(entry, this.context()) !== null;
  }

  private context(): RowContext {
    const live = liveCompaction(this.source.entries);
    let excluded: ReadonlySet<string> | undefined;
    return {
      modelName: this.modelName,
      foldedBefore: this.foldedBefore(),
      // Asked for user messages only, which are few: it makes the projection.
      excerpted: (uuid) => this.source.excerpted.has(uuid),
      result: (callId) => this.results.get(callId),
      aside: (uuid) => this.asides.get(uuid),
      output: (uuid) => this.outputs.get(uuid),
      approval: (uuid) => this.questions.get(uuid),
      isRunning: (uuid) => this.running.has(uuid),
      compactionState: (uuid) => ({
        state: this.undone.has(uuid) ? 'undone' : uuid === live?.uuid ? 'live' : this.replaced.has(uuid) ? 'replaced' : 'superseded',
        reusable: live !== null && earlierSummaries(live, (known) => this.marks.get(known)).some((earlier) => earlier.uuid === uuid),
      }),
      isRepeated: (uuid) => this.isRepeated(uuid),
      saving: (uuid) => this.savings.get(uuid) ?? null,
      isPinned: (uuid) => this.pins.has(uuid),
      isExcluded: (uuid) => (excluded ??= excludedEntries(this.source.entries)).has(uuid),
      nudgeOutcome: (entry) => this.nudgeOutcome(entry),
    };
  }

  /** A nudge's cycle ends with the next compaction that was not taken back. A write that failed has written nothing. */
  private nudgeOutcome(nudge: StoredEntry): Pick<TranscriptRow & { kind: 'nudge' }, 'outcome' | 'writes'> {
    const after = [...this.marks.values()].filter((entry) => entry.seq > nudge.seq);
    const end = Math.min(
      ...after.filter((entry) => entry.content.type === 'compaction' && !this.undone.has(entry.uuid)).map((entry) => entry.seq),
    );
    const writes = after.flatMap((entry) => (entry.seq < end ? (memoryWriteOf(entry, this.results) ?? []) : []));
    const isWritten = after.some((entry) => entry.seq < end && isMemoryWrite(entry));
    return { outcome: isWritten ? 'acted' : end === Infinity ? 'delivered' : 'expired', writes };
  }

  private foldedBefore(): number {
    const { entries } = this.source;
    const live = liveCompaction(entries);
    if (!live) return 0;
    const record = firstOfRange(live, entries);
    const kept = entries.find((entry) => entry.uuid === record.content.firstKeptEntry);
    return (kept ?? record).seq;
  }
}

function isWritten({ content }: StoredEntry): boolean {
  return content.type === 'thinking' || content.type === 'tool_call' || (content.type === 'message' && content.role === 'assistant');
}

/** Null for what writes no note, or did not succeed. */
function memoryWriteOf(
  entry: StoredEntry,
  results: ReadonlyMap<string, EntryOf<'tool_result'>>,
): (TranscriptRow & { kind: 'nudge' })['writes'][number] | null {
  const { content } = entry;
  if (content.type !== 'tool_call' || !isMemoryWrite(entry) || results.get(content.callId)?.content.status !== 'ok') return null;
  const { command, path, new_path: renamed } = content.input as Readonly<Record<string, unknown>>;
  return {
    call: entry.uuid,
    path: noteName(String(renamed ?? path ?? '')),
    command: String(command),
    hasDiff: callChange(content) !== null,
  };
}

/** Tells what can change of a row. */
function stateOf(row: TranscriptRow): string {
  return row.kind === 'compaction'
    ? `${row.state} ${row.reusable}`
    : row.kind === 'nudge'
      ? `${row.outcome} ${row.writes.length}`
      : row.kind === 'tool'
        ? row.status
        : '';
}
