import { maskedEntries } from '../../compaction/ladder/mask';
import { readableSummary } from '../../compaction/ledgers/foldedState';
import { extractiveSummary, type ExtractiveItem } from '../../compaction/measure/extractive';
import { estimateTokens } from '../../context/measure/estimateTokens';
import { isObject } from '../../base/json';
import { requestIn } from '../../session/carriedRequest';
import { isDamaged, isEntryOf, type ContentOf, type EntryOf, type StoredEntry } from '../../session/entry';
import { leftOutEntries, liveCompaction, verbatimEntries } from '../../session/liveCompaction';
import { attachmentTitle, type Attachment } from '../../session/userMessage';
import { boundedStep, shortened } from './boundedStep';
import type { HandedCall, HandedStep } from './handedStep';

/** What another program is told of a session: it begins with a message of the user. */
export interface HandedHistory {
  readonly steps: readonly HandedStep[];
  /** An estimate. */
  readonly tokens: number;
  /** The steps begin with a summary of what is older. */
  readonly isFolded: boolean;
  /** How many of its entries and attached texts are damaged, or not there, and so are not told. */
  readonly unreadable: number;
}

export interface HandedOptions {
  /** How much of it the other program is to hold. */
  readonly tokens: number;
  /** Texts of attachments, by hash; those that are not there are only named. */
  readonly contents: ReadonlyMap<string, string>;
}

/** A single text may take this part of all, and so may the summary with what is attached to the request in it. */
const messageShare = 0.25;
/** A message with all of its calls may take this part of all: the last one is handed over whatever it is. */
const stepShare = 0.4;
/** The summary of what does not fit may take so many tokens, and no more than a quarter of all. */
const passageTokens = 3_000;
/** What stands around a summary and passages. */
const openingTokens = 100;
/** What a message takes beside its text. */
const perStep = 12;
const olderOutput = '(left out: older output)';
const missingResult = 'No result: the call was interrupted before it finished.';
const understood = 'Understood. I have the state of our conversation and continue from it.';

/**
 * The branch as its model has it (summary, and what stands word for word behind it), cut to a size: what is older than fits is told in
 * passages. Entries are root side first.
 */
export function handedHistory(entries: readonly StoredEntry[], { tokens, contents }: HandedOptions): HandedHistory {
  const live = liveCompaction(entries);
  const most = Math.floor(tokens * messageShare);
  // How our own model looks things up is nothing to another program: it has no such tool.
  const summary = shortened(readableSummary(live?.content.summaryText ?? '').trim(), most);
  const request = summary === '' ? [] : (requestIn(live?.content.summary)?.attachments ?? []);
  const known = request.filter(({ hash }) => contents.has(hash));
  const attached = shortened(wellFormed(attachedTexts(known, contents).join('\n\n')), Math.max(0, most - estimateTokens(summary)));
  const steps = stepsOf(entries, most, contents).map((step) => boundedStep(step, Math.floor(tokens * stepShare), sizeOf));
  const room = Math.max(0, tokens - openingTokens - estimateTokens(summary) - estimateTokens(attached));
  const from = firstThatFits(steps, room, Math.min(passageTokens, Math.floor(tokens / 4)));
  const [folded, kept] = [steps.slice(0, from), steps.slice(from)];
  const passages = folded.length === 0 ? '' : passagesOf(folded, Math.min(passageTokens, Math.floor(tokens / 4)));
  const head = [
    ...(summary === '' ? [] : [`Summary of our conversation so far:\n\n${summary}`]),
    ...(attached === '' ? [] : [attached]),
    ...(passages === '' ? [] : [`Passages of what was said ${summary === '' ? 'before' : 'after that'}, oldest first:\n\n${passages}`]),
  ].join('\n\n');
  const last = folded.at(-1);
  const anchor = last ? { uuid: lastEntry(last), createdAt: last.at } : (live ?? { uuid: kept[0]?.entry, createdAt: kept[0]?.at ?? 0 });
  const all = anchor.uuid === undefined ? [] : opened(head, kept, anchor.uuid, anchor.createdAt);
  return { steps: all, tokens: sum(all), isFolded: head !== '', unreadable: unreadable(entries, request, contents) };
}

/** What follows a step follows this entry. */
export function lastEntry({ calls, entry }: HandedStep): string {
  return calls.at(-1)?.result.entry ?? entry;
}

function unreadable(entries: readonly StoredEntry[], request: readonly Attachment[], contents: HandedOptions['contents']): number {
  const leftOut = leftOutEntries(entries);
  const meant = verbatimEntries(entries).filter(({ uuid }) => !leftOut.has(uuid));
  const attached = [...request, ...meant.flatMap(({ content }) => (content.type === 'message' ? (content.attachments ?? []) : []))];
  const absent = attached.flatMap(({ kind, hash }) => (kind === 'image' || contents.has(hash) ? [] : [hash]));
  return meant.filter(isDamaged).length + new Set(absent).size;
}

/** A conversation begins with the user, and two messages in a row are one to some. */
function opened(head: string, kept: readonly HandedStep[], entry: string, at: number): HandedStep[] {
  const step = (role: HandedStep['role'], text: string): HandedStep => ({ role, text, calls: [], entry, at, model: null });
  if (head !== '') return [step('user', head), ...(kept[0]?.role === 'assistant' ? [] : [step('assistant', understood)]), ...kept];
  return kept[0]?.role === 'assistant' ? [step('user', 'Go on.'), ...kept] : [...kept];
}

function stepsOf(entries: readonly StoredEntry[], most: number, contents: HandedOptions['contents']): HandedStep[] {
  const leftOut = leftOutEntries(entries);
  const masked = maskedEntries(entries);
  const sent = verbatimEntries(entries).filter(({ modelFacing, uuid }) => modelFacing && !leftOut.has(uuid));
  const results = resultsByCall(sent);
  const ids = new Set<string>();
  const steps: HandedStep[] = [];
  /** The calls of one answer stand together; a result parts them from the next ones. */
  let isAnswered = false;
  const add = (role: HandedStep['role'], text: string, calls: readonly HandedCall[], { uuid, createdAt }: StoredEntry, model?: string) => {
    isAnswered = false;
    steps.push({ role, text: shortened(wellFormed(text), most), calls, entry: uuid, at: createdAt, model: model ?? null });
  };
  for (const entry of sent) {
    const { content } = entry;
    switch (content.type) {
      case 'message': {
        const text = [...attachedTexts(content.attachments, contents), content.text].filter((one) => one.trim() !== '').join('\n\n');
        if (text !== '') add(content.role, text, [], entry, content.model);
        break;
      }
      case 'tool_call': {
        const result = results.get(entry);
        const call = callOf(entry, content, result, {
          id: unusedId(content.callId, ids),
          text: result === undefined ? missingResult : masked.has(result.uuid) ? olderOutput : result.content.text || '(no output)',
          most,
        });
        const before = steps.at(-1);
        if (before?.role === 'assistant' && !isAnswered) steps[steps.length - 1] = { ...before, calls: [...before.calls, call] };
        else add('assistant', '', [call], entry, content.model);
        break;
      }
      case 'tool_result':
        isAnswered = true;
        break;
      case 'branch_summary':
      case 'custom_message':
      case 'memory_note':
        if (content.text.trim() !== '') add('user', content.text, [], entry);
        break;
      default:
        break;
    }
  }
  return steps;
}

function callOf(
  { uuid: entry, createdAt: at }: StoredEntry,
  { name, input }: ContentOf<'tool_call'>,
  result: ResultEntry | undefined,
  { id, text, most }: { readonly id: string; readonly text: string; readonly most: number },
): HandedCall {
  const plain = withoutHalves(input);
  return {
    id,
    name: name.replace(/[^\w-]/g, '_').slice(0, 64) || 'tool',
    input: isObject(plain) ? plain : { input: plain ?? null },
    entry,
    result: { text: shortened(wellFormed(text), most), isError: !result || result.content.status !== 'ok', entry: result?.uuid ?? entry },
    at,
  };
}

type ResultEntry = EntryOf<'tool_result'>;

/** The result of each call: the first of its id behind it, before another call has taken the id again. */
function resultsByCall(sent: readonly StoredEntry[]): ReadonlyMap<StoredEntry, ResultEntry> {
  const open = new Map<string, StoredEntry>();
  const results = new Map<StoredEntry, ResultEntry>();
  for (const entry of sent) {
    if (entry.content.type === 'tool_call') open.set(entry.content.callId, entry);
    if (!isEntryOf(entry, 'tool_result')) continue;
    const { callId } = entry.content;
    const call = open.get(callId);
    if (call) results.set(call, entry);
    open.delete(callId);
  }
  return results;
}

function attachedTexts(attachments: readonly Attachment[] = [], contents: ReadonlyMap<string, string>): string[] {
  return attachments.map((one) => {
    const text = one.kind === 'image' ? undefined : contents.get(one.hash);
    const title = `${one.kind}: ${attachmentTitle(one)}`;
    return text === undefined ? `[attached ${title}]` : `[attached ${title}]\n${text}\n[end of ${attachmentTitle(one)}]`;
  });
}

/**
 * Index of the first step of the longest end that fits. Where something is left out it begins with the user, unless that would leave out
 * a quarter of the room as well: behind a question can stand hours of work.
 */
function firstThatFits(steps: readonly HandedStep[], room: number, passages: number): number {
  if (sum(steps) <= room) return 0;
  let left = room - passages;
  let from = steps.length;
  while (from > 0 && left >= sizeOf(steps[from - 1]!)) left -= sizeOf(steps[--from]!);
  const ofUser = steps.findIndex(({ role }, i) => i >= from && role === 'user');
  const isNear = ofUser !== -1 && sum(steps.slice(from, ofUser)) < room / 4;
  return isNear ? ofUser : Math.min(from, steps.length - 1);
}

function passagesOf(steps: readonly HandedStep[], tokens: number): string {
  const items = steps.flatMap(({ role, text, calls, entry, at }, i): ExtractiveItem[] => [
    ...(text === '' ? [] : [{ entryId: `${i + 1}`, role, text, at }]),
    ...calls.map(({ result }) => ({ entryId: entry, role: 'tool' as const, text: result.text, at })),
  ]);
  const said = new Map(steps.map(({ role }, i) => [`${i + 1}`, role]));
  return extractiveSummary(items, tokens, estimateTokens)
    .lines.map(({ entryId, text }) => `- ${said.get(entryId) ?? 'tool'}: ${text}`)
    .join('\n');
}

const sum = (steps: readonly HandedStep[]) => steps.reduce((all, step) => all + sizeOf(step), 0);

function sizeOf({ text, calls }: HandedStep): number {
  const called = calls.reduce(
    (all, { name, input, result }) => all + estimateTokens(name + JSON.stringify(input)) + estimateTokens(result.text) + 2 * perStep,
    0,
  );
  return estimateTokens(text) + perStep + called;
}

/** Half a character is no JSON to some parsers, and strings of databases end with a NUL. */
function wellFormed(text: string): string {
  return text.replace(/[\0\p{Cs}]/gu, '\ufffd');
}

/** Providers take letters, digits, `_` and `-`, 64 of them at most, and each id once. */
function unusedId(id: string, taken: Set<string>): string {
  const plain = id.replace(/[^\w-]/g, '_').slice(0, 56) || 'call';
  let unused = plain;
  for (let n = 2; taken.has(unused); n++) unused = `${plain}_${n}`;
  taken.add(unused);
  return unused;
}

function withoutHalves(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(withoutHalves);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [wellFormed(name), withoutHalves(one)]));
}
