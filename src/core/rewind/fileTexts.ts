import { listed, t, wholeNumber } from '../l10n';
import { isSameVersion, type FileChanges, type FileEdit, type Uncovered, type UncoveredReason } from './fileChanges';
import type { FilePlan } from './planRestore';

/** `3 files, +41 −7`: what an answer's row says of its changes. */
export function changedText(files: readonly Pick<FileEdit, 'lines'>[]): string {
  const sum = (side: 'added' | 'removed') => files.reduce((all, { lines }) => all + (lines?.[side] ?? 0), 0);
  const [added, removed] = [sum('added'), sum('removed')];
  const count = t(files.length === 1 ? '{0} file' : '{0} files', wholeNumber(files.length));
  return added === 0 && removed === 0 ? count : `${count}, +${wholeNumber(added)} −${wholeNumber(removed)}`;
}

/** The head of what an export tells. */
export function fileChangesText({ source, files }: FileChanges): string {
  if (source === 'review') return t('Changes reviewed');
  return source === 'restore' ? t('Files restored: {0}', changedText(files)) : t('Files changed: {0}', changedText(files));
}

/** A list in Markdown; names stand as code, so that nothing in them is markup. */
export function fileChangeList({ source, files, uncovered = [] }: FileChanges): string {
  const named = (path: string) => `\`${path.replaceAll('`', "'")}\``;
  return [
    ...files.map((edit) => `- ${named(edit.path)}: ${source === 'review' ? reviewText(edit) : editText(edit)}`),
    ...uncovered.map(({ path, reason }) => `- ${path === '' ? '' : `${named(path)}: `}${uncoveredText(reason)}`),
  ].join('\n');
}

function reviewText({ before, after }: FileEdit): string {
  return isSameVersion(before, after) ? t('reviewed') : t('not reviewed to the end');
}

export function editText({ before, after, lines }: Pick<FileEdit, 'before' | 'after' | 'lines'>): string {
  const counts = lines ? ` (+${wholeNumber(lines.added)} −${wholeNumber(lines.removed)})` : '';
  if (before === null) return t('created') + counts;
  return (after === null ? t('deleted') : t('changed')) + counts;
}

/** What of a turn no restore has, each once, the first three by name. */
export function uncoveredList(uncovered: readonly Uncovered[]): string {
  // These say it by themselves.
  const alone = uncovered.filter(({ reason }) => reason === 'no_git' || reason === 'git_failed');
  const texts = uncovered
    .filter((one) => !alone.includes(one))
    .map(({ path, reason }) => (path === '' ? uncoveredText(reason) : t('{0} ({1})', path, uncoveredText(reason))));
  const named = [...new Set(texts)];
  const shown = listed(named.slice(0, mostNamed));
  const list = named.length > mostNamed ? t('{0} and {1} more', shown, wholeNumber(named.length - mostNamed)) : shown;
  return [
    ...(named.length === 0 ? [] : [t('No restore covers: {0}', list)]),
    ...new Set(alone.map(({ reason }) => uncoveredText(reason))),
  ].join(' · ');
}

const mostNamed = 3;

/** Why something that a call may have changed cannot be restored. */
export function uncoveredText(reason: UncoveredReason): string {
  switch (reason) {
    case 'too_large':
      return t('too large to be kept');
    case 'too_many':
      return t('more files than are kept');
    case 'ignored':
      return t('ignored by Git: not covered');
    case 'nested_repository':
      return t('a repository of its own: not covered');
    case 'name':
      return t('a name that is not valid text: not covered');
    case 'unreadable':
      return t('cannot be read: not covered');
    case 'saved_by_user':
      return t('written meanwhile by you or another session: left alone');
    case 'outside':
      return t('not in the folder of the session: not covered');
    case 'not_held':
      return t('its content is not in the imported record');
    case 'no_git':
      return t('Not in a Git repository: what commands change cannot be restored');
    case 'git_failed':
      return t('Git could not be used: what commands change cannot be restored');
  }
}

/** Why a file is not simply restored. */
export function planReasonText(reason: NonNullable<FilePlan['reason']>): string {
  switch (reason) {
    case 'changed_since':
      return t('changed since, in the same lines');
    case 'deleted_since':
      return t('deleted since');
    case 'created_since':
      return t('created since');
    case 'not_kept':
      return t('its content was not kept');
    case 'unsaved':
      return t('has unsaved changes in an editor');
    case 'linked':
      return t('a link leads to another place');
    case 'no_folder':
      return t('its folder is not open');
    case 'no_file':
      return t('is no file now');
    case 'nested_repository':
      return t('lies in a repository of its own');
    case 'unreadable':
      return t('cannot be read');
  }
}
