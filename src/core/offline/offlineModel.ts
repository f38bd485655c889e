import { fenceAround } from '../base/fence';
import { extractiveSummary } from '../compaction/measure/extractive';
import { estimateTokens } from '../context/measure/estimateTokens';
import { CancelledError, errorText } from '../errors';
import { isFramed } from '../frames/frames';
import { english, shown, t } from '../l10n';
import type { ModelClient, SessionStore } from '../ports';
import { ModelError, type ModelEvent } from '../models/modelEvent';
import type { ModelInfo } from '../models/modelInfo';
import type { ModelMessage, ModelRequest } from '../models/modelRequest';
import type { SearchHit } from '../session/searchQuery';
import { offlineProvider, newestQuestion } from '../recall/history';
import { searchWorkspace, type FoundPassage, type SearchSources, type WorkspaceSearch } from './searchWorkspace';
import { splitPassages } from '../recall/splitText';
import { fold, queryTerms, substringsOf } from '../recall/tokenizeTerms';

export interface OfflineDependencies extends SearchSources {
  readonly store: Pick<SessionStore, 'search' | 'session' | 'entries'>;
  /** The session that is being answered: its newest user message is the question. */
  readonly session?: () => string | null;
  /** How to reach a model, in the words of the program this runs in. */
  readonly keyHint?: () => string;
  /** Whether a block of the request asks for notes to be written. */
  readonly isNudge?: (text: string) => boolean;
}

const offlineId = 'offline';
const opening = english('Offline: searches your files, notes and past chats. No AI answers.');
const defaultKeyHint = () =>
  t('To chat with a model, set an API key: in VS Code with the command *Threadkeeper: Set API Key…*, elsewhere as `ANTHROPIC_API_KEY`.');

const maxPassages = 6;
const maxQuotedCharacters = 700;
const maxNoteTokens = 160;
/** Characters of an answer that are shown at once. */
const deltaCharacters = 160;
/** With nothing else in it a message is no question. */
const greetings = new Set(
  queryTerms(
    'hello hi hey hallo moin servus salut hola ciao thanks thank thx ok okay bye good morning evening help test 你好 您好 嗨 谢谢 多谢 再见 早上好 晚上好 在吗 好的 测试',
  ),
);

/** Answers with what has been said and written instead of generating: needs no key and no network. */
export class OfflineModel implements ModelClient {
  readonly provider = offlineProvider;
  readonly generates = false;

  constructor(private readonly dependencies: OfflineDependencies) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    let text = '';
    try {
      for await (const part of this.answer(request, signal)) {
        for (const delta of deltas(part)) {
          if (signal.aborted) throw new CancelledError();
          text += delta;
          yield { type: 'text_delta', index: 0, text: delta };
        }
      }
    } catch (error) {
      const cancelled = CancelledError.is(error) || signal.aborted;
      yield {
        type: 'failed',
        failure: cancelled ? { reason: 'cancelled', detail: 'Cancelled' } : { reason: 'invalid_request', detail: errorText(error) },
      };
      return;
    }
    yield { type: 'block', index: 0, block: { type: 'text', text } };
    yield { type: 'stopped', reason: 'end_turn' };
  }

  async listModels(): Promise<ModelInfo[]> {
    return [await this.describe(offlineId)];
  }

  async describe(model: string): Promise<ModelInfo> {
    if (model !== offlineId) throw new ModelError({ reason: 'unknown_model', detail: english('Offline mode has no model "{0}".', model) });
    return {
      provider: offlineProvider,
      id: offlineId,
      name: english('Offline'),
      window: 200_000,
      maxOutput: 8_192,
      source: 'table',
      thinking: 'none',
    };
  }

  private async *answer(request: ModelRequest, signal: AbortSignal): AsyncIterable<string> {
    if (signal.aborted) throw new CancelledError();
    // Before the search, which may take a moment.
    yield shown(opening);
    const question = questionOf(request.messages);
    if (queryTerms(question).every((term) => greetings.has(term))) {
      yield `\n\n${t('Ask about something you have talked about here or keep in your files: names, paths, error texts and other rare words find best.')}\n\n${this.keyHint()}`;
    } else {
      const search = await searchWorkspace(
        this.dependencies,
        { text: question, limit: maxPassages, skip: await this.isQuestion(question) },
        signal,
      );
      for (const part of render(search)) yield `\n\n${part}`;
      if (search.found.length === 0) yield `\n\n${this.keyHint()}`;
    }
    const note = this.proposedNote(request.messages);
    if (note !== null) yield `\n\n${note}`;
  }

  /**
   * What was asked, now or before, answers nothing. The stored question may be longer than what was sent of it, so it is also known
   * by its place.
   */
  private async isQuestion(question: string): Promise<(hit: SearchHit) => boolean> {
    const { store, session } = this.dependencies;
    const current = session?.() ?? null;
    const newest = current === null ? null : await newestQuestion(store, current).catch(() => null);
    const asked = question.trim();
    return ({ entry, role, text, length }) => role === 'user' && (entry === newest || (text.length === length && text.trim() === asked));
  }

  private keyHint(): string {
    return (this.dependencies.keyHint ?? defaultKeyHint)();
  }

  /** When the request asks for notes: what was said, for the user to save, since there is no model to write it down. */
  private proposedNote(messages: readonly ModelMessage[]): string | null {
    const isNudge = this.dependencies.isNudge ?? isNudgeText;
    const last = messages.at(-1);
    if (!last?.blocks.some((block) => block.type === 'text' && isNudge(block.text))) return null;
    const items = messages.flatMap(({ role, blocks }, i) =>
      blocks.flatMap((block) =>
        block.type === 'text' && !isFramed(block.text) ? [{ entryId: String(i), role, text: block.text, at: i }] : [],
      ),
    );
    const { lines } = extractiveSummary(items, maxNoteTokens, estimateTokens);
    if (lines.length === 0) return null;
    return [
      `---\n${t('The context is filling up, and older messages will be compacted soon. You may want to save this as a note:')}`,
      lines.map(({ text }) => `- ${text}`).join('\n'),
    ].join('\n\n');
  }
}

/** The nudge as the projection words it. */
export function isNudgeText(text: string): boolean {
  return isFramed(text, 'notes');
}

/** What the user wrote last; notices and results stand in user messages too. */
function questionOf(messages: readonly ModelMessage[]): string {
  for (const { role, blocks } of [...messages].reverse()) {
    if (role !== 'user') continue;
    for (const block of [...blocks].reverse()) if (block.type === 'text' && !isFramed(block.text)) return block.text;
  }
  return '';
}

function render({ found, problems, terms }: WorkspaceSearch): string[] {
  if (found.length === 0) return [t('Nothing there matches your question. Try other words: names, paths, error texts.'), ...problems];
  const quoted = found.map((passage) => (passage.source === 'file' ? excerpt(passage, terms) : passage));
  return [t('The best of what I found:'), ...quoted.map((passage) => `${quote(passage, terms)}\n\n${origin(passage)}`), ...problems];
}

function origin(passage: FoundPassage): string {
  const why = whyFound(passage);
  return why === null ? placeOf(passage) : `${placeOf(passage)} (${why})`;
}

function placeOf({ source, id, title, speaker }: FoundPassage): string {
  switch (source) {
    case 'history':
      return t('— {0}, {1}', title, speaker === 'user' ? t('you') : (speaker ?? t('assistant')));
    case 'note':
      return `— ${t('note')} \`${id}\``;
    case 'file':
      return `— ${fileLink(id, title)}`;
  }
}

/** `[`src/lamp.ts:7`](src/lamp.ts#L7)`, which the view opens. A title is the path with the line that the text begins at. */
function fileLink(path: string, title: string): string {
  const line = /:(\d+)$/.exec(title)?.[1];
  const target = encodeURI(path).replace(/[()#?]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `[\`${(title || path).replaceAll('`', "'")}\`](${target}${line === undefined ? '' : `#L${line}`})`;
}

/** Lines of a file that are quoted before and after the one that was found. */
const [linesBefore, linesAfter] = [2, 5];

/** The lines around the one with the most of what was asked, with its number. */
function excerpt(passage: FoundPassage, terms: readonly string[]): FoundPassage {
  const first = Number(/:(\d+)$/.exec(passage.title)?.[1] ?? Number.NaN);
  const substrings = substringsOf(terms);
  const lines = passage.text.split('\n');
  const hits = lines.map((line) => {
    const folded = fold(line.normalize('NFKC'));
    return substrings.filter((substring) => folded.includes(substring)).length;
  });
  const at = hits.indexOf(Math.max(...hits));
  if (Number.isNaN(first) || (hits[at] ?? 0) === 0) return passage;
  const text = lines.slice(Math.max(0, at - linesBefore), at + linesAfter + 1).join('\n');
  return { ...passage, text, title: `${passage.id}:${first + at}` };
}

/** Null where the words of the question stand in it. */
function whyFound({ found }: FoundPassage): string | null {
  if (found === 'words') return null;
  if (found === 'meaning') return t('found by its meaning');
  return found.beside === null ? t('beside a match') : t('beside a match, {0}', found.beside);
}

/** The stretch of the passage with the most different terms, verbatim, as a Markdown quotation; source code in a code block. */
function quote({ source, id, text }: FoundPassage, terms: readonly string[]): string {
  const substrings = substringsOf(terms);
  let best = '';
  let most = -1;
  for (const { start, end } of splitPassages(text, maxQuotedCharacters)) {
    const part = text.slice(start, end);
    const folded = fold(part.normalize('NFKC'));
    const hits = substrings.filter((substring) => folded.includes(substring)).length;
    if (hits > most) [most, best] = [hits, part];
  }
  const lines = best
    .trimEnd()
    .replace(/^\s*\n/, '')
    .split('\n');
  const fence = fenceAround(best);
  const isCode = source === 'file' && !/\.(?:md|mdx|markdown|txt|rst|adoc)$/i.test(id);
  const language = /\.([a-z\d]{1,12})$/i.exec(id)?.[1] ?? '';
  return isCode ? [`${fence}${language}`, ...lines, fence].join('\n') : lines.map((line) => `> ${line}`).join('\n');
}

function deltas(text: string): string[] {
  return splitPassages(text, deltaCharacters).map(({ start, end }) => text.slice(start, end));
}
