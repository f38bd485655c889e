import { t } from '../../src/protocol/l10n';
import { AnnounceEvent } from '../lib/events';

/** For a moment the button itself says that it has copied something; a screen reader says it too. */
export function showCopied(button: HTMLElement): void {
  button.dispatchEvent(new AnnounceEvent(t('Copied')));
  button.classList.add('copied');
  setTimeout(() => button.classList.remove('copied'), 1500);
}
