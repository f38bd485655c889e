import { t } from '../l10n';
import { timeText } from '../recall/dateText';
import type { StoredEntry } from '../session/entry';

/** The commit with which a line came, as far as people are told of it. */
export interface NamedCommit {
  readonly commit: string;
  readonly author: string;
  readonly at: number;
  readonly summary: string;
}

/** Why nobody is named, in a sentence or two. */
export function unknownText(commit: NamedCommit | null, withoutGit: 'no_repository' | 'git_failed' | null): string {
  if (commit) return t('No session has written this line. It came with commit {0} by {1} on {2}: {3}', ...commitParts(commit));
  if (withoutGit === 'no_repository')
    return t('No session is known to have written this line. The file is in no Git repository, so its past was not looked at.');
  if (withoutGit === 'git_failed')
    return t('No session is known to have written this line. Git could not be used, so its past was not looked at.');
  return t('No session is known to have written this line. It is not committed yet.');
}

/** What was not looked at although an edit was found, or none was for that reason; each in a sentence. */
export function limitTexts(found: boolean, withoutGit: 'no_repository' | 'git_failed' | null, isCut: boolean): string[] {
  return [
    ...(found && withoutGit === 'git_failed'
      ? [t('Git could not be used, so the past of this line was not looked at: an older edit may have written it.')]
      : []),
    ...(isCut ? [t('There are too many edits of files with this name: the oldest were not compared.')] : []),
  ];
}

/** With which commit the line came as it stands. */
export function commitText(commit: NamedCommit): string {
  return t('Commit {0} by {1} on {2}: {3}', ...commitParts(commit));
}

function commitParts({ commit, author, at, summary }: NamedCommit): [string, string, string, string] {
  return [commit.slice(0, 8), author, timeText(at), summary];
}

/** What was said, for a row: on one line, without the passages of changes that an answer may hold. */
export function saidText({ content }: StoredEntry): string {
  const text = content.type === 'message' || content.type === 'thinking' ? content.text : '';
  return text
    .replace(/^(?:<{5,9}|-{5,9}) ?SEARCH[\s\S]*?^(?:>{5,9}|\+{5,9}) ?REPLACE.*$/gm, '…')
    .replace(/\s+/g, ' ')
    .trim();
}
