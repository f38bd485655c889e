import { turnErrorType } from '../../../core/chat/events';
import { renderCheckpoint } from '../../../core/compaction/checkpoints/checkpointText';
import { readableSummary } from '../../../core/compaction/ledgers/foldedState';
import { listed, shown, t } from '../../../core/l10n';
import { isCommandRun, readCommandRun } from '../../../core/session/commandRun';
import { damagedType, type ContentOf, type EntryOf, type StoredEntry } from '../../../core/session/entry';
import { modeText, modeTold } from '../../../core/plan/planMode';
import { skillType } from '../../../core/skills/skill';
import { offeredRules } from '../../../core/tools/allowRules';
import { callChange, createFileName, editFileName } from '../../../core/tools/files/callChange';
import { changedLines, type ChangedLines } from '../../../core/tools/files/changedLines';
import type { FoldSaving } from '../../../core/cost/returns';
import type { ApprovalQuestion } from '../../../core/tools/tool';
import type { TranscriptRow } from '../../../protocol/messages';
import { toolTitle } from './toolTitle';

/** What a row depends on besides its own entry. */
export interface RowContext {
  /** What a model is called, by its id. */
  readonly modelName: (id: string) => string;
  /** Entries with a smaller `seq` reach the model through the summary only; 0 when nothing is folded. */
  readonly foldedBefore: number;
  readonly excerpted: (uuid: string) => boolean;
  readonly result: (callId: string) => EntryOf<'tool_result'> | undefined;
  /** What the side question of a call came to. */
  readonly aside: (uuid: string) => EntryOf<'side_question'> | undefined;
  /** What a running call has printed. */
  readonly output: (uuid: string) => string | undefined;
  readonly approval: (uuid: string) => ApprovalQuestion | undefined;
  /** Whether a call without a result may still get one. */
  readonly isRunning: (uuid: string) => boolean;
  readonly compactionState: (uuid: string) => Pick<TranscriptRow & { kind: 'compaction' }, 'state' | 'reusable'>;
  /** True for an attempt that failed and was repeated. */
  readonly isRepeated: (uuid: string) => boolean;
  /** What a compaction on a return has saved; null where that is not known, or not yet. */
  readonly saving: (uuid: string) => FoldSaving | null;
  readonly isPinned: (uuid: string) => boolean;
  /** Whether the user has taken it out of the context. */
  readonly isExcluded: (uuid: string) => boolean;
  readonly nudgeOutcome: (entry: StoredEntry) => Pick<TranscriptRow & { kind: 'nudge' }, 'outcome' | 'writes'>;
}

/** The row of an entry; null for entries that are part of another row or are not shown. */
export function toRow(entry: StoredEntry, context: RowContext): TranscriptRow | null {
  if (!entry.display || context.isRepeated(entry.uuid)) return null;
  const { uuid: id, createdAt: at, content } = entry;
  const folded = entry.seq < context.foldedBefore;
  const info = (text: string): TranscriptRow => ({ kind: 'info', id, at, text });
  switch (content.type) {
    case 'message':
      return content.role === 'user'
        ? {
            kind: 'user',
            id,
            at,
            text: content.text,
            ...(content.attachments ? { attachments: content.attachments } : {}),
            folded,
            excerpted: context.excerpted(id),
            pinned: context.isPinned(id),
            excluded: context.isExcluded(id),
          }
        : {
            kind: 'assistant',
            id,
            at,
            markdown: content.text,
            model: context.modelName(content.model ?? ''),
            folded,
            pinned: context.isPinned(id),
            excluded: context.isExcluded(id),
            interrupted: content.interrupted ?? null,
          };
    case 'thinking':
      // Some models return their thinking without its text; there is nothing to open then.
      return content.text === '' ? null : { kind: 'thinking', id, at, text: content.text, durationMs: content.durationMs ?? null, folded };
    case 'tool_call':
      return toolRow(entry, content, context, folded);
    case 'nudge':
      return {
        kind: 'nudge',
        id,
        at,
        percent: content.percent,
        usedTokens: content.usedTokens,
        text: content.text,
        ...context.nudgeOutcome(entry),
      };
    case 'compaction':
      return compactionRow(entry, content, context);
    case 'compaction_undone':
      return { kind: 'undo', id, at, tokensRestored: content.tokensRestored };
    case 'custom':
      if (content.customType === damagedType) return info(damagedText(content.data));
      return content.customType === turnErrorType ? errorRow(entry, content.data) : null;
    case 'checkpoint':
      return {
        kind: 'checkpoint',
        id,
        at,
        tokens: content.tokensAtCheckpoint,
        model: content.model === undefined ? null : context.modelName(content.model),
        summary: renderCheckpoint(content),
      };
    case 'model_change':
      return info(t('Model: {0}', context.modelName(content.model)));
    case 'thinking_level_change':
      return info(t('Thinking level: {0}', content.level));
    case 'instructions_change':
      return info(t('Instructions changed'));
    case 'tools_change':
      return info(t('Tools: {0}', content.enabled.length === 0 ? t('none') : listed(content.enabled)));
    case 'branch_summary':
      return { kind: 'branch_summary', id, at, summary: readableSummary(content.text) };
    case 'custom_message':
      if (isCommandRun(content)) return commandRow(entry, content, context, folded);
      return content.customType === skillType ? skillRow(entry, content.text) : info(content.text);
    case 'usage_note': {
      const mode = modeTold(content.text);
      return info(mode === null ? content.text : modeText(mode));
    }
    case 'tool_result':
    case 'memory_note':
    case 'label':
    case 'file_changes':
    case 'session_info':
    case 'prepared_summary':
    case 'side_question':
    case 'handed_over':
      return null;
    default:
      return info(newerText(content));
  }
}

/** The compiler asks for every kind above; what a newer version has stored is none of them. */
function newerText(_newer: never): string {
  return t('A newer version of Threadkeeper wrote this. Update to read it.');
}

function skillRow({ uuid: id, createdAt: at }: StoredEntry, said: string): TranscriptRow {
  const [title = ''] = said.split('\n', 1);
  return { kind: 'skill', id, at, title: title.trim(), text: said.slice(title.length).trim() };
}

/** What the store makes of content that does not add up (entryCodec.ts). */
function damagedText(data: unknown): string {
  const text = typeof data === 'object' && data !== null && 'text' in data && typeof data.text === 'string' ? data.text.trim() : '';
  return text === ''
    ? t('This entry is damaged and is not sent to the model. Nothing of it could be read.')
    : t('This entry is damaged and is not sent to the model. What could be read: {0}', text);
}

function toolRow(
  { uuid: id, createdAt: at }: StoredEntry,
  call: ContentOf<'tool_call'>,
  context: RowContext,
  folded: boolean,
): TranscriptRow {
  const result = context.result(call.callId)?.content;
  const question = context.approval(id);
  const isDone = result?.status === 'ok';
  const change = isDone ? ownChange(call) : null;
  return {
    kind: 'tool',
    id,
    at,
    name: call.name,
    title: toolTitle(call, isDone),
    ...(change ? { lines: { added: change.added, removed: change.removed } } : {}),
    ...(isDone && typeof call.input === 'object' && call.input !== null && namesFile.has(call.name) && 'path' in call.input
      ? { file: String(call.input.path) }
      : {}),
    input: jsonText(call.input),
    output: result?.text ?? context.output(id) ?? null,
    ...(result?.attachments ? { images: result.attachments } : {}),
    approval:
      question && !result
        ? {
            title: question.title,
            detail: question.detail,
            ...(question.note === undefined ? {} : { note: question.note }),
            everyTime: question.everyTime,
            lasting: offeredRules(question, call.name).length > 0,
            change: question.change && changedLines(question.change),
          }
        : null,
    ...asideOf(context.aside(id)),
    hasDiff: callChange(call) !== null && (result === undefined ? question !== undefined : result.status === 'ok'),
    status: result?.status ?? (context.isRunning(id) ? 'running' : 'interrupted'),
    folded,
    excluded: context.isExcluded(id),
  };
}

function asideOf(entry: EntryOf<'side_question'> | undefined): Pick<TranscriptRow & { kind: 'tool' }, 'aside'> {
  if (!entry) return {};
  const { read, requests, cost, outcome } = entry.content;
  return { aside: { id: entry.uuid, read, requests, cost, outcome } };
}

/** Calls of which the input names a file that can be opened when they are done. */
const namesFile: ReadonlySet<string> = new Set([editFileName, createFileName, 'read_file']);

const known = new WeakMap<object, ChangedLines | null>();

/** What a call of an edit tool has changed, as its input says it. A row is made again and again; its call stays as it is. */
function ownChange(call: ContentOf<'tool_call'>): ChangedLines | null {
  const found = known.get(call);
  if (found !== undefined) return found;
  const change = callChange(call);
  const lines = change && namesFile.has(call.name) ? changedLines(change) : null;
  known.set(call, lines);
  return lines;
}

/** What the user has run in another program: a call that is over, without a model that asked for it. */
function commandRow(
  { uuid: id, createdAt: at }: StoredEntry,
  content: ContentOf<'custom_message'>,
  context: RowContext,
  folded: boolean,
): TranscriptRow {
  const { command, output, failed } = readCommandRun(content);
  return {
    kind: 'tool',
    id,
    at,
    name: t('Command'),
    title: null,
    input: jsonText({ command }),
    output,
    approval: null,
    hasDiff: false,
    status: failed ? 'error' : 'ok',
    folded,
    excluded: context.isExcluded(id),
  };
}

function compactionRow({ uuid: id, createdAt: at }: StoredEntry, content: ContentOf<'compaction'>, context: RowContext): TranscriptRow {
  return {
    kind: 'compaction',
    id,
    at,
    messages: content.messagesBefore - content.messagesAfter,
    tokensBefore: content.tokensBefore,
    tokensAfter: content.tokensAfter,
    rung: content.rung,
    trigger: content.trigger,
    durationMs: content.durationMs,
    model: content.model && context.modelName(content.model),
    note: content.note ? shown(content.note) : null,
    summary: readableSummary(content.summaryText),
    continuity: content.continuity ?? null,
    unknownIds: content.audit?.unknownIds ?? [],
    coversFrom: content.coversFrom,
    ...context.compactionState(id),
    ...savedBy(context.saving(id)),
  };
}

function savedBy(saving: FoldSaving | null) {
  return saving && { saved: { tokens: saving.tokens, cost: saving.cost } };
}

function errorRow({ uuid: id, createdAt: at }: StoredEntry, data: unknown): TranscriptRow {
  const { reason, message, detail } = (typeof data === 'object' && data !== null ? data : {}) as Readonly<Record<string, unknown>>;
  return {
    kind: 'error',
    id,
    at,
    reason: typeof reason === 'string' ? reason : 'internal',
    text: typeof message === 'string' ? shown(message) : t('The turn ended with an error.'),
    ...(typeof detail === 'string' ? { details: shown(detail) } : {}),
  };
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}
