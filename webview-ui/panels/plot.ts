import { html, svg, type TemplateResult } from 'lit';
import { properties } from '../render/properties';

export interface PlotMark {
  /** Names its shape. */
  readonly kind: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
}

export interface PlotLine {
  readonly y: number;
  readonly label: string;
  readonly kind: string;
}

export interface Plot {
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
