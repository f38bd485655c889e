import * as z from 'zod/mini';
import { wholeCharacters } from '../../context/projection/excerpt';
import { indented } from '../../frames/frames';
import { CarriedRequest } from '../../session/carriedRequest';
import type { StoredEntry } from '../../session/entry';
import { attachmentNote, attachmentTokens, type Attachment } from '../../session/userMessage';
import { entryRef } from '../summary/prompts';
import { renderSessionState, SessionState } from '../summary/summaryFormat';
import { TodoList } from '../../todo/todoItems';
import { renderTodos, todoHeading } from '../../todo/todoList';
import { LedgerLine, unseen } from './userLedger';
import { emptyWorkLedger, renderWorkLedger, WorkLedger } from './workLedger';

/** What a folded range leaves behind, kept with the compaction so that the next one can merge it. */
export const FoldedState = z.object({
  /** Made by a model; null on the rungs without one. */
  state: z.nullable(SessionState),
  /** A model's answer that was no JSON; kept as it is. */
  raw: z.nullable(z.string()),
  /** Verbatim passages of the folded range: all there is on the extractive rung, the identifiers' lines beside a model's state. */
  lines: z.array(LedgerLine),
  /** What the user said in the folded ranges, verbatim. */
  ledger: z.array(LedgerLine),
  /** User messages that no longer fit the ledger, by id. */
  earlier: z.array(z.string()),
  /** Sentences of the user that are meant to hold on. */
  orders: z._default(z.array(LedgerLine), []),
  /** Sentences of the user that give a name, a number or a path. */
  values: z._default(z.array(LedgerLine), []),
  work: z._default(WorkLedger, emptyWorkLedger),
  /** Identifiers that nothing else here mentions, by entry. */
  identifiers: z._default(z.array(LedgerLine), []),
  /**
   * The request that is being worked on, as it is shown, where the cut fell inside of its turn: a second cut there may no longer have it at
   * hand.
   */
  request: z.optional(CarriedRequest),
  /** The model's to-do list as it stood then, word for word: it outlives every compaction. */
  todos: z.optional(TodoList),
});
export type FoldedState = z.infer<typeof FoldedState>;

export const emptyFoldedState: FoldedState = {
  state: null,
  raw: null,
  lines: [],
  ledger: [],
  earlier: [],
  orders: [],
  values: [],
  work: emptyWorkLedger,
  identifiers: [],
};

const openingText =
  'Earlier messages of this conversation are folded into this state. They still exist: recall {"query": …} searches them, recall {"entryIds": ["#12"]} reads the entries whose ids are cited here.';

/**
 * The text that stands in the prompt: state, user ledger, work ledger, pins, passages; then the request being worked on, if its turn was
 * cut.
 */
export function renderFoldedState(
  folded: FoldedState,
  currentRequest: StoredEntry | null,
  oversizedChars: number,
  pins = '',
  opening = openingText,
): string {
  const list = (title: string, lines: readonly LedgerLine[]) =>
    lines.length === 0 ? [] : [`## ${title}`, ...lines.map(({ ref, text }) => `- (${ref}) ${indented(text)}`)].join('\n');
  const orders = unseen(folded.ledger, folded.orders);
  const values = unseen(folded.ledger, folded.values);
  return [
    opening,
    stateText(folded),
    list('Standing orders of the user (verbatim)', orders),
    list('Exact values that the user gave', values),
    list('What the user said (verbatim)', folded.ledger),
    folded.earlier.length === 0 ? '' : `The user's earlier messages, through recall: ${abbreviate(folded.earlier)}`,
    renderWorkLedger(folded.work),
    renderTodos(folded.todos ?? []),
    pins,
    list('Also mentioned', folded.identifiers),
    list(
      folded.state || folded.raw ? 'Exact passages' : 'Passages (verbatim)',
      unseen([...folded.ledger, ...orders, ...values], folded.lines),
    ),
    requestText(carriedRequest(currentRequest, oversizedChars) ?? folded.request),
  ]
    .flat()
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What people are shown of it: how things are looked up and what its marks mean is said to the model. */
export function readableSummary(text: string): string {
  const [opening = ''] = text.split('\n\n', 1);
  const rest = opening.includes('recall {') ? text.slice(opening.length).trim() : text;
  return rest.replace(todoHeading, '## To-do list');
}

/** What a model or the user wrote; empty on the rungs without one. */
export function stateText({ state, raw }: FoldedState): string {
  return [state ? renderSessionState(state) : '', raw ?? ''].filter((part) => part !== '').join('\n\n');
}

/** What of it a user may rewrite: the ledgers, pins and ids beside it are the program's. */
export function editableText(folded: FoldedState): string {
  return stateText(folded) || folded.lines.map(({ ref, text }) => `- ${text} (${ref})`).join('\n');
}

/** With the user's text in the place of what a model wrote, or (`byModel` false) of the passages that stood in for it. */
export function withUsersText(folded: FoldedState, text: string, byModel: boolean): FoldedState {
  return { ...folded, state: null, raw: text.trim(), lines: byModel ? folded.lines : [] };
}

function abbreviate(refs: readonly string[]): string {
  return refs.length <= 20 ? refs.join(', ') : `${refs.slice(0, 4).join(', ')} … ${refs.slice(-12).join(', ')} (${refs.length})`;
}

/** Characters of a token, as sizes are converted where nothing is counted. */
const charsPerToken = 3;

/** Takes the request from its message, as `fittingRequest` does; undefined for what is no message. */
export function carriedRequest(entry: StoredEntry | null, maxChars: number): CarriedRequest | undefined {
  if (entry?.content.type !== 'message') return undefined;
  const { text, attachments } = entry.content;
  return fittingRequest({ ref: entryRef(entry), text, attachments }, maxChars);
}

/** Keeps all of a request, or its head and tail, and the attachments that have room beside it; the others are named. */
export function fittingRequest({ ref, text, attachments = [], leftOut = [] }: CarriedRequest, maxChars: number): CarriedRequest {
  const shown = text.length <= maxChars ? text : headAndTail(text, ref, maxChars);
  const carried = withRoom(attachments, (maxChars - shown.length) / charsPerToken);
  const left = [...leftOut, ...attachments.filter((one) => !carried.includes(one))];
  return { ref, text: shown, ...(carried.length > 0 ? { attachments: carried } : {}), ...(left.length > 0 ? { leftOut: left } : {}) };
}

function headAndTail(text: string, ref: string, maxChars: number): string {
  const head = Math.floor(maxChars * 0.7);
  return `${wholeCharacters(text, 0, head)}\n[… the rest: recall ${ref} …]\n${wholeCharacters(text, text.length - (maxChars - head), text.length)}`;
}

/** Images go first: nothing else brings one back, while texts are read through recall. They stay in their order. */
function withRoom(attachments: readonly Attachment[], tokens: number): Attachment[] {
  const isImage = ({ kind }: Attachment) => kind === 'image';
  const carried = new Set<Attachment>();
  let left = tokens;
  for (const one of [...attachments.filter(isImage), ...attachments.filter((other) => !isImage(other))]) {
    if (attachmentTokens(one) > left) continue;
    left -= attachmentTokens(one);
    carried.add(one);
  }
  return attachments.filter((one) => carried.has(one));
}

/** The notes stand behind the text, which is found in front of them by its reference (renumbering.ts). */
function requestText(request: CarriedRequest | undefined): string {
  if (!request) return '';
  const { ref, text, attachments = [], leftOut = [] } = request;
  const left = leftOut.map((one) => `${attachmentNote([one])} ${one.kind === 'image' ? '(no room for it here)' : `(recall ${ref})`}`);
  const notes = [...attachments.map((one) => attachmentNote([one])), ...left];
  return `## The request you are working on (${ref}, verbatim)\n  ${indented([text, ...notes].filter((line) => line !== '').join('\n'))}`;
}
