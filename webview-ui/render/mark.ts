import { html, type TemplateResult } from 'lit';

/** Threadkeeper's mark, in the colours of the theme: a thread wound on a spool. */
export function mark(): TemplateResult {
  return html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d="M5 3.5h14M5 20.5h14M7.5 3.5v3.2M16.5 3.5v3.2M7.5 17.3v3.2M16.5 17.3v3.2"></path>
    <path class="thread" d="M6.5 8.2l11-1.5M6.5 11.3l11-1.5M6.5 14.4l11-1.5M6.5 17.5l11-1.5c2.5-.4 3.5 1 3.5 2.5"></path>
  </svg>`;
}
