import { dirname } from 'node:path';
import { StoreError, errorText } from '../core/errors';
import type { StoreStatus } from '../core/ports';
import type { Banner } from '../protocol/messages';

export interface BannerInput {
  /** Null while the store has not been opened. */
  readonly status: StoreStatus | null;
  /** Why the store could not be opened, or has stopped working. */
  readonly failure: unknown;
  readonly trusted: boolean;
  /** What is wrong with the policy of the session; null: nothing. */
  readonly policyProblem: string | null;
}

/** The most important standing condition, in words that say what to do. */
export function bannerFor({ status, failure, trusted, policyProblem }: BannerInput): Banner {
  if (failure !== null) return { kind: 'store_failed', text: failureText(failure) };
  if (status?.access === 'readonly') return { kind: 'readonly', text: readonlyText(status) };
  if (status?.note?.reason === 'recovered') return { kind: 'recovered', text: `Your history was damaged and has been repaired. ${status.note.detail}` };
  if (status?.note?.reason === 'damage_found') return { kind: 'recovered', text: `Part of your history is damaged. ${status.note.detail} Run “Threadkeeper: Verify and Repair History”.` };
  if (policyProblem !== null) return { kind: 'policy', text: policyProblem };
  if (status?.durability === 'export') return { kind: 'reduced_durability', text: `Your history is saved in a slower and less robust way here: ${status.note?.detail ?? 'the file system did not pass the self-test.'}` };
  if (!trusted) return { kind: 'untrusted', text: 'This workspace is not trusted: its files are read at most, nothing is changed or run in it, and its own model, instructions and API address are ignored.' };
  return null;
}

function readonlyText({ note, file }: StoreStatus): string {
  switch (note?.reason) {
    case 'other_owner':
      return 'Another window has this history open and does not answer, so it is read-only for now. Threadkeeper keeps trying: as soon as that window answers or is closed, you can go on here.';
    case 'newer_schema':
      return 'This history was written by a newer version of Threadkeeper, so it is read-only here. Update the extension to go on.';
    case 'folder_readonly':
      return `The folder of this history may not be written, so it is read-only. Check the permissions of ${dirname(file)}, then hide this view and show it again.`;
    case 'disk_full':
      return `The disk is full, so this history is read-only for now. Free some space, then hide this view and show it again. ${note.detail}`;
    case 'self_test_failed':
    case 'damage_found':
    case 'recovered':
    case undefined:
      return `This history is read-only here.${note ? ` ${note.detail}` : ''}`;
  }
}

function failureText(failure: unknown): string {
  const said = errorText(failure);
  if (!StoreError.is(failure)) return `Your history could not be opened. ${said} Nothing was changed.`;
  switch (failure.reason) {
    case 'corrupt':
      return `The file of your history is damaged and could not be recovered. Nothing was changed or deleted: restore a backup with “Threadkeeper: Restore History…”, or put a copy of the file back and reload the window. ${said}`;
    case 'newer_schema':
      return `Your history was written by a newer version of Threadkeeper. Update the extension to open it. ${said}`;
    case 'disk_full':
      return `The disk is full, so your history could not be opened. Free some space, then hide this view and show it again. ${said}`;
    case 'permission':
      return `Your history may not be read or written. Check the permissions of its folder. ${said}`;
    case 'lease_lost':
      return 'Another window has taken over this history. Reload this window to go on; nothing is lost.';
    case 'readonly':
    case 'invalid':
    case 'conflict':
    case 'closed':
    case 'io':
      return `Your history could not be opened. Nothing was changed; hide this view and show it again to retry. ${said}`;
  }
}
