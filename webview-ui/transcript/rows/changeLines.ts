import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../../src/protocol/l10n';
import type { ChangedLines } from '../../../src/protocol/messages';
import { visibleText } from '../../../src/protocol/figures';
import type * as z from 'zod/mini';

type Lines = z.infer<typeof ChangedLines>;

/** The lines of a change with + and −, which colour only repeats. */
export function changeLines({ lines, more }: Lines): TemplateResult {
  return html`
    <pre class="change-lines" tabindex="0" role="group" aria-label=${t('The change')}>${lines.map(
      ({ mark, text }) =>
        html`<span class=${mark === '+' ? 'added' : mark === '-' ? 'removed' : 'same'}>${mark === 'gap' ? '⋯' : `${mark === '-' ? '−' : mark} ${visibleText(text, 'lines')}`}</span>`,
    )}${more === 0 ? nothing : html`<span class="same">${t('… {0} more lines', more)}</span>`}</pre>
  `;
}

/** `+3 −1`, and in words for those who listen. */
export function lineCounts({ added, removed }: { readonly added: number; readonly removed: number }): TemplateResult {
  return html`<span class="line-counts" role="img" aria-label=${t('Lines added: {0}, removed: {1}', added, removed)}><span class="added">+${added}</span> <span class="removed">−${removed}</span></span>`;
}
