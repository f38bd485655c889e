import { html, svg, nothing, type TemplateResult } from 'lit';
import { properties } from '../lib/viewElement';
import { listed, t } from '../../src/protocol/l10n';

interface PlotMark {
  /** Names its shape. */
  readonly kind: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
}

interface PlotLine {
  readonly y: number;
  readonly label: string;
  readonly kind: string;
}

interface Plot {
  /** What it shows, in a sentence: the picture is nothing to a screen reader. */
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly marks: readonly PlotMark[];
  /** Levels that mean something. */
  readonly lines: readonly PlotLine[];
  readonly xMax: number;
  readonly yMax: number;
  readonly yLabel: (y: number) => string;
  readonly xLabels: readonly [string, string];
}

const width = 1000;
const height = 200;

/** A curve that follows the theme: one path, stretched to the width there is; everything with letters stands beside it as text. */
export function plot({ label, points, marks, lines, xMax, yMax, yLabel, xLabels }: Plot): TemplateResult {
  const x = (value: number) => (xMax > 0 ? value / xMax : 0);
  const y = (value: number) => (yMax > 0 ? Math.min(1, value / yMax) : 0);
  const path = points
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${round(x(point.x) * width)} ${round((1 - y(point.y)) * height)}`)
    .join('');
  const [first, last] = [points[0], points.at(-1)];
  const area = first && last ? `${path}L${round(x(last.x) * width)} ${height}L${round(x(first.x) * width)} ${height}Z` : '';
  return html`
    <div class="plot">
      <div class="plot-scale" aria-hidden="true"><span>${yLabel(yMax)}</span><span>0</span></div>
      <div class="plot-area">
        <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label=${label}>
          <path class="plot-fill" d=${area}></path>
          ${lines.map((line) => svg`<line class="plot-level level-${line.kind}" x1="0" x2=${width} y1=${round((1 - y(line.y)) * height)} y2=${round((1 - y(line.y)) * height)}></line>`)}
          <path class="plot-line" d=${path}></path>
        </svg>
        <div class="plot-texts" aria-hidden="true">
          ${lines.map((line) => html`<span class="plot-level-label level-${line.kind}" ${properties({ '--y': String(1 - y(line.y)) })}>${line.label}</span>`)}
          ${marks.map((mark) => html`<span class="plot-mark mark-${mark.kind}" title=${mark.label} ${properties({ '--x': String(x(mark.x)), '--y': String(1 - y(mark.y)) })}></span>`)}
        </div>
      </div>
      <div class="plot-ends" aria-hidden="true"><span>${xLabels[0]}</span><span>${xLabels[1]}</span></div>
    </div>
  `;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

interface Bar {
  readonly label: string;
  /** The same in a few letters. */
  readonly tick: string;
  readonly value: number;
}

interface BarPlot {
  /** What it shows, in a sentence: the picture is nothing to a screen reader. */
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly text: (value: number) => string;
  /** Headings of the columns of its table. */
  readonly columns: readonly [string, string];
}

const barHeight = 100;
/** Beyond these a name under each bar would not fit. */
const mostNamed = 10;

/** Bars that follow the theme, with the same as a table. One path, stretched to the width there is; its letters stand beside it as text. */
export function barPlot({ label, bars, text, columns }: BarPlot): TemplateResult {
  const most = Math.max(...bars.map(({ value }) => value), 0);
  const path = bars
    .map(({ value }, index) =>
      value <= 0 || most === 0
        ? ''
        : `M${index * 10 + 1.5} ${barHeight}V${Math.round((1 - value / most) * barHeight * 10) / 10}h7V${barHeight}Z`,
    )
    .join('');
  const named = bars.length <= mostNamed;
  return html`
    <div class="plot bars">
      <div class="plot-scale" aria-hidden="true"><span>${text(most)}</span><span>0</span></div>
      <div class="plot-area">
        <svg viewBox="0 0 ${Math.max(1, bars.length) * 10} ${barHeight}" preserveAspectRatio="none" role="img" aria-label=${label}>
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

/** A number's share of the largest in its column, beside the number. */
export function amount(part: number, whole: number): TemplateResult {
  return html`<span class="amount" aria-hidden="true" ${properties({ '--share': String(whole > 0 ? Math.max(0, part / whole) : 0) })}></span>`;
}
