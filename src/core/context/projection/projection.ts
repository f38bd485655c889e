import { maskedEntries, stubTokens } from '../../compaction/ladder/mask';
import { frameTokens, type Frames, type NoticeKind, type Sealed } from '../../frames/frames';
import type { ModelBlock, ModelMessage, ToolSpec } from '../../models/modelRequest';
import { offlineProvider } from '../../recall/history';
import { requestIn } from '../../session/carriedRequest';
import { attachmentTokens, type Attachment } from '../../session/userMessage';
import type { ContentOf, EntryOf, StoredEntry } from '../../session/entry';
import { afterLastBreak, leftOutEntries, liveCompaction, verbatimEntries } from '../../session/liveCompaction';
import { skillType } from '../../skills/skill';
import type { Budget } from '../measure/budget';
import { excerpt, howToRead, stepBounds } from './excerpt';
import type { SegmentKind } from '../measure/snapshot';

/** Stands for content that is read only when the request is made (attachments.ts). */
export interface AttachmentBlock {
  readonly type: 'attachment';
  readonly attachment: Attachment;
  /** Tokens that may be sent of its text; null: all of it. */
  readonly limit: number | null;
  /** `#12`, by which the rest can be read. */
  readonly ref: string;
  /** An image in the result of this call. */
  readonly callId?: string;
}

export type PromptBlock = ModelBlock | AttachmentBlock;

export interface PromptMessage extends Omit<ModelMessage, 'blocks'> {
  readonly blocks: readonly PromptBlock[];
}

/** One block of the prompt, with where it came from and what it weighs. */
export interface Piece {
  readonly entryId: string | null;
  readonly segment: SegmentKind;
  /** `system`: stands behind the system text, not among the messages. */
  readonly role: 'system' | 'user' | 'assistant';
  readonly block: PromptBlock;
  /** Uncalibrated. */
  readonly tokens: number;
}

export interface Projection {
  readonly system: string;
  /** A summary that stands in the system prompt; null when there is none, or it stands among the messages. */
  readonly systemSummary: string | null;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly PromptMessage[];
  readonly pieces: readonly Piece[];
  /** Entries that are sent as head + tail. */
  readonly excerpted: ReadonlySet<string>;
}

export interface ProjectionInput {
  /** The live branch, root side first. */
  readonly entries: readonly StoredEntry[];
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly budget: Pick<Budget, 'oversized'>;
  readonly frames: Frames;
  readonly model: string;
  /**
   * Tells system texts apart (systemPrompt.ts). What was thought below another one is not sent: omitted in what was thought before there
   * were such names.
   */
  readonly promptId?: string;
  readonly tokensOf: (entry: StoredEntry) => number;
  readonly estimate: (text: string) => number;
}

/** `customType` of what the user has pinned, as it is shown to the model at once. */
export const pinnedType = 'pinned';
export const continueText = 'Continue where the last answer broke off.';
const understood = 'Understood. I have the state of our conversation and continue from it.';
const missingResult = 'No result: the call was interrupted before it finished.';

/** How a summary is headed where it is no pair of messages. */
const summaryTitle = 'Summary of the previous conversation';

/**
 * What the model is sent for a branch. Invariants: the first and last message are the user's; every tool call is answered in the very next
 * user message and nothing answers a call that is not there; no empty text; a longer branch without a declared prefix break
 * projects to an extension of the same prompt. For that, a turn sees to it that the branch ends with something of the user's side
 * before it asks: the closing frame of a branch that ends with an answer is only good for measuring it.
 */
export function project(input: ProjectionInput): Projection {
  const excerpted = new Set<string>();
  const summary = summaryPieces(input);
  const inSystem = summary.filter(({ role }) => role === 'system');
  const pieces = [...summary.filter(({ role }) => role !== 'system'), ...tailPieces(input, excerpted)];
  const framed = closed(repairPairs(pieces, input.estimate), input);
  const [head] = inSystem;
  const systemSummary = head?.block.type === 'text' ? head.block.text : null;
  return {
    system: input.system,
    systemSummary,
    tools: input.tools,
    messages: toMessages(framed),
    pieces: [...inSystem, ...framed],
    excerpted,
  };
}

function summaryPieces({ entries, tokensOf, estimate, frames }: ProjectionInput): Piece[] {
  const live = liveCompaction(entries);
  if (!live || live.content.summaryText.trim() === '') return [];
  const { summaryText } = live.content;
  // What was brought along from elsewhere stands in no notice of the program's and not in the system text, whatever it says.
  const placement = typeof live.sourceId === 'string' ? 'history-pair' : (live.content.placement ?? 'history-pair');
  const piece = (role: Piece['role'], text: Sealed, framing: number): Piece => ({
    entryId: live.uuid,
    segment: 'summary',
    role,
    block: { type: 'text', text },
    tokens: tokensOf(live) + framing,
  });
  const state = frames.state(summaryText);
  const attached = requestAttachments(live);
  switch (placement) {
    case 'history-pair':
      return [
        ...attached,
        piece('user', state, frameTokens),
        { ...piece('assistant', frames.plain(understood), 0), tokens: estimate(understood) },
      ];
    case 'first-message':
      return [...attached, piece('user', state, frameTokens)];
    case 'system-message':
      // The Messages API takes a system message only behind a user's turn, so none can stand in front of what is kept: everywhere
      // the form that every model understands.
      return [
        ...attached,
        piece(
          'user',
          frames.noticeAround('summary', frames.join(frames.plain(`${summaryTitle}:`), '\n', state), { from: 'system' }),
          2 * frameTokens,
        ),
      ];
    case 'system-block':
      return [piece('system', frames.join(frames.plain(`## ${summaryTitle}`), '\n\n', state), frameTokens), ...attached];
  }
}

/** What was attached to the request whose turn was cut, in front of the summary that carries its text. */
function requestAttachments({ uuid, content }: EntryOf<'compaction'>): Piece[] {
  const request = requestIn(content.summary);
  return (request?.attachments ?? []).map((attachment) => ({
    entryId: uuid,
    segment: 'summary',
    role: 'user',
    block: { type: 'attachment', attachment, limit: null, ref: request?.ref ?? '' },
    tokens: attachmentTokens(attachment),
  }));
}

function tailPieces(input: ProjectionInput, excerpted: Set<string>): Piece[] {
  const { entries } = input;
  const leftOut = leftOutEntries(entries);
  const masked = maskedEntries(entries);
  const unbroken = new Set(entries.slice(afterLastBreak(entries)).map((entry) => entry.uuid));
  const verbatim = verbatimEntries(entries);
  const bounds = stepBounds(verbatim, input.tokensOf, input.budget.oversized);
  return verbatim.flatMap((entry) => {
    if (!entry.modelFacing || leftOut.has(entry.uuid)) return [];
    const { content } = entry;
    if (content.type === 'message') return messagePieces(entry, content, input, excerpted);
    const piece = toPiece(entry, input, {
      unbroken: unbroken.has(entry.uuid),
      masked,
      bound: bounds.get(entry.uuid) ?? Infinity,
      excerpted,
    });
    // What is masked is left out with all that came with it.
    return piece ? [piece, ...(masked.has(entry.uuid) ? [] : picturePieces(entry))] : [];
  });
}

function picturePieces({ uuid: entryId, seq, content }: StoredEntry): Piece[] {
  if (content.type !== 'tool_result') return [];
  return (content.attachments ?? []).map((attachment) => ({
    entryId,
    segment: 'toolResults',
    role: 'user',
    block: { type: 'attachment', attachment, limit: null, ref: `#${seq}`, callId: content.callId },
    tokens: attachmentTokens(attachment),
  }));
}

/** Attachments stand in front of the text: a question is answered better behind what it is about (Anthropic, long context tips). */
function messagePieces(
  entry: StoredEntry,
  content: ContentOf<'message'>,
  { tokensOf, budget, frames }: ProjectionInput,
  excerpted: Set<string>,
): Piece[] {
  const { attachments = [], role, provider } = content;
  const base = { entryId: entry.uuid, segment: 'history', role } as const;
  const ref = `#${entry.seq}`;
  const tooLong = (tokens: number): boolean => {
    if (tokens > budget.oversized) excerpted.add(entry.uuid);
    return tokens > budget.oversized;
  };
  const pieces = attachments.map((attachment): Piece => {
    const tokens = attachmentTokens(attachment);
    const limit = attachment.kind !== 'image' && tooLong(tokens) ? budget.oversized : null;
    return { ...base, block: { type: 'attachment', attachment, limit, ref }, tokens: limit ?? tokens };
  });
  if (content.text.trim() === '') return pieces;
  const tokens = attachments.reduce((sum, attachment) => sum - attachmentTokens(attachment), tokensOf(entry));
  const fit = tooLong(tokens)
    ? { text: excerpt(frames, content.text, tokens, budget.oversized, ref), tokens: budget.oversized }
    : { text: frames.plain(content.text), tokens };
  // What the offline answers say is quoted from files and conversations: no model has said it.
  const isQuoted = role === 'assistant' && provider === offlineProvider;
  const text = isQuoted ? frames.data('offline-answer', fit.text) : fit.text;
  return [...pieces, { ...base, block: { type: 'text', text }, tokens: fit.tokens + (isQuoted ? frameTokens : 4) }];
}

interface TailState {
  readonly unbroken: boolean;
  readonly masked: ReadonlySet<string>;
  /** A result may take so many tokens in a step that has returned too much. */
  readonly bound: number;
  readonly excerpted: Set<string>;
}

function toPiece(entry: StoredEntry, input: ProjectionInput, { unbroken, masked, bound, excerpted }: TailState): Piece | null {
  const { content } = entry;
  const { frames } = input;
  const whole = input.tokensOf(entry);
  const tokens = whole - picturePieces(entry).reduce((sum, picture) => sum + picture.tokens, 0);
  const ref = `#${entry.seq}`;
  const user = (text: Sealed, segment: SegmentKind): Piece => ({
    entryId: entry.uuid,
    segment,
    role: 'user',
    block: { type: 'text', text },
    tokens: tokens + frameTokens,
  });
  /** Only what this program wrote speaks in its name; an entry that was brought along from elsewhere does not. */
  const isOwn = typeof entry.sourceId !== 'string';
  const said = (kind: NoticeKind, text: string, from?: string): Sealed =>
    isOwn ? frames.notice(kind, text, { from }) : frames.data('imported', frames.plain(text), { type: kind });
  const fitted = (text: string, most = input.budget.oversized): { text: Sealed; tokens: number } => {
    if (tokens <= most) return { text: frames.plain(text), tokens };
    excerpted.add(entry.uuid);
    return { text: excerpt(frames, text, tokens, most, ref), tokens: most };
  };
  switch (content.type) {
    case 'thinking': {
      // A signed block is only valid while everything before it is unchanged; an unsigned one is never sent.
      if (!unbroken || content.model !== input.model || content.promptId !== input.promptId || !(content.signature ?? content.redactedData))
        return null;
      const { text, signature, redactedData } = content;
      const block: ModelBlock = { type: 'thinking', text, ...(signature ? { signature } : {}), ...(redactedData ? { redactedData } : {}) };
      return { entryId: entry.uuid, segment: 'history', role: 'assistant', block, tokens };
    }
    case 'tool_call':
      return {
        entryId: entry.uuid,
        segment: 'history',
        role: 'assistant',
        block: { type: 'tool_use', callId: content.callId, name: frames.plain(content.name), input: frames.plainValue(content.input) },
        tokens: tokens + 12,
      };
    case 'tool_result': {
      const stub = () => ({
        text: frames.mark('masked', { 'left-out': `about ${whole} tokens of output`, read: howToRead(ref) }),
        tokens: stubTokens,
      });
      const fit = masked.has(entry.uuid)
        ? stub()
        : fitted(
            content.text === '' ? '(no output)' : content.text,
            Math.min(input.budget.oversized, content.shownTokens ?? Infinity, bound),
          );
      return {
        entryId: entry.uuid,
        segment: 'toolResults',
        role: 'user',
        block: { type: 'tool_result', callId: content.callId, text: fit.text, isError: content.status !== 'ok' },
        tokens: fit.tokens + 8,
      };
    }
    case 'nudge':
      return asSystem(isOwn && content.asMessage, user(said('notes', content.text, content.injectAs), 'history'));
    case 'memory_note':
      return user(frames.data('notes', frames.plain(content.text)), 'memory');
    case 'usage_note':
      return user(said('usage', content.text), 'history');
    case 'branch_summary':
      return user(frames.data('other-branch', frames.plain(content.text)), 'summary');
    case 'custom_message':
      if (content.text === continueText) return user(said('continue', content.text), 'history');
      if (isOwn && content.customType === pinnedType) return user(frames.data('pinned', frames.plain(content.text)), 'history');
      if (isOwn && content.customType === skillType) return user(said('skill', content.text), 'history');
      return user(frames.data('imported', frames.plain(content.text), { type: content.customType }), 'history');
    case 'message':
    case 'compaction':
    case 'compaction_undone':
    case 'checkpoint':
    case 'prepared_summary':
    case 'side_question':
    case 'handed_over':
    case 'label':
    case 'model_change':
    case 'thinking_level_change':
    case 'instructions_change':
    case 'tools_change':
    case 'session_info':
    case 'file_changes':
    case 'custom':
      return null;
  }
}

/** The text stays tagged: where no system message can be sent, it is a block of the user's message. */
function asSystem(isSystem: boolean | undefined, piece: Piece): Piece {
  return isSystem && piece.block.type === 'text' ? { ...piece, block: { ...piece.block, as: 'system' } } : piece;
}

/** Puts every result directly behind its call, answers the calls that have none, and drops results without a call. */
function repairPairs(pieces: readonly Piece[], estimate: (text: string) => number): Piece[] {
  const results = new Map<string, Piece>();
  for (const piece of pieces)
    if (piece.block.type === 'tool_result' && !results.has(piece.block.callId)) results.set(piece.block.callId, piece);
  const synthetic = (callId: string): Piece => ({
    entryId: null,
    segment: 'toolResults',
    role: 'user',
    block: { type: 'tool_result', callId, text: missingResult, isError: true },
    tokens: estimate(missingResult) + 8,
  });
  const out: Piece[] = [];
  const open = new Set<string>();
  const pictures = pieces.filter(({ block }) => block.type === 'attachment' && block.callId !== undefined);
  const answered = new Set<string>();
  const answer = (piece: Piece, callId: string) => {
    out.push(piece);
    answered.add(callId);
  };
  // The results of a message stand in front of everything else in it, and what came with them behind the last.
  const answerOpen = () => {
    for (const callId of open) answer(results.get(callId) ?? synthetic(callId), callId);
    open.clear();
    if (answered.size > 0) out.push(...pictures.filter(({ block }) => 'callId' in block && answered.has(block.callId ?? '')));
    answered.clear();
  };
  for (const piece of pieces) {
    const { block } = piece;
    if (block.type === 'tool_result') {
      if (open.delete(block.callId)) answer(piece, block.callId);
      continue;
    }
    if (block.type === 'attachment' && block.callId !== undefined) continue;
    // A user's text, or an assistant block behind results, starts a new message: by then every call has to be answered.
    if (piece.role === 'user' || out.at(-1)?.role === 'user') answerOpen();
    out.push(piece);
    if (block.type === 'tool_use') open.add(block.callId);
  }
  answerOpen();
  return out;
}

function closed(pieces: Piece[], { estimate, frames }: Pick<ProjectionInput, 'estimate' | 'frames'>): Piece[] {
  const say = (kind: NoticeKind, text: string): Piece => ({
    entryId: null,
    segment: 'history',
    role: 'user',
    block: { type: 'text', text: frames.notice(kind, text) },
    tokens: estimate(text) + frameTokens,
  });
  const framed = pieces[0]?.role === 'assistant' ? [say('start', 'The conversation continues.'), ...pieces] : [...pieces];
  if (framed.at(-1)?.role === 'assistant') framed.push(say('continue', continueText));
  return framed;
}

/**
 * Marks for the prompt cache: the end of the summary, the end of this prompt, and the end of the prompt before it. The provider looks
 * back 20 blocks from a mark for one that it knows, and a step with many calls is longer than that.
 */
function toMessages(pieces: readonly Piece[]): PromptMessage[] {
  const messages: { role: 'user' | 'assistant'; blocks: PromptBlock[]; cacheBreakpoint?: boolean }[] = [];
  for (const [index, { role, block, segment }] of pieces.entries()) {
    if (role === 'system') continue;
    let message = messages.at(-1);
    if (message?.role !== role) messages.push((message = { role, blocks: [] }));
    message.blocks.push(block);
    if (segment === 'summary' && pieces[index + 1]?.segment !== 'summary') message.cacheBreakpoint = true;
  }
  const last = messages.at(-1);
  if (last) last.cacheBreakpoint = true;
  const before = messages.slice(0, -1).findLast((message) => message.role === 'user');
  if (before) before.cacheBreakpoint = true;
  return messages;
}
