import type { Disposable } from '../../core/base/disposable';
import { shown, t, textLocale } from '../../core/l10n';
import type { EmbeddingProgress } from '../../core/embeddings/embeddings';
import { hitSnippet } from '../../core/recall/answers/callText';
import { timeText } from '../../core/recall/dateText';
import { wordsFirst, type SearchHit, type SearchResult } from '../../core/session/searchQuery';
import { plainLabel } from '../plainText';

export interface SearchView<T> {
  busy(isBusy: boolean): void;
  /** Null for no words: there is nothing to show. */
  found(result: T | null): void;
  failed(error: unknown): void;
}

/** Long enough for a word to be typed to its end, short enough to feel immediate. */
const pauseMs = 150;

/** Searches when typing pauses, one search at a time; only what answers the newest text is shown. */
export class SearchAsTyped<T> implements Disposable {
  private timer: NodeJS.Timeout | undefined;
  private wanted = '';
  private running = false;
  private disposed = false;

  constructor(
    private readonly search: (text: string) => Promise<T>,
    private readonly view: SearchView<T>,
    private readonly delayMs = pauseMs,
  ) {}

  type(text: string): void {
    clearTimeout(this.timer);
    this.wanted = text.trim();
    this.view.busy(this.wanted !== '');
    if (this.wanted === '') this.view.found(null);
    else this.timer = setTimeout(() => void this.run(), this.delayMs);
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    for (let text = ''; text !== this.wanted && !this.disposed; ) {
      text = this.wanted;
      if (text === '') break;
      try {
        const result = await this.search(text);
        if (this.isNewest(text)) this.view.found(result);
      } catch (error) {
        if (this.isNewest(text)) this.view.failed(error);
      }
      if (this.isNewest(text)) this.view.busy(false);
    }
    this.running = false;
  }

  private isNewest(text: string): boolean {
    return text === this.wanted && !this.disposed;
  }
}

export interface HistoryPick {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** The store has matched by its own rules: the list must not filter by the letters typed. */
  readonly alwaysShow: true;
  /** UUID of the session to open. */
  readonly session: string;
  /** UUID of the entry to show in it. */
  readonly entry: string;
}

const snippetCharacters = 120;

export function historyPicks({ hits, terms }: SearchResult): HistoryPick[] {
  return wordsFirst(hits).map((hit) => ({
    label: plainLabel(hitSnippet(hit, terms, snippetCharacters)),
    description: speakerText(hit),
    detail: plainLabel(
      [
        hit.sessionTitle || t('Untitled'),
        hit.sessionId,
        timeText(hit.at),
        ...hit.dates.map(({ said, day }) => `${said}: ${day}`),
        ...(hit.beside === null ? [] : [t('beside a match, {0}', `#${hit.beside}`)]),
        ...(hit.meant ? [t('by meaning')] : []),
      ].join(' · '),
    ),
    alwaysShow: true,
    session: hit.session,
    entry: hit.entry,
  }));
}

function speakerText({ role, speaker }: SearchHit): string {
  if (role === 'user') return t('You');
  return role === 'assistant' ? t('Answer') : speaker;
}

/** How far the embedding model has come with the history. */
export function embeddingText({ model, embedded, passages, full }: EmbeddingProgress): string {
  const counts = { model, embedded: embedded.toLocaleString(textLocale()), passages: passages.toLocaleString(textLocale()) };
  return full
    ? t('{model} has read the newest {embedded} of {passages} passages; there is no room for older ones', counts)
    : t('{model} has read {embedded} of {passages} passages', counts);
}

/**
 * What a search by meaning cannot find now, and why; null when there is nothing to tell: no model is named, or it has read everything and
 * answers.
 */
export function meaningNote(progress: EmbeddingProgress | null, searchProblem: string | null): string | null {
  if (searchProblem !== null) return t('Searched by words alone. {0}', shown(searchProblem));
  if (progress === null || (progress.state === 'done' && !progress.full)) return null;
  const read = embeddingText(progress);
  return progress.error === null ? read : `${read}. ${shown(progress.error)}`;
}
