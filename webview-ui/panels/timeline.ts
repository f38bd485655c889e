import { html, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import type { BreakdownState } from '../../src/protocol/panels';
import type { Context } from '../gauge/gaugeModel';
import { shortTokens } from '../../src/protocol/figures';
import { dateTime } from '../lib/format';
import { plot } from './plots';

type Timeline = BreakdownState['timeline'];
type Mark = Timeline['marks'][number];

/** Beside every mark so many rows of the table, evenly spread. */
const samples = 20;

const markNames: Record<Mark['kind'], () => string> = {
  compaction: () => t('Compaction'),
  undo: () => t('Compaction undone'),
  checkpoint: () => t('Snapshot'),
  exclusion: () => t('Excluded'),
};

/** The size of the context along the conversation: as a picture, and as a table for whom a picture is none. */
export function timeline({ points, marks }: Timeline, context: Context): TemplateResult {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 2)
    return html`<p class="muted">${t('This is drawn as soon as there is more than one message.')}</p>`;
  const compaction = context.thresholds.find(({ kind, state }) => kind === 'compaction' && state !== 'off');
  const peak = points.reduce((most, point) => Math.max(most, point.tokens), 0);
  // A small context would be a line at the bottom.
  const yMax = Math.max(peak * 1.1, Math.min(context.effective, peak * 4));
  const levels = [
    { y: context.effective, label: t('window {0}', shortTokens(context.effective)), kind: 'window' },
    ...(compaction ? [{ y: compaction.tokens, label: t('compaction at {0}', shortTokens(compaction.tokens)), kind: 'compaction' }] : []),
  ];
  const compactions = marks.filter(({ kind }) => kind === 'compaction').length;
  const checkpoints = marks.filter(({ kind }) => kind === 'checkpoint').length;
  return html`
    ${plot({
      label: t(
        'Size of the context from {0} to {1}: {2} now, {3} at most. Compactions: {4}, snapshots: {5}. The table below has the numbers.',
        dateTime(first.at),
        dateTime(last.at),
        shortTokens(last.tokens),
        shortTokens(peak),
        compactions,
        checkpoints,
      ),
      points: points.map(({ position, tokens: y }) => ({ x: position - first.position, y })),
      marks: marks.map(({ kind, position, tokens: y, at }) => ({
        kind,
        x: position - first.position,
        y,
        label: t('{0} at {1}, {2}', markNames[kind](), shortTokens(y), dateTime(at)),
      })),
      // What lies above would stand at the edge, as if it were there.
      lines: levels.filter(({ y }) => y <= yMax),
      xMax: last.position - first.position,
      yMax,
      yLabel: shortTokens,
      xLabels: [dateTime(first.at), dateTime(last.at)],
    })}
    <ul class="legend">
      ${compactions > 0 ? html`<li><span class="legend-mark mark-compaction" aria-hidden="true"></span>${t('Compaction')}</li>` : ''}
      ${marks.some(({ kind }) => kind === 'undo') ? html`<li><span class="legend-mark mark-undo" aria-hidden="true"></span>${t('Undo')}</li>` : ''}
      ${marks.some(({ kind }) => kind === 'exclusion') ? html`<li><span class="legend-mark mark-exclusion" aria-hidden="true"></span>${t('Excluded')}</li>` : ''}
      ${checkpoints > 0 ? html`<li><span class="legend-mark mark-checkpoint" aria-hidden="true"></span>${t('Snapshot')}</li>` : ''}
    </ul>
    <details>
      <summary>${t('Sizes as a table')}</summary>
      <div class="table-box" role="region" aria-label=${t('Sizes of the context')} tabindex="0">
        <table class="list">
          <thead><tr><th scope="col">${t('When')}</th><th scope="col">${t('What')}</th><th scope="col" class="number">${t('Tokens')}</th></tr></thead>
          <tbody>${rows(points, marks).map((row) => html`<tr><th scope="row">${dateTime(row.at)}</th><td>${row.what}</td><td class="number">${shortTokens(row.tokens)}</td></tr>`)}</tbody>
        </table>
      </div>
    </details>
  `;
}

function rows(points: Timeline['points'], marks: readonly Mark[]): { at: number; what: string; tokens: number; position: number }[] {
  const step = Math.max(1, Math.ceil(points.length / samples));
  const sampled = points.filter((_, index) => index % step === 0 || index === points.length - 1);
  return [
    ...sampled.map((point) => ({
      ...point,
      what: point === points.at(-1) ? t('Now') : point.measured ? t('Reported by the provider') : t('Reckoned'),
    })),
    ...marks.map((mark) => ({ ...mark, what: markNames[mark.kind]() })),
  ].sort((a, b) => a.position - b.position || a.at - b.at);
}
