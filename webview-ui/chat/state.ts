import type {
  Banner,
  Connection,
  Delta,
  OlderPage,
  RowMark,
  SessionHeader,
  TranscriptRow,
  TurnState,
  ViewSnapshot,
} from '../../src/protocol/messages';

/** A block that is still streaming. It keeps its id when it becomes a row, so that its element stays. */
export interface LiveRow {
  readonly kind: 'live';
  readonly id: string;
  readonly block: 'assistant' | 'thinking';
  readonly model: string;
  readonly text: string;
}

export type Item = TranscriptRow | LiveRow;

/** What the view shows. The host holds the truth: this is made from its snapshot and changed by its deltas only. */
export interface ViewState {
  /** Grows with every snapshot: whatever was derived from an earlier one is stale. */
  readonly generation: number;
  readonly session: SessionHeader | null;
  readonly sessions: ViewSnapshot['sessions'];
  readonly rows: readonly TranscriptRow[];
  /** By the row they stand at. */
  readonly marks: ReadonlyMap<string, RowMark>;
  readonly hasMore: boolean;
  readonly live: readonly LiveRow[];
  readonly turn: TurnState;
  readonly queue: ViewSnapshot['queue'];
  readonly left: ViewSnapshot['left'];
  readonly elsewhere?: ViewSnapshot['elsewhere'];
  readonly full: ViewSnapshot['full'];
  readonly todos?: ViewSnapshot['todos'];
  readonly mode?: ViewSnapshot['mode'];
  readonly context: ViewSnapshot['context'];
  readonly connection: Connection;
  readonly banner: Banner;
}

export function fromSnapshot(snapshot: ViewSnapshot, generation: number): ViewState {
  const { draft: _, attachments: _attached, draftRemark: _remark, live, marks, ...rest } = snapshot;
  return {
    ...rest,
    generation,
    marks: marked(new Map(), marks),
    live: live.map(({ kind, ...block }) => ({ kind: 'live', block: kind, ...block })),
  };
}

/** Rows that a delta does not touch keep their identity. `draft` and `focus_composer` are for the composer and change nothing here. */
export function applyDelta(state: ViewState, delta: Delta): ViewState {
  switch (delta.kind) {
    case 'row':
      return {
        ...state,
        rows: hasRow(state, delta.row.id) ? replaceRow(state.rows, delta.row) : [...state.rows, delta.row],
        live: state.live.filter((block) => block.id !== delta.row.id),
      };
    case 'row_changed':
      return hasRow(state, delta.row.id) ? { ...state, rows: replaceRow(state.rows, delta.row) } : state;
    case 'marks':
      return { ...state, marks: marked(state.marks, delta.marks) };
    case 'live_text':
      return { ...state, live: appendLive(state.live, delta) };
    case 'tool_output':
      return {
        ...state,
        rows: state.rows.map((row) =>
          row.id === delta.id && row.kind === 'tool' ? { ...row, output: ((row.output ?? '') + delta.text).slice(-20_000) } : row,
        ),
      };
    case 'live_dropped':
      return {
        ...state,
        rows: hasRow(state, delta.id) ? state.rows.filter(({ id }) => id !== delta.id) : state.rows,
        live: state.live.filter((block) => block.id !== delta.id),
      };
    case 'folded':
      return { ...state, rows: fold(state.rows, delta.firstKept) };
    case 'turn':
      return { ...state, turn: delta.turn };
    case 'queue':
      return { ...state, queue: delta.queue };
    case 'left':
      return { ...state, left: delta.left };
    case 'full':
      return { ...state, full: delta.full };
    case 'todos':
      return { ...state, todos: delta.todos };
    case 'mode':
      return { ...state, mode: delta.mode };
    case 'context':
      return { ...state, context: delta.context };
    case 'session':
      return {
        ...state,
        session: delta.session,
        sessions: state.sessions.map((s) => (s.uuid === delta.session.uuid ? { ...s, title: delta.session.title } : s)),
      };
    case 'sessions':
      return { ...state, sessions: delta.sessions };
    case 'connection':
      return { ...state, connection: delta.connection };
    case 'elsewhere':
      return { ...state, elsewhere: delta.elsewhere };
    case 'banner':
      return { ...state, banner: delta.banner };
    case 'draft':
    case 'attach':
    case 'focus_composer':
    case 'reveal':
      return state;
  }
}

/** An answer to `older` that no longer fits (another session, a newer snapshot) is dropped. */
export function prependOlder(state: ViewState, before: string, page: OlderPage): ViewState {
  if (state.rows[0]?.id !== before) return state;
  return { ...state, rows: [...page.rows, ...state.rows], marks: marked(state.marks, page.marks), hasMore: page.hasMore };
}

/** Everything of the transcript in order. The two arrays keep their identity while nothing changes, so the result is kept too. */
export function items(state: ViewState): readonly Item[] {
  if (state.live.length === 0) return state.rows;
  const known = joined.get(state.live);
  if (known?.rows === state.rows) return known.items;
  const all = [...state.rows, ...state.live];
  joined.set(state.live, { rows: state.rows, items: all });
  return all;
}

const joined = new WeakMap<readonly LiveRow[], { rows: readonly TranscriptRow[]; items: readonly Item[] }>();

function marked(before: ReadonlyMap<string, RowMark>, marks: readonly RowMark[]): ReadonlyMap<string, RowMark> {
  return marks.length === 0 ? before : new Map([...before, ...marks.map((mark) => [mark.id, mark] as const)]);
}

function hasRow(state: ViewState, id: string): boolean {
  return state.rows.some((row) => row.id === id);
}

function replaceRow(rows: readonly TranscriptRow[], changed: TranscriptRow): readonly TranscriptRow[] {
  return rows.map((row) => (row.id === changed.id ? changed : row));
}

function appendLive(live: readonly LiveRow[], { id, block, model, text }: Delta & { kind: 'live_text' }): readonly LiveRow[] {
  if (!live.some((row) => row.id === id)) return [...live, { kind: 'live', id, block, model, text }];
  return live.map((row) => (row.id === id ? { ...row, text: row.text + text } : row));
}

function fold(rows: readonly TranscriptRow[], firstKept: string | null): readonly TranscriptRow[] {
  const kept =
    firstKept === null
      ? 0
      : Math.max(
          0,
          rows.findIndex((row) => row.id === firstKept),
        );
  return rows.map((row, index) => ('folded' in row && row.folded !== index < kept ? { ...row, folded: index < kept } : row));
}
