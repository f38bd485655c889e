import type { SessionStore } from '../../ports';
import { mostImageBytes, mostImageSide, type Attachment } from '../../session/userMessage';
import { CancelledError, errorText } from '../../errors';
import { t } from '../../l10n';
import type { Clock, Disposable } from '../../ports';
import { imageSize, imageTokens, longSide } from '../../context/projection/attachments';
import type { ContentOf, StoredEntry } from '../../session/entry';
import { ToolFault, type ApprovalQuestion, type NoteWrite, type ToldMessage, type Tool, type ToolImage } from '../../tools/tool';
import type { Approvals } from './approvals';
import type { CallRecorder } from '../../rewind/callRecorder';
import type { RecordedChanges } from '../../rewind/fileChanges';
import type { ConversationEvent } from '../events';

export type ToolCallEntry = StoredEntry & { readonly content: ContentOf<'tool_call'> };

export interface ToolRunDeps {
  readonly tools: readonly Tool[];
  readonly approvals: Approvals;
  readonly clock: Clock;
  readonly emit: (event: ConversationEvent) => void;
  /** Keeps the images that tools return; omitted: they are left out. */
  readonly store?: Pick<SessionStore, 'putBlob'>;
  /** Omitted: what calls do to files is not recorded. */
  readonly recorder?: CallRecorder;
  /** Why a tool does not run now, in words for the model; null, or omitted: it may. Asked before each call. */
  readonly refuses?: (tool: Tool) => string | null;
  /** What tools say beside their results; it belongs behind all results of the step. */
  readonly tell: (message: ToldMessage) => void;
}

type Result = ContentOf<'tool_result'>;

/** A tool that names no limit of its own has this one. */
const usualTimeoutMs = 120_000;
/** After its end has been asked for. */
const graceMs = 2_000;
/** Calls of one step that run at the same time. */
const mostAtOnce = 8;
/** A result has at most so many characters; of more, the beginning and the end are kept. */
const mostCharacters = 4_000_000;
/** Images of one result; of more, the first. */
const mostImages = 8;
const unseen = '[Images cannot be seen here.]';

/**
 * Runs the calls of one step: neighbouring reads together, everything else alone and in the order it was asked for. `record` gets the
 * results in that order, one after the other, with the notes and the files that each has changed; when it rejects, what still runs is
 * stopped and the rejection is passed on.
 */
export async function runCalls(
  calls: readonly ToolCallEntry[],
  deps: ToolRunDeps,
  record: (result: Result, done: CallDoings) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const broken = new AbortController();
  const either = AbortSignal.any([signal, broken.signal]);
  try {
    for (const batch of batches(calls, deps.tools)) {
      const running = batch.map((call) => {
        const notes: NoteWrite[] = [];
        return { notes, result: runTool(call, deps, either, (write) => notes.push(write)) };
      });
      for (const [index, { result, notes }] of running.entries())
        await record(await result, { call: batch[index]!.uuid, notes, files: deps.recorder?.take() ?? nothing });
    }
  } finally {
    broken.abort();
  }
}

/** What a call has done beside its result. */
export interface CallDoings {
  readonly call: string;
  readonly notes: readonly NoteWrite[];
  readonly files: RecordedChanges;
}

const nothing: RecordedChanges = { files: [] };

/** Runs one call. Whatever goes wrong is a result that the model can read; rejects never. */
export async function runTool(
  call: ToolCallEntry,
  { tools, approvals, clock, emit, tell, store, recorder, refuses }: ToolRunDeps,
  signal: AbortSignal,
  onNoteWritten: (write: NoteWrite) => void = () => undefined,
): Promise<Result> {
  const { callId, name, input } = call.content;
  const result = ({ text, ...outcome }: Pick<Result, 'text' | 'status' | 'shownTokens' | 'attachments'>): Result => ({
    type: 'tool_result',
    callId,
    name,
    text: bounded(text),
    ...outcome,
  });
  const tool = tools.find((one) => one.name === name);
  if (!tool)
    return result({
      text: `There is no tool called "${name}". Available: ${tools.map((one) => one.name).join(', ') || 'none'}.`,
      status: 'error',
    });
  const refusal = refuses?.(tool) ?? null;
  if (refusal !== null) return result({ text: refusal, status: 'denied' });
  if (signal.aborted) return result({ text: 'The user stopped the turn before this call ran.', status: 'interrupted' });
  try {
    const question = tool.needsApproval
      ? await tool.needsApproval(input, signal)
      : tool.access === 'write'
        ? plainQuestion(name, input)
        : null;
    if (question) {
      const approval = await approvals.ask({ call: call.uuid, tool: name, question }, signal);
      if (!approval.allowed) return result({ text: approval.reason, status: approval.status });
    }
    const onOutput = (text: string) => emit({ type: 'tool_output', call: call.uuid, text });
    const run = () =>
      inTime(clock, tool.timeoutMs ?? usualTimeoutMs, signal, (ended) =>
        tool.run(input, ended, { approved: question, call: call.uuid, onOutput, onNoteWritten, tell }),
      );
    const { images = [], ...outcome } = await (recorder ? recorder.around(tool, run) : run());
    const { attachments, notes } = store ? await keepImages(images, store) : { attachments: [], notes: images.length > 0 ? [unseen] : [] };
    return result({
      ...outcome,
      text: [outcome.text, ...notes].join('\n'),
      ...(signal.aborted && outcome.status === 'error' ? { status: 'interrupted' } : {}),
      ...(attachments.length > 0 ? { attachments } : {}),
    });
  } catch (error) {
    if (ToolFault.is(error)) return result({ text: error.message, status: 'error' });
    if (CancelledError.is(error) || signal.aborted) return result({ text: 'The user stopped this call.', status: 'interrupted' });
    return result({ text: `The tool failed: ${errorText(error)}`, status: 'error' });
  }
}

/** A tool that is ended may still say how far it got; one that does not listen to its signal is not waited for. */
async function inTime<T>(clock: Clock, ms: number, signal: AbortSignal, run: (ended: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const ended = AbortSignal.any([signal, late.signal]);
  const timer = clock.after(ms, () => late.abort());
  let end!: () => void;
  let grace: Disposable | undefined;
  const over = new Promise<never>((_, reject) => {
    end = () => {
      const error = signal.aborted
        ? new CancelledError()
        : new ToolFault(`The tool had not finished after ${Math.round(ms / 1000)} seconds and was ended.`);
      grace = clock.after(graceMs, () => reject(error));
    };
    ended.addEventListener('abort', end, { once: true });
  });
  try {
    return await Promise.race([run(ended), over]);
  } finally {
    ended.removeEventListener('abort', end);
    timer.dispose();
    grace?.dispose();
  }
}

/** What the bytes say they are counts, whatever the tool says. `notes`: of images that are too large to be seen, in words for the model. */
async function keepImages(
  images: readonly ToolImage[],
  store: Pick<SessionStore, 'putBlob'>,
): Promise<{ readonly attachments: Attachment[]; readonly notes: readonly string[] }> {
  const attachments: Attachment[] = [];
  const notes: string[] = [];
  for (const { name, bytes } of images) {
    const size = bytes.length <= mostImageBytes ? imageSize(bytes) : null;
    if (!size || attachments.length >= mostImages) continue;
    const { mime, width, height } = size;
    if (longSide(size) > mostImageSide)
      notes.push(`[${name} is not shown: it has ${width} × ${height} pixels, and a side may have ${mostImageSide}.]`);
    else attachments.push({ kind: 'image', name, hash: await store.putBlob(bytes, mime), mime, tokens: imageTokens(size) });
  }
  return { attachments, notes };
}

function batches(calls: readonly ToolCallEntry[], tools: readonly Tool[]): ToolCallEntry[][] {
  const isRead = ({ content }: ToolCallEntry) => tools.find(({ name }) => name === content.name)?.access === 'read';
  const all: ToolCallEntry[][] = [];
  for (const call of calls) {
    const batch = all.at(-1);
    if (batch && batch.length < mostAtOnce && isRead(call) && batch.every(isRead)) batch.push(call);
    else all.push([call]);
  }
  return all;
}

function plainQuestion(name: string, input: unknown): ApprovalQuestion {
  return { kind: 'tool', title: t('Run {0}', name), detail: JSON.stringify(input, null, 2) ?? null, everyTime: false, change: null };
}

function bounded(text: string): string {
  if (text.length <= mostCharacters) return text;
  const half = mostCharacters / 2;
  return `${text.slice(0, half)}\n\n[… ${text.length - mostCharacters} characters were not kept …]\n\n${text.slice(-half)}`;
}
