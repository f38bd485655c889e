import { t } from '../../core/l10n';
import { timeText } from '../../core/recall/dateText';
import { snippet } from '../../core/recall/snippet';
import type { SearchHit, SearchResult } from '../../core/session/searchQuery';
import { plainLabel } from '../plainLabel';

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
  return hits.map((hit) => ({
    label: plainLabel(snippet(hit.text, terms, snippetCharacters)),
    description: speakerText(hit),
    detail: plainLabel(`${hit.sessionTitle || t('Untitled')} · ${hit.sessionId} · ${timeText(hit.at)}`),
    alwaysShow: true,
    session: hit.session,
    entry: hit.entry,
  }));
}

function speakerText({ role, speaker }: SearchHit): string {
  if (role === 'user') return t('You');
  return role === 'assistant' ? t('Answer') : speaker;
}
