import { html, nothing, type TemplateResult } from 'lit';
import { t, wholeNumber } from '../../../src/protocol/l10n';
import type { RowMark } from '../../../src/protocol/messages';
import { ask } from '../../lib/events';
import { icon } from '../../render/icons';

/** What a turn has changed, and what the user has made of it; a press opens it in the editor. */
export function changesRow(entry: string, { text, files, left, undone, uncovered }: NonNullable<RowMark['changes']>): TemplateResult {
  const state = stateText(files, left, undone);
  return html`${
    files === 0
      ? nothing
      : html`<p class="remark changes">
          ${icon('file')}
          <button type="button" class="link-button" title=${t('Review what this answer changed')} @click=${ask({ method: 'review', entry })}>
            <span class="sr-only">${t('Review changes:')} </span>${text}</button
          >${state === null ? nothing : html` <span class="changes-state">${state}</span>`}
        </p>`
  }${uncovered === undefined ? nothing : html`<p class="remark uncovered">${icon('info')} <span>${uncovered}</span></p>`}`;
}

/** Null while nothing is decided. */
function stateText(files: number, left: number, undone: number): string | null {
  if (left === files) return null;
  if (left > 0) return t('{0} left to review', wholeNumber(left));
  if (undone === 0) return t('Kept');
  return undone === files ? t('Undone') : t('Reviewed');
}
