import { english } from '../l10n';

/** What a recovery brought over, and what it could not read. */
export interface Salvage {
  readonly sessions: number;
  readonly entries: number;
  /** Entries that are there, but whose content was lost or does not add up. */
  readonly damaged: number;
  /** Sessions that those entries belong to, as the user knows them: the first few. */
  readonly damagedIn: readonly string[];
  /** Sentences for the user; empty when nothing was lost. */
  readonly lost: readonly string[];
}

/** What could not be read: phrases for the user; empty when nothing was lost. */
export function salvageProblems({ damaged, damagedIn, lost }: Salvage): string[] {
  const content = english(damaged === 1 ? 'the content of {0} entry' : 'the content of {0} entries', damaged);
  return [...(damaged > 0 ? [damagedIn.length === 0 ? content : `${content} (in ${damagedIn.join(', ')})`] : []), ...lost];
}
