import type { StoreError } from '../../core/errors';
import { shown, t } from '../../core/l10n';

/** Why something that a command was to do with the history was not done. Of a message that was not sent, `storeTurnError` speaks. */
export function storeActionText({ reason, message }: StoreError): string {
  switch (reason) {
    case 'readonly':
      return t('The history is read-only in this window because another program is using it. Nothing was changed.');
    case 'disk_full':
      return t('The disk is full, so nothing was changed. Free some space and try again.');
    case 'permission':
      return t('The history may not be written, so nothing was changed. Check the permissions of its folder. {0}', shown(message));
    case 'conflict':
      return t('Another window has changed this session in the meantime, or is working in it. Nothing was changed; try again.');
    case 'lease_lost':
      return t('Another window has taken over this history. Reload this window to continue; nothing of it is lost.');
    case 'invalid':
      return t('This cannot be done, and nothing was changed. {0}', shown(message));
    case 'corrupt':
      return t('The history is damaged. Run “Threadkeeper: Verify and Repair History”. {0}', shown(message));
    case 'newer_schema':
    case 'closed':
    case 'io':
      return t('The history could not be read or changed. {0}', shown(message));
  }
}
