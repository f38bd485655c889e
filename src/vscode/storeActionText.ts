import type { StoreError } from '../core/errors';

/** Why something that a command was to do with the history was not done. Of a message that was not sent, `storeTurnError` speaks. */
export function storeActionText({ reason, message }: StoreError): string {
  switch (reason) {
    case 'readonly':
      return 'The history is read-only in this window because another program is using it. Nothing was changed.';
    case 'disk_full':
      return 'The disk is full, so nothing was changed. Free some space and try again.';
    case 'permission':
      return `The history may not be written, so nothing was changed. Check the permissions of its folder. ${message}`;
    case 'conflict':
      return 'Another window has changed this session in the meantime, or is working in it. Nothing was changed; try again.';
    case 'lease_lost':
      return 'Another window has taken over this history. Reload this window to continue; nothing of it is lost.';
    case 'invalid':
      return `This cannot be done, and nothing was changed. ${message}`;
    case 'corrupt':
      return `The history is damaged. Run “Threadkeeper: Verify and Repair History”. ${message}`;
    case 'newer_schema':
    case 'closed':
    case 'io':
      return `The history could not be read or changed. ${message}`;
  }
}
