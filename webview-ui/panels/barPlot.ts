import { html, nothing, type TemplateResult } from 'lit';
import { listed, t } from '../../src/protocol/l10n';
import { properties } from '../render/properties';

export interface Bar {
  readonly label: string;
  /** The same in a few letters. */
  readonly tick: string;
  readonly value: number;
}

export interface BarPlot {
  /** What it shows, in a sentence: the picture is nothing to a screen reader. */
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly text: (value: number) => string;
  /** Headings of the columns of its table. */
  readonly columns: readonly [string, string];
}

const height = 100;
/** Beyond these a name under each bar would not fit. */
const mostNamed = 10;

/** Bars that follow the theme, with the same as a table. One path, stretched to the width there is; its letters stand beside it as text. */
export function barPlot({ label, bars, text, columns }: BarPlot): TemplateResult {
  const most = Math.max(...bars.map(({ value }) => value), 0);
  const path = bars
    .map(({ value }, index) =>
      value <= 0 || most === 0 ? '' : `M${index * 10 + 1.5} ${height}V${Math.round((1 - value / most) * height * 10) / 10}h7V${height}Z`,
    )
    .join('');
  const named = bars.length <= mostNamed;
  return html`
    <div class="plot bars">
      <div class="plot-scale" aria-hidden="true"><span>${text(most)}</span><span>0</span></div>
      <div class="plot-area">
        <svg viewBox="0 0 ${Math.max(1, bars.length) * 10} ${height}" preserveAspectRatio="none" role="img" aria-label=${label}>
          <path class="plot-bars" d=${path}></path>
        </svg>
        <div class="plot-columns" aria-hidden="true">
          ${bars.map((bar) => html`<span title=${t('{0}: {1}', bar.label, text(bar.value))}>${named && bar.value > 0 ? html`<span class="bar-value" ${properties({ '--y': String(most > 0 ? 1 - bar.value / most : 1) })}>${text(bar.value)}</span>` : nothing}</span>`)}
        </div>
      </div>
      <div class="plot-ends ${named ? 'each' : ''}" aria-hidden="true">
        ${(named ? bars : [bars[0], bars.at(-1)]).map((bar) => html`<span>${(named ? bar?.tick : bar?.label) ?? ''}</span>`)}
      </div>
    </div>
    <details>
      <summary>${t('{0} as a table', columns[1])}</summary>
      <div class="table-box" role="region" aria-label=${listed(columns)} tabindex="0">
        <table class="list short">
          <thead><tr><th scope="col">${columns[0]}</th><th scope="col" class="number">${columns[1]}</th></tr></thead>
          <tbody>${bars.map((bar) => html`<tr><th scope="row">${bar.label}</th><td class="number">${text(bar.value)}</td></tr>`)}</tbody>
        </table>
      </div>
    </details>
  `;
}
