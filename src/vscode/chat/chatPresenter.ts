import type { ConversationEvent, TurnError } from '../../core/chat/events';
import { turnErrorType } from '../../core/chat/events';
import { shown } from '../../core/l10n';
import type { Pin } from '../../core/session/storage';
import type { TranscriptPage } from '../../core/branches/branch';
import { isUserMessage, type StoredEntry } from '../../core/session/entry';
import type { QueuedMessage } from '../../core/session/userMessage';
import type { Session } from '../../core/session/session';
import { isPlanning } from '../../core/plan/planMode';
import { shownTodos } from '../../core/todo/todoList';
import type { ContextSnapshot } from '../../core/context/measure/snapshot';
import type { ApprovalQuestion } from '../../core/tools/tool';
import type {
  Delta,
  FullContext,
  LeftBranch,
  LiveBlock,
  Mode,
  OlderPage,
  SessionHeader,
  TurnState,
  ViewSnapshot,
} from '../../protocol/messages';
import { Transcript, type TranscriptSource } from './transcript/transcript';

export interface PresenterSource extends TranscriptSource {
  readonly session: Session;
  readonly queued: readonly QueuedMessage[];
  readonly snapshot: ContextSnapshot;
}

export interface PresenterOutput {
  /** What a model is called, by its id. */
  modelName(id: string): string;
  send(delta: Delta): void;
  /** The change cannot be told by deltas: the view needs everything anew. */
  resync(): void;
  /** Rows of these entries, which are not kept here, look different now: `anew` is to be called with them. */
  reread(uuids: readonly string[]): void;
  now(): number;
}

export type SessionParts = Pick<
  ViewSnapshot,
  'rows' | 'marks' | 'hasMore' | 'live' | 'turn' | 'queue' | 'left' | 'full' | 'todos' | 'mode'
> & { readonly session: SessionHeader; readonly context: ContextSnapshot };

/** `id` of the turn state while a compaction runs that the user asked for. */
const compactionTurn = 'compaction';
/** `id` of the turn state while another window works in the session. */
const elsewhereTurn = 'elsewhere';

/**
 * Turns one conversation's events into what the view shows. Holds what a view that opens in the middle of a turn has to be
 * told: the newest rows, the blocks that are streaming, the turn's phase.
 *
 *   idle ──turn_started──▶ preparing ──phase_changed──▶ … ──turn_ended──▶ idle
 *     ├──compaction_started──▶ compacting ──compaction_ended / settle──▶ idle
 *     └──elsewhere_changed──▶ elsewhere ──elsewhere_changed──▶ idle
 */
export class ChatPresenter {
  private readonly transcript: Transcript;
  private readonly live = new Map<string, LiveBlock>();
  private turn: TurnState = null;
  private left: LeftBranch = null;
  private full: FullContext = null;
  /** Tells whether the message of the running turn is on disk, and whether its error is. */
  private accepted = false;
  private errorRecorded = false;
  private ephemeral = 0;
  /** The to-do list that the view has, as JSON. */
  private shownList = '[]';
  /** What the view was told before the session began is what it began with. */
  private shownMode: Mode;

  constructor(
    private readonly source: PresenterSource,
    private readonly output: PresenterOutput,
  ) {
    this.transcript = new Transcript(
      source,
      (id) => output.modelName(id),
      (uuids) => output.reread(uuids),
    );
    this.shownMode = this.mode;
  }

  load(page: TranscriptPage): void {
    this.transcript.load(page);
  }

  older(page: TranscriptPage): OlderPage {
    return this.transcript.older(page);
  }

  parts(): SessionParts {
    const todos = shownTodos(this.source.entries);
    this.shownList = JSON.stringify(todos);
    this.shownMode = this.mode;
    return {
      session: header(this.source.session),
      rows: this.transcript.rows(),
      marks: this.transcript.rowMarks(),
      hasMore: this.transcript.hasMore,
      live: [...this.live.values()],
      turn: this.turn,
      left: this.left,
      full: this.full,
      ...(todos.length > 0 ? { todos } : {}),
      ...(this.shownMode === 'plan' ? { mode: 'plan' } : {}),
      queue: this.source.queued.map(queueItem),
      context: this.source.snapshot,
    };
  }

  /** Entries whose rows show the id of one of the models. */
  unnamedOf(models: ReadonlySet<string>): string[] {
    return this.transcript.unnamedOf(models);
  }

  /** The models of these entries have names now. */
  named(entries: readonly StoredEntry[]): void {
    for (const row of this.transcript.named(entries)) this.output.send({ kind: 'row_changed', row });
  }

  /** The rows of these entries are shown as they are now. */
  anew(entries: readonly StoredEntry[]): void {
    for (const row of this.transcript.anew(entries)) this.output.send({ kind: 'row_changed', row });
  }

  /** The turn waits for the user's decision about a full context. */
  get isFull(): boolean {
    return this.full !== null;
  }

  get turnState(): TurnState {
    return this.turn;
  }

  /** The user has asked the turn to end. */
  stopping(): void {
    if (this.turn) this.setTurn({ ...this.turn, phase: 'stopping', retry: null });
  }

  /** A compaction that the user asked for has ended, however it did. */
  settle(): void {
    if (this.turn?.id === compactionTurn) this.setTurn(null);
  }

  handle(event: ConversationEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.accepted = false;
        this.errorRecorded = false;
        return this.setTurn({ id: event.id, phase: 'preparing', startedAt: this.output.now(), retry: null });
      case 'phase_changed':
        if (this.turn && this.turn.phase !== 'stopping') this.setTurn({ ...this.turn, phase: event.phase, retry: null });
        return;
      case 'retry_scheduled':
        if (this.turn && this.turn.phase !== 'stopping')
          this.setTurn({ ...this.turn, phase: 'retrying', retry: { attempt: event.attempt, at: event.at, reason: event.reason } });
        return;
      case 'entry_appended':
        return this.appended(event.entry);
      case 'text_delta':
        return this.streamed(event);
      case 'live_dropped':
        this.live.delete(event.entryId);
        return this.output.send({ kind: 'live_dropped', id: event.entryId });
      case 'compaction_started':
        if (!this.turn) this.setTurn({ id: compactionTurn, phase: 'compacting', startedAt: this.output.now(), retry: null });
        return;
      case 'compaction_ended':
        return this.settle();
      case 'context_changed':
        return this.output.send({ kind: 'context', context: event.snapshot });
      case 'queue_changed':
        return this.output.send({ kind: 'queue', queue: event.queue.map(queueItem) });
      case 'session_changed':
        this.modeChanged();
        return this.output.send({ kind: 'session', session: header(event.session) });
      case 'turn_ended':
        return this.ended(event.error);
      case 'elsewhere_changed':
        return this.elsewhereChanged(event.holder);
      case 'pins_changed':
        return this.pinsChanged(event.pins);
      case 'savings_changed':
        for (const row of this.transcript.saved(event.savings)) this.output.send({ kind: 'row_changed', row });
        return;
      case 'approval_requested':
        return this.asked(event.call, event.question);
      case 'approval_settled':
        return this.asked(event.call, null);
      case 'tool_output':
        this.transcript.printed(event.call, event.text);
        return this.output.send({ kind: 'tool_output', id: event.call, text: event.text });
      case 'branch_left':
        this.left = event.left;
        return this.output.send({ kind: 'left', left: event.left });
      case 'branch_replaced':
        this.live.clear();
        this.load(event.page);
        return this.output.resync();
      case 'context_full':
        return this.setFull({ used: event.used, effective: event.effective, fits: event.used <= event.limit });
      case 'context_full_answered':
        return this.setFull(null);
      case 'usage_reported':
      case 'memory_written':
      case 'became_idle':
        return;
    }
  }

  private asked(call: string, question: ApprovalQuestion | null): void {
    const row = this.transcript.asked(call, question);
    if (row) this.output.send({ kind: 'row_changed', row });
  }

  private appended(entry: StoredEntry): void {
    const { content } = entry;
    if (isUserMessage(entry)) this.accepted = true;
    if (content.type === 'custom' && content.customType === turnErrorType) this.errorRecorded = true;
    const wasLive = this.live.delete(entry.uuid);
    if (content.type === 'tool_call') this.dropRepeated();
    const { added, changed, marked: others } = this.transcript.append(entry);
    if (added) this.output.send({ kind: 'row', row: added });
    else if (wasLive) this.output.send({ kind: 'live_dropped', id: entry.uuid });
    for (const row of changed) this.output.send({ kind: 'row_changed', row });
    const marked = content.type === 'label' ? content.target : added?.id;
    const mark = marked === undefined ? null : this.transcript.markOf(marked);
    const own = mark && (content.type === 'label' || mark.fork) ? [mark.id] : [];
    const marks = [...new Set([...own, ...others])].map((id) => this.transcript.markOf(id));
    if (marks.length > 0) this.output.send({ kind: 'marks', marks });
    if (content.type === 'compaction' || content.type === 'compaction_undone') this.foldChanged();
    this.todosChanged(entry);
  }

  private modeChanged(): void {
    const { mode } = this;
    if (mode === this.shownMode) return;
    this.shownMode = mode;
    this.output.send({ kind: 'mode', mode });
  }

  private get mode(): Mode {
    return isPlanning(this.source.session.metadata) ? 'plan' : 'chat';
  }

  private todosChanged(entry: StoredEntry): void {
    const { content } = entry;
    if (!isUserMessage(entry) && content.type !== 'tool_result' && content.type !== 'compaction_undone') return;
    const todos = shownTodos(this.source.entries);
    const text = JSON.stringify(todos);
    if (text === this.shownList) return;
    this.shownList = text;
    this.output.send({ kind: 'todos', todos });
  }

  private pinsChanged(pins: readonly Pin[]): void {
    const messages = new Set(pins.flatMap(({ kind, target }) => (kind === 'entry' ? [target] : [])));
    for (const row of this.transcript.pinned(messages)) this.output.send({ kind: 'row_changed', row });
  }

  private streamed({ entryId: id, block, model: modelId, text }: Extract<ConversationEvent, { type: 'text_delta' }>): void {
    const model = this.output.modelName(modelId);
    const kind = block === 'message' ? 'assistant' : 'thinking';
    const before = this.live.get(id);
    if (!before) this.dropRepeated();
    this.live.set(id, { id, kind, model, text: (before?.text ?? '') + text });
    if (this.turn?.phase === 'waiting') this.setTurn({ ...this.turn, phase: 'streaming' });
    this.output.send({ kind: 'live_text', id, block: kind, model, text });
  }

  /** What the attempts before this one have left on show goes when the next one begins to write. */
  private dropRepeated(): void {
    for (const gone of this.transcript.writes()) this.output.send({ kind: 'live_dropped', id: gone });
  }

  private elsewhereChanged(holder: string | null): void {
    if (holder !== null) {
      if (!this.turn) this.setTurn({ id: elsewhereTurn, phase: 'elsewhere', startedAt: this.output.now(), retry: null });
      return;
    }
    if (this.turn?.id !== elsewhereTurn) return;
    for (const row of this.transcript.endTurn()) this.output.send({ kind: 'row_changed', row });
    this.setTurn(null);
  }

  private foldChanged(): void {
    const firstKept = this.transcript.firstKept();
    if (firstKept === undefined) this.output.resync();
    else this.output.send({ kind: 'folded', firstKept });
  }

  private ended(error: TurnError | null): void {
    for (const id of this.live.keys()) this.output.send({ kind: 'live_dropped', id });
    this.live.clear();
    for (const row of this.transcript.endTurn()) this.output.send({ kind: 'row_changed', row });
    // A message that was not accepted goes back to the composer with its reason; here it would be said twice.
    const unsaid = error && error.reason !== 'cancelled' && this.accepted && !this.errorRecorded;
    if (unsaid)
      this.output.send({
        kind: 'row',
        row: {
          kind: 'error',
          id: `unsaved-${++this.ephemeral}`,
          at: this.output.now(),
          reason: error.reason,
          text: shown(error.message),
          ...(error.detail ? { details: shown(error.detail) } : {}),
        },
      });
    this.setTurn(null);
  }

  private setFull(full: FullContext): void {
    this.full = full;
    this.output.send({ kind: 'full', full });
  }

  private setTurn(turn: TurnState): void {
    this.turn = turn;
    this.output.send({ kind: 'turn', turn });
  }
}

function header({ uuid, id, title }: Session): SessionHeader {
  return { uuid, id, title };
}

function queueItem({ id, text, attachments }: QueuedMessage): ViewSnapshot['queue'][number] {
  return { id, text, ...(attachments ? { attachments: [...attachments] } : {}) };
}
