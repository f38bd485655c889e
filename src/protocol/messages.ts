import * as z from 'zod/mini';
import { ContextSnapshot } from '../core/context/measure/snapshot';
import { Attachment } from '../core/session/userMessage';
import { TodoList } from '../core/todo/todoItems';
import { Continuity } from '../core/session/entry';
import { providerIds } from '../core/models/providers';
import type { Wire } from './channel';
import { Attachments, AttachSource } from './composer';
import { SlashName } from './slashCommands';

/** Links of a text that are checked at once, and the characters of one. */
export const mostHrefs = 64;
export const mostHref = 400;

export const FileLinks = z.array(z.string());

export const ChangedLines = z.object({
  added: z.number(),
  removed: z.number(),
  lines: z.array(z.object({ mark: z.enum(['+', '-', ' ', 'gap']), text: z.string() })),
  more: z.number(),
});

/**
 * Everything that crosses between the extension host and the Chat view. The host holds the truth: it answers `ready` with one
 * complete snapshot and then sends deltas with consecutive sequence numbers; a view that sees a gap asks for a new snapshot.
 */

const id = z.string();

export const TranscriptRow = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('user'),
    id,
    at: z.number(),
    text: z.string(),
    attachments: z.optional(Attachments),
    /** Before the live compaction's first kept entry: the model sees it through the summary only. */
    folded: z.boolean(),
    /** What the model is sent instead of a very long message: its head and tail. */
    excerpted: z.boolean(),
    pinned: z.boolean(),
    /** The user has taken it out of what the model is sent. */
    excluded: z.boolean(),
  }),
  z.object({
    kind: z.literal('assistant'),
    id,
    at: z.number(),
    markdown: z.string(),
    /** What the model is called that gave it; empty: nobody knows. */
    model: z.string(),
    folded: z.boolean(),
    pinned: z.boolean(),
    excluded: z.boolean(),
    interrupted: z.nullable(z.enum(['stopped', 'disconnected', 'crashed'])),
  }),
  z.object({ kind: z.literal('thinking'), id, at: z.number(), text: z.string(), durationMs: z.nullable(z.number()), folded: z.boolean() }),
  z.object({
    kind: z.literal('tool'),
    id,
    at: z.number(),
    name: z.string(),
    /** What it does or has done, in words; null where only its name is known. */
    title: z.nullable(z.string()),
    /** What it has changed in a file. */
    lines: z.optional(z.object({ added: z.number(), removed: z.number() })),
    /** A file of the workspace that can be opened. */
    file: z.optional(z.string()),
    /** The call's input as indented JSON. */
    input: z.string(),
    /** A running call has what it has printed so far, or the end of it. */
    output: z.nullable(z.string()),
    /** Images that it returned. */
    images: z.optional(Attachments),
    /** The call waits for the user's answer to this. */
    approval: z.nullable(
      z.object({
        title: z.string(),
        detail: z.nullable(z.string()),
        note: z.optional(z.string()),
        everyTime: z.boolean(),
        /** A rule can be offered that allows it from now on. */
        lasting: z.boolean(),
        /** The first lines of what it would change (`changedLines.ts`). */
        change: z.nullable(ChangedLines),
      }),
    ),
    /** What a side question came to; `id`: all of it can be shown by that. */
    aside: z.optional(
      z.object({
        id,
        read: z.number(),
        requests: z.number(),
        cost: z.nullable(z.number()),
        outcome: z.enum(['answered', 'stopped', 'failed']),
      }),
    ),
    /** What it changes, or has changed, can be seen. */
    hasDiff: z.boolean(),
    status: z.enum(['running', 'ok', 'error', 'denied', 'interrupted']),
    folded: z.boolean(),
    excluded: z.boolean(),
  }),
  z.object({
    kind: z.literal('nudge'),
    id,
    at: z.number(),
    percent: z.number(),
    usedTokens: z.number(),
    text: z.string(),
    /** Whether the model wrote a note before the next compaction. */
    outcome: z.enum(['delivered', 'acted', 'expired']),
    /** What was written since, until the next compaction; `call`: the row that did it, `hasDiff`: it says what changed. */
    writes: z.array(z.object({ call: id, path: z.string(), command: z.string(), hasDiff: z.boolean() })),
  }),
  z.object({
    kind: z.literal('compaction'),
    id,
    at: z.number(),
    messages: z.number(),
    tokensBefore: z.number(),
    tokensAfter: z.number(),
    rung: z.enum(['mask', 'checkpoint', 'prepared', 'model', 'extractive', 'truncate']),
    trigger: z.enum(['automatic', 'manual', 'overflow', 'cold', 'edit', 'retry']),
    durationMs: z.number(),
    model: z.nullable(z.string()),
    note: z.nullable(z.string()),
    summary: z.string(),
    /** It says how much survives of what mattered in the folded range; null where it was not measured. */
    continuity: z.nullable(Continuity),
    /** Ids that the model cited and that no message has; they were corrected. */
    unknownIds: z.array(z.string()),
    /** First entry of the folded range. */
    coversFrom: z.nullable(id),
    /** `replaced`: by a better summary of the same range; `superseded`: by a later compaction. */
    state: z.enum(['live', 'undone', 'replaced', 'superseded']),
    /** It stands for the same messages as the live one, and can take its place again. */
    reusable: z.boolean(),
    /** Tokens that a return did not have to write again, by what was billed, and their price in US dollars, null where none is known. */
    saved: z.optional(z.object({ tokens: z.number(), cost: z.nullable(z.number()) })),
  }),
  z.object({ kind: z.literal('checkpoint'), id, at: z.number(), tokens: z.number(), model: z.nullable(z.string()), summary: z.string() }),
  /** What a branch that was left came to, Markdown. */
  z.object({ kind: z.literal('branch_summary'), id, at: z.number(), summary: z.string() }),
  /** Instructions that the model has read for its task. */
  z.object({ kind: z.literal('skill'), id, at: z.number(), title: z.string(), text: z.string() }),
  z.object({ kind: z.literal('undo'), id, at: z.number(), tokensRestored: z.number() }),
  z.object({
    kind: z.literal('error'),
    id,
    at: z.number(),
    reason: z.string(),
    text: z.string(),
    /** The provider's own words, or what failed below. */
    details: z.optional(z.string()),
  }),
  z.object({ kind: z.literal('info'), id, at: z.number(), text: z.string() }),
]);
export type TranscriptRow = z.infer<typeof TranscriptRow>;

/** What stands at a row whatever its kind. */
export const RowMark = z.object({
  id,
  label: z.nullable(z.string()),
  /** The conversation forks in front of the row: first entries of all branches, oldest first; `at`: the one that is shown. */
  fork: z.nullable(z.object({ at: z.number(), branches: z.array(id) })),
  /** First entries of other branches that go on behind the row; only of use while that is the last one. */
  beyond: z.array(id),
  /** The last row of a turn that has changed files; `left`: how many of them are not reviewed yet. `uncovered`: what no restore has. */
  changes: z.optional(
    z.object({ text: z.string(), files: z.number(), left: z.number(), undone: z.number(), uncovered: z.optional(z.string()) }),
  ),
});
export type RowMark = z.infer<typeof RowMark>;

/** In the place of a row, where none stands yet and branches begin. */
export const noRow = 'no-row';

export const SessionHeader = z.object({ uuid: id, id: z.string(), title: z.string() });
export type SessionHeader = z.infer<typeof SessionHeader>;

/** What the view shows while a turn runs, here or (`elsewhere`) in another window; null when idle. */
export const TurnState = z.nullable(
  z.object({
    id,
    phase: z.enum(['preparing', 'compacting', 'waiting', 'streaming', 'tools', 'retrying', 'stopping', 'elsewhere']),
    startedAt: z.number(),
    /** While `retrying`, it says when the next attempt starts, and why. */
    retry: z.nullable(z.object({ attempt: z.number(), at: z.number(), reason: z.string() })),
  }),
);
export type TurnState = z.infer<typeof TurnState>;

export const Connection = z.object({
  provider: z.enum([...providerIds, 'offline']),
  modelName: z.string(),
  /** `missing` shows the first-run choices until the user has chosen offline mode or sent something. */
  key: z.enum(['stored', 'environment', 'missing', 'not_needed']),
  offlineChosen: z.boolean(),
});
export type Connection = z.infer<typeof Connection>;

/** A standing condition that the view shows as a banner. */
export const Banner = z.nullable(
  z.object({
    kind: z.enum(['readonly', 'recovered', 'damaged', 'reduced_durability', 'store_failed', 'untrusted', 'policy']),
    text: z.string(),
    /** What only some want to know. */
    details: z.optional(z.string()),
    /** It can be closed for good, by this name; omitted: it cannot. */
    dismissAs: z.optional(z.string()),
  }),
);
export type Banner = z.infer<typeof Banner>;

const SessionList = z.array(z.object({ uuid: id, id: z.string(), title: z.string(), updatedAt: z.number() }));

/** `model` as in a row. */
const LiveBlock = z.object({ id, kind: z.enum(['assistant', 'thinking']), model: z.string(), text: z.string() });
export type LiveBlock = z.infer<typeof LiveBlock>;

const LeftBranch = z.nullable(z.object({ messages: z.number(), summarizing: z.boolean() }));
export type LeftBranch = z.infer<typeof LeftBranch>;

/** Another device went on with the session, on the branch that ends at `entry`; `messages` are there since it parted from this one. */
const Elsewhere = z.nullable(z.object({ device: z.string(), messages: z.number(), entry: id, dismissAs: z.string() }));
export type Elsewhere = z.infer<typeof Elsewhere>;

/** The turn waits for the user to say what becomes of a context that is full; null: it does not. */
export const FullContext = z.nullable(
  z.object({ used: z.number(), effective: z.number(), /** Sent as it is, the model takes it. */ fits: z.boolean() }),
);
export type FullContext = z.infer<typeof FullContext>;

/** `plan`: nothing of the user's is changed, and answers end in a plan. */
export const Mode = z.enum(['chat', 'plan']);
export type Mode = z.infer<typeof Mode>;

/** `instructions` asks for some first. */
export const FullAnswer = z.enum(['summarize', 'instructions', 'truncate', 'continue']);
export type FullAnswer = z.infer<typeof FullAnswer>;

const Queue = z.array(z.object({ id, text: z.string(), attachments: z.optional(Attachments) }));

export const ViewSnapshot = z.object({
  session: z.nullable(SessionHeader),
  sessions: SessionList,
  rows: z.array(TranscriptRow),
  /** Only rows that have any marks are listed. */
  marks: z.array(RowMark),
  hasMore: z.boolean(),
  /** Blocks that are still streaming, oldest first. */
  live: z.array(LiveBlock),
  turn: TurnState,
  queue: Queue,
  /** A branch was left that has work in it: a summary is offered, or being made. */
  left: LeftBranch,
  full: FullContext,
  /** Omitted: nobody did, or nothing is synchronized. */
  elsewhere: z.optional(Elsewhere),
  /** The model's own, where it keeps one. */
  todos: z.optional(TodoList),
  /** The session has it, or the one that the next message begins; omitted: `chat`. */
  mode: z.optional(Mode),
  context: z.nullable(ContextSnapshot),
  connection: Connection,
  banner: Banner,
  draft: z.string(),
  attachments: z.optional(Attachments),
  /** What the user has to know of the draft. */
  draftRemark: z.optional(z.string()),
});
export type ViewSnapshot = z.infer<typeof ViewSnapshot>;

export const Delta = z.discriminatedUnion('kind', [
  /** Appended at the end; a live block with the same id is finished by it. */
  z.object({ kind: z.literal('row'), row: TranscriptRow }),
  /** Replaces the row with the same id where it stands; ignored when that row is not loaded. */
  z.object({ kind: z.literal('row_changed'), row: TranscriptRow }),
  /** They take the place of those that the rows had. */
  z.object({ kind: z.literal('marks'), marks: z.array(RowMark) }),
  /** `text` is what was added to the block; the first one creates it. */
  z.object({ kind: z.literal('live_text'), id, block: z.enum(['assistant', 'thinking']), model: z.string(), text: z.string() }),
  /** What a running call has printed since the last one; `id` is its row. */
  z.object({ kind: z.literal('tool_output'), id, text: z.string() }),
  /** A live block that will not become a row, or the row of one whose attempt failed and is being repeated. */
  z.object({ kind: z.literal('live_dropped'), id }),
  /**
   * After a compaction or its undo: exactly the rows that stand before `firstKept` are folded; none is when it is null or not
   * loaded. Saves sending every folded row again.
   */
  z.object({ kind: z.literal('folded'), firstKept: z.nullable(id) }),
  z.object({ kind: z.literal('turn'), turn: TurnState }),
  z.object({ kind: z.literal('queue'), queue: Queue }),
  z.object({ kind: z.literal('left'), left: LeftBranch }),
  z.object({ kind: z.literal('elsewhere'), elsewhere: Elsewhere }),
  z.object({ kind: z.literal('full'), full: FullContext }),
  z.object({ kind: z.literal('todos'), todos: TodoList }),
  z.object({ kind: z.literal('mode'), mode: Mode }),
  z.object({ kind: z.literal('context'), context: z.nullable(ContextSnapshot) }),
  z.object({ kind: z.literal('session'), session: SessionHeader }),
  z.object({ kind: z.literal('sessions'), sessions: SessionList }),
  z.object({ kind: z.literal('connection'), connection: Connection }),
  z.object({ kind: z.literal('banner'), banner: Banner }),
  /**
   * Puts text into the composer (a queued message handed back, a suggestion). With `replaces` only while the composer holds just that
   * text: what has been typed since, and is not saved yet, stays.
   */
  z.object({ kind: z.literal('draft'), text: z.string(), attachments: z.optional(Attachments), replaces: z.optional(z.string()) }),
  /** Adds to what the composer holds (*Add Selection to Chat*). */
  z.object({ kind: z.literal('attach'), attachment: Attachment }),
  z.object({ kind: z.literal('focus_composer') }),
  /** Scrolls to a row of the open session, marks it for a moment and moves the focus there; older pages are fetched until it is loaded. */
  z.object({ kind: z.literal('reveal'), id }),
]);
export type Delta = z.infer<typeof Delta>;

export const HostMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('snapshot'), seq: z.number(), snapshot: ViewSnapshot }),
  z.object({ type: z.literal('delta'), seq: z.number(), delta: Delta }),
  z.object({ type: z.literal('reply'), requestId: z.number(), result: z.unknown() }),
  z.object({ type: z.literal('error'), requestId: z.number(), message: z.string() }),
]);
export type HostMessage = z.infer<typeof HostMessage>;

/** Requests from the view; each is answered by a `reply` or an `error` with its `requestId`. */
export const ViewRequest = z.discriminatedUnion('method', [
  /**
   * `id` is made by the view, so that a repeated request cannot send twice. While a turn runs the message is queued. The saved
   * draft is cleared. Reply: null once the message is on disk or in the queue; what happens next arrives as deltas.
   */
  z.object({
    method: z.literal('send'),
    id,
    /** As of `save_draft`: another one may be on its way onto the screen. */
    session: z.nullable(z.string()),
    text: z.string(),
    attachments: z.optional(Attachments),
    /** What runs is stopped for it, keeping what it has shown; what waits goes on waiting. */
    interrupts: z.optional(z.boolean()),
  }),
  z.object({ method: z.literal('stop') }),
  /** Takes a message out of the queue; reply: it, as `WrittenReply`. */
  z.object({ method: z.literal('unqueue'), id }),
  z.object({ method: z.literal('edit_queued'), id, text: z.string() }),
  /** Puts a queued message in front of another, or (null) behind all. */
  z.object({ method: z.literal('move_queued'), id, before: z.nullable(id) }),
  /** Stops what runs, keeping what it has shown, and sends a queued message next. */
  z.object({ method: z.literal('send_queued'), id }),
  /** Asks again after an error, without repeating the user's message. */
  z.object({ method: z.literal('retry') }),
  /** Sends `text` in the place of the user's message `entry`, on a branch of its own. `id` and reply as for `send`. */
  z.object({ method: z.literal('edit'), id, entry: id, text: z.string() }),
  /** Asks for another answer beside the one that `entry` belongs to. */
  z.object({ method: z.literal('regenerate'), entry: id }),
  /** Goes to the newest end of the branches that lead through `entry`. */
  z.object({ method: z.literal('switch_branch'), entry: id }),
  /** What becomes of the branch that was left; `instructions` asks for some first. */
  z.object({ method: z.literal('summarize_left'), how: z.enum(['summarize', 'instructions', 'none']) }),
  /** Asks for a name for the turn; `label`: the one it has, or nothing. */
  z.object({ method: z.literal('label'), entry: id, label: z.string() }),
  /** A new session that goes on from here. */
  z.object({ method: z.literal('fork'), entry: id }),
  z.object({ method: z.literal('restore'), entry: id }),
  /** Opens what the turn of a row has changed. */
  z.object({ method: z.literal('review'), entry: id }),
  /** Reply: `OlderPage`. */
  z.object({ method: z.literal('older'), before: id }),
  /** `session`: that it was written for; null: one that had not begun. */
  z.object({ method: z.literal('save_draft'), session: z.nullable(z.string()), text: z.string(), attachments: z.optional(Attachments) }),
  /**
   * What could not be sent or done in a session that is not on show any more: it goes in front of what is written there. `session` as
   * above.
   */
  z.object({ method: z.literal('give_back'), session: z.nullable(z.string()), text: z.string(), attachments: z.optional(Attachments) }),
  /**
   * Tokens of the draft, so that the gauge can show it; the gauge follows by a `context` delta. Reply: true when some of it is too long to
   * be sent whole.
   */
  z.object({ method: z.literal('measure_draft'), text: z.string(), attachments: z.optional(Attachments) }),
  /** Reply: the `Attachment`. */
  z.object({ method: z.literal('attach'), source: AttachSource }),
  /** Lets the user choose among everything that can be attached. Reply: `Attachments`. */
  z.object({ method: z.literal('attach_menu') }),
  /** What `@` and `#` offer for a query; a new one ends the search before it. Reply: `Mentions`. */
  z.object({ method: z.literal('find_mentions'), query: z.string() }),
  /** Reply: `WorkspaceInstructions`; the second one lets the user open them, or switch them off, first. */
  z.object({ method: z.literal('instructions') }),
  z.object({ method: z.literal('choose_instructions') }),
  /** Reply: the picture as a `data:` address. */
  z.object({ method: z.literal('attachment_image'), hash: z.string(), mime: z.string() }),
  z.object({ method: z.literal('open_attachment'), attachment: Attachment }),
  /** What may follow a slash command, as far as it is typed. Reply: `ArgumentChoices`. */
  z.object({ method: z.literal('find_arguments'), name: SlashName, query: z.string() }),
  /** A command that was typed behind a slash. Reply: why there was nothing to do, or null. */
  z.object({ method: z.literal('slash'), name: SlashName, argument: z.string() }),
  /** Reply: why there was nothing to fold, or null. */
  z.object({ method: z.literal('compact') }),
  z.object({ method: z.literal('cancel_compaction') }),
  /** Reply: why there was nothing to save, or null. */
  z.object({ method: z.literal('checkpoint') }),
  z.object({ method: z.literal('show_breakdown') }),
  z.object({ method: z.literal('undo_compaction') }),
  /** Opens the live summary in an editor. */
  z.object({ method: z.literal('edit_summary') }),
  /** Puts a summary in force again that the live one has taken the place of. */
  z.object({ method: z.literal('reuse_summary'), id }),
  /** Asks for instructions, then writes the live summary anew. */
  z.object({ method: z.literal('resummarize') }),
  /** A message that every compaction keeps, or no longer keeps. */
  z.object({ method: z.literal('pin'), id }),
  z.object({ method: z.literal('unpin'), id }),
  /** Takes a message, or a call with its result, out of what the model is sent, or puts it back. */
  z.object({ method: z.literal('exclude'), id }),
  z.object({ method: z.literal('include'), id }),
  /** Shows the prompt without and with a compaction beside each other. */
  z.object({ method: z.literal('compare'), id }),
  /** Goes to an entry of the open session; a `reveal` delta follows. */
  z.object({ method: z.literal('show_entry'), id }),
  /**
   * `id` is the row of the call that waits, `title` what was asked: a side question asks one thing after the other at its call. `always`:
   * the host asks by which rule; `reason`: it asks why not.
   */
  z.object({ method: z.literal('answer_tool'), id, title: z.string(), answer: z.enum(['allow', 'session', 'always', 'deny', 'reason']) }),
  z.object({ method: z.literal('set_mode'), mode: Mode }),
  /** Leaves Plan mode and sends the plan that an answer ends in, as the user has edited it; or opens it in an editor. */
  z.object({ method: z.literal('start_plan'), entry: id }),
  z.object({ method: z.literal('edit_plan'), entry: id }),
  z.object({ method: z.literal('answer_full'), answer: FullAnswer }),
  /** Brings the terminal in which the command of a call runs to the front. */
  z.object({ method: z.literal('show_terminal'), id }),
  /** Opens all of a side question to be read. */
  z.object({ method: z.literal('show_aside'), id }),
  /** Opens what a call changes, or has changed, in a diff editor. */
  z.object({ method: z.literal('show_diff'), id }),
  /** Opens a note of the model's in an editor. */
  z.object({ method: z.literal('open_note'), path: z.string() }),
  /** Asks for a text and adds it to the notes. */
  z.object({ method: z.literal('save_note') }),
  z.object({ method: z.literal('new_session') }),
  z.object({ method: z.literal('open_session'), uuid: id }),
  z.object({ method: z.literal('rename_session'), title: z.string() }),
  /** `provider`: only what it offers, with what to do when it offers nothing. */
  z.object({ method: z.literal('select_model'), provider: z.optional(z.enum(['ollama', 'vscode'])) }),
  /** Opens title, key, cost limit and metadata of the shown session as a document. */
  z.object({ method: z.literal('edit_session_details') }),
  z.object({ method: z.literal('select_policy') }),
  z.object({ method: z.literal('verify_history') }),
  z.object({ method: z.literal('manage_trust') }),
  /** `banner`: what it is dismissed as. */
  z.object({ method: z.literal('dismiss_banner'), banner: z.string() }),
  /** `provider`: whose key (and address); omitted: asks. */
  z.object({ method: z.literal('set_api_key'), provider: z.optional(z.literal('openai-compatible')) }),
  z.object({ method: z.literal('choose_offline') }),
  z.object({ method: z.literal('open_link'), href: z.string() }),
  z.object({ method: z.literal('copy'), text: z.string() }),
  z.object({ method: z.literal('insert_code'), text: z.string() }),
  /** Which of these open as files of the workspace. Reply: those, in any order (`FileLinks`). */
  z.object({ method: z.literal('find_files'), hrefs: z.array(z.string().check(z.maxLength(mostHref))).check(z.maxLength(mostHrefs)) }),
  /** Shows what the code would make of the file that it names, or of the one in the editor, and writes it when the user says so. */
  z.object({ method: z.literal('apply_code'), text: z.string(), info: z.string() }),
  z.object({ method: z.literal('run_code'), text: z.string(), language: z.string() }),
  z.object({ method: z.literal('open_code'), text: z.string(), language: z.string() }),
  z.object({ method: z.literal('open_settings') }),
  z.object({ method: z.literal('show_log') }),
]);
export type ViewRequest = z.infer<typeof ViewRequest>;

const ViewMessage = z.discriminatedUnion('type', [
  /** The view has loaded, or has seen a gap: send a complete snapshot. */
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('request'), requestId: z.number(), request: ViewRequest }),
  /** The user has put the focus into the view. */
  z.object({ type: z.literal('used') }),
  /** A fault in the view, for the log. */
  z.object({ type: z.literal('fault'), message: z.string() }),
]);
type ViewMessage = z.infer<typeof ViewMessage>;

export const chatWire: Wire<ViewSnapshot, Delta, ViewRequest> = { fromHost: HostMessage, fromView: ViewMessage };

export const OlderPage = z.object({ rows: z.array(TranscriptRow), hasMore: z.boolean(), marks: z.array(RowMark) });
export type OlderPage = z.infer<typeof OlderPage>;
