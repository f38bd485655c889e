import { isDatabase } from '../../node/sync/openEngine';
import type { Problem } from '../../core/sync/pullLogs';
import type { EngineError, EngineFailure } from '../../core/sync/syncEngine';
import type { SyncFailure, SyncState } from '../../core/sync/syncState';
import { shown, t, wholeNumber } from '../../core/l10n';
import { plainLabel } from '../plainText';
import { clockText, dateText, percentText } from '../../protocol/figures';

/** An address without what nobody needs to see: `keeper on db.example.org`, or the folder. */
export function engineName(address: string): string {
  if (!isDatabase(address)) return plainLabel(address);
  // What stands before the last @ may be a password, of an address that cannot be read too.
  if (!URL.canParse(address)) return plainLabel(address.replace(/^.*(?:@|:\/\/)/, ''));
  const { host, pathname } = new URL(address);
  return plainLabel(`${unescaped(pathname.slice(1)) || 'postgres'} @ ${host}`);
}

/** In few words, for the title of a view. Empty where there is nothing to say. */
export function shortState(state: SyncState, now: number): string {
  const { phase, at, failure, progress, problems, notes } = state;
  if (phase === 'paused') return t('sync paused');
  if (progress) return t('syncing, {0}', percentText(progress.pulled, Math.max(1, progress.of)));
  if (failure) return at === null ? t('not synced yet') : t('not synced since {0}', timeText(at, now));
  if (problems.length > 0 || notes.length > 0) return t('synced, with problems');
  return at === null ? t('syncing…') : t('synced');
}

/** A sentence, for a tooltip. */
export function longState(state: SyncState, address: string, now: number): string {
  const { at, failure, progress } = state;
  const where = engineName(address);
  if (state.phase === 'paused') return t('Synchronizing is paused. “Threadkeeper: Sync Now” goes on.');
  if (progress) return t('Synchronizing with {0}: {1} of {2} records', where, wholeNumber(progress.pulled), wholeNumber(progress.of));
  if (failure) {
    const reason = shown(failure.message);
    return at === null ? t('Not synchronized yet: {0}', reason) : t('Not synchronized since {0}: {1}', timeText(at, now), reason);
  }
  return at === null ? t('Synchronizing with {0}…', where) : t('Synchronized with {0}, last at {1}', where, timeText(at, now));
}

/** Not so while anything may be on its way: what was said is sealed here before it is sent. */
export function sentText({ phase, at, failure }: SyncState, waits: boolean): string {
  if (waits) return t('Something is waiting to be sent');
  const isSent = at !== null && failure === null && (phase === 'idle' || phase === 'elsewhere');
  return isSent ? t('Everything from this device was sent') : t('Something may be waiting to be sent');
}

/** Records that are here, sealed: those of a newer version name no key. */
export function unreadTexts(unread: readonly { readonly keyId: string }[]): readonly { readonly label: string; readonly detail: string }[] {
  const newer = unread.filter(({ keyId }) => keyId === '').length;
  return [
    { count: unread.length - newer, detail: t('Their key has not arrived yet.') },
    { count: newer, detail: t('A newer version has written them. Update Threadkeeper here to read them.') },
  ]
    .filter(({ count }) => count > 0)
    .map(({ count, detail }) => ({
      label: t(count === 1 ? '{0} record cannot be read yet' : '{0} records cannot be read yet', count),
      detail,
    }));
}

/** What to do about an engine that cannot be used; empty where its message says all of it. */
function engineAdvice(reason: EngineFailure, address: string): string {
  switch (reason) {
    case 'unreachable':
    case 'slow':
      return isDatabase(address)
        ? t('Check the address, that the server runs, and that this machine can reach it.')
        : t('Check that its drive is connected, and that what carries it runs.');
    case 'full':
      return isDatabase(address) ? t('Make room there.') : '';
    case 'no_history':
      return isDatabase(address)
        ? t('Check the words and the address.')
        : t('Check the words and the folder. Where its files have not arrived on this machine yet, wait for them.');
    case 'refused':
    case 'readonly':
    case 'version':
      return '';
  }
}

/** Why it could not be set up, and what to do. The name of a history is nothing that the user has said. */
export function setUpFailure({ reason, message }: EngineError, address: string): { readonly message: string; readonly detail: string } {
  const isUnknown = reason === 'no_history';
  return {
    message: isUnknown ? t('{0} has no history of this recovery phrase.', engineName(address)) : shown(message),
    detail: `${engineAdvice(reason, address)} ${t('Nothing was changed on this machine.')}`.trim(),
  };
}

/** Where it was set up, beside what the failure's message says. */
export function adviceFor(reason: SyncFailure, address: string): string {
  switch (reason) {
    case 'store':
      return t('The history on this machine could not be read or written. Run “Threadkeeper: Verify and Repair History”.');
    case 'phrase':
      return t('Run “Threadkeeper: Set Up Sync…” and enter it. What was said stays here.');
    case 'ended':
      return t('It begins again by itself; “Threadkeeper: Sync Now” begins it at once. “Threadkeeper: Show Log” says more.');
    default: {
      const password = reason === 'refused' && isDatabase(address) ? t('“Threadkeeper: Set Up Sync…” asks for the password again.') : '';
      const kept = t('What you say meanwhile is kept here and sent later.');
      return [engineAdvice(reason, address), password, kept].filter((part) => part !== '').join(' ');
    }
  }
}

/** What is wrong with records, in words, with what to do. */
export function problemText({ kind, detail }: Problem, device: string): { readonly label: string; readonly detail: string } {
  const what = shown(detail);
  switch (kind) {
    case 'newer':
      return {
        label: t('A newer version has written records on {0}', device),
        detail: t('Update Threadkeeper here to read them. They are kept.'),
      };
    case 'missing':
      return {
        label: t('Records of {0} are missing: {1}', device, what),
        detail: t('They come back by themselves when that device synchronizes.'),
      };
    case 'no_key':
    case 'key_refused':
      return {
        label: t('Records of {0} cannot be opened: {1}', device, what),
        detail: t('Synchronize that device, so that it sends the key again.'),
      };
    case 'damaged':
    case 'forked':
      return {
        label: t('Records of {0} are not as they were written: {1}', device, what),
        detail: t('None of them was taken over. Check who can write there; your history here is whole.'),
      };
  }
}

/** A note that stays as it is on this disk. */
export function noteText({ path, detail }: SyncState['notes'][number]): { readonly label: string; readonly detail: string } {
  return { label: t('The note {0} could not be updated', plainLabel(path)), detail: shown(detail) };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function timeText(at: number, now: number): string {
  return now - at < 20 * 60 * 60_000 ? clockText(at) : dateText(at);
}
