import { dirname } from 'node:path';
import { resolveSessionPolicy, sessionPolicyProblems, type PolicyChoice } from '../../core/context/policy/resolvePolicy';
import { StoreError, errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import type { StoreStatus } from '../../core/ports';
import type { Banner } from '../../protocol/messages';

export interface BannerInput {
  /** Null while the store has not been opened. */
  readonly status: StoreStatus | null;
  /** Why the store could not be opened, or has stopped working. */
  readonly failure: unknown;
  readonly trusted: boolean;
  /** What is wrong with the policy of the session; null: nothing. */
  readonly policyProblem: string | null;
  /** The user has closed it, which holds for this very text. */
  readonly isDismissed: (banner: string) => boolean;
}

/** The most important standing condition that has not been dismissed, in words that say what to do. */
export function bannerFor(input: BannerInput): Banner {
  const { isDismissed } = input;
  for (const { canBeDismissed, ...banner } of conditions(input)) {
    if (!canBeDismissed) return banner;
    const dismissAs = `${banner.kind}: ${banner.details ?? banner.text}`;
    if (!isDismissed(dismissAs)) return { ...banner, dismissAs };
  }
  return null;
}

type Condition = Omit<NonNullable<Banner>, 'dismissAs'> & { readonly canBeDismissed?: boolean };

/** The most important one first. What the user has to act on stays until that is done. */
function* conditions({ status, failure, trusted, policyProblem }: Omit<BannerInput, 'isDismissed'>): Generator<Condition> {
  const note = status?.note;
  if (failure !== null) yield { kind: 'store_failed', text: failureText(failure) };
  if (status?.access === 'readonly') yield { kind: 'readonly', text: readonlyText(status) };
  if (note?.reason === 'damage_found') yield { kind: 'damaged', text: t('Part of your history is damaged.'), details: shown(note.detail) };
  if (note?.reason === 'recovered')
    yield {
      kind: 'recovered',
      text: t('Your history was damaged. What could be read of it is here.'),
      details: t('{0} A backup comes back with “Threadkeeper: Restore History…”.', shown(note.detail)),
      canBeDismissed: true,
    };
  if (policyProblem !== null) yield { kind: 'policy', text: policyProblem };
  if (status?.durability === 'export')
    yield {
      kind: 'reduced_durability',
      text: t('Your history is saved in a slower and less robust way here.'),
      details: note?.reason === 'self_test_failed' ? shown(note.detail) : t('The file system did not pass the self-test.'),
      canBeDismissed: true,
    };
  if (!trusted)
    yield {
      kind: 'untrusted',
      text: t('This workspace is not trusted: nothing in it is changed or run.'),
      details: t('Its files are read at most, and its own model, instructions and API address are ignored.'),
      canBeDismissed: true,
    };
}

function readonlyText({ note, file }: StoreStatus): string {
  switch (note?.reason) {
    case 'other_owner':
      return t(
        'Another window has this history open and does not answer, so it is read-only for now. Threadkeeper keeps trying: as soon as that window answers or is closed, you can go on here.',
      );
    case 'newer_schema':
      return t('This history was written by a newer version of Threadkeeper, so it is read-only here. Update the extension to go on.');
    case 'folder_readonly':
      return t(
        'The folder of this history may not be written, so it is read-only. Check the permissions of {0}, then hide this view and show it again.',
        dirname(file),
      );
    case 'disk_full':
      return t(
        'The disk is full, so this history is read-only for now. Free some space, then hide this view and show it again. {0}',
        shown(note.detail),
      );
    case 'self_test_failed':
    case 'damage_found':
    case 'recovered':
    case undefined:
      // What these say is not why nothing can be written.
      return t('This history is read-only here.');
  }
}

function failureText(failure: unknown): string {
  const said = shown(errorText(failure));
  if (!StoreError.is(failure)) return t('Your history could not be opened. {0} Nothing was changed.', said);
  switch (failure.reason) {
    case 'corrupt':
      return t(
        'The file of your history is damaged and could not be recovered. Nothing was changed or deleted: restore a backup with “Threadkeeper: Restore History…”, or put a copy of the file back and reload the window. {0}',
        said,
      );
    case 'newer_schema':
      return t('Your history was written by a newer version of Threadkeeper. Update the extension to open it. {0}', said);
    case 'disk_full':
      return t('The disk is full, so your history could not be opened. Free some space, then hide this view and show it again. {0}', said);
    case 'permission':
      return t('Your history may not be read or written. Check the permissions of its folder. {0}', said);
    case 'lease_lost':
      return t('Another window has taken over this history. Reload this window to go on; nothing is lost.');
    case 'readonly':
    case 'invalid':
    case 'conflict':
    case 'closed':
    case 'io':
      return t('Your history could not be opened. Nothing was changed; hide this view and show it again to retry. {0}', said);
  }
}

/** What is wrong with the policy that a session brings along, and what is used instead; null when nothing is. */
export function sessionPolicyProblem(settings: PolicyChoice, session: unknown): string | null {
  const problems = sessionPolicyProblems(settings, session);
  if (problems.length === 0) return null;
  const used = resolveSessionPolicy(settings, session).policy.name;
  return t(
    'The policy of this session cannot be used as it is; the policy {0} is in use. {1}',
    used,
    problems.map(({ setting, message }) => `${setting}: ${shown(message)}`).join(' '),
  );
}
