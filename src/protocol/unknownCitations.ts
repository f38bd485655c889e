import { t } from './l10n';

/** Ids named; the rest are counted by the reader. */
const mostNamed = 6;

/** About ids that a summary cited and that no message has, each once. Empty when there are none. */
export function unknownCitations(ids: readonly string[]): string {
  const [first] = ids;
  if (first === undefined) return '';
  if (ids.length === 1)
    return t(
      'The model cited {0}, and there is no such message. The summary now names the right one instead, or says that there is none.',
      first,
    );
  const named = ids.slice(0, mostNamed).join(', ');
  return t(
    'The model cited messages that do not exist ({0}). The summary now names the right ones instead, or says that there are none.',
    ids.length > mostNamed ? `${named} …` : named,
  );
}
