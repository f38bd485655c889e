import { html, nothing, type TemplateResult } from 'lit';
import { t, wholeNumber } from '../../src/protocol/l10n';
import type { AnalyticsFilter, AnalyticsState, PanelRequest } from '../../src/protocol/panels';
import { ViewElement } from '../lib/viewElement';
import { percent, shortTokens } from '../../src/protocol/figures';
import { costText, dayName, duration, shortDayName } from '../lib/format';
import { amount, barPlot } from './plots';
import { PanelAskEvent } from './panel';

type Report = AnalyticsState['report'];

const ranges = [7, 30, 90, 365];
const rungNames: Readonly<Record<string, () => string>> = {
  mask: () => t('Old tool results left out'),
  checkpoint: () => t('From a snapshot'),
  prepared: () => t('Prepared in the background'),
  model: () => t('Summarized by a model'),
  extractive: () => t('Passages word for word'),
  truncate: () => t('Oldest messages left out'),
};

/** How much was said, what it cost, and what compactions and nudges did. */
export class AnalyticsView extends ViewElement {
  static override properties = { state: { attribute: false } };
  state!: AnalyticsState;

  protected override render(): TemplateResult {
    const { report, filter } = this.state;
    const { totals, days } = report;
    return html`
      <h1>${t('Analytics')}</h1>
      ${this.filters(filter, report.choices)}
      <dl class="facts">
        ${fact(t('Sessions used'), `${totals.sessionsActive}`)}${fact(t('Sessions begun'), `${totals.sessionsCreated}`)}${fact(t('Messages'), wholeNumber(totals.messages))}
        ${fact(t('Tokens billed'), shortTokens(totals.tokens))}${fact(t('Requests'), wholeNumber(totals.requests))}${fact(t('Cost'), costText(totals.cost, totals.requests))}
      </dl>
      <section>
        <h2>${t('Sessions per day')}</h2>
        ${barPlot({
          label: t(
            totals.sessionsActive === 1
              ? 'Sessions used per day from {0} to {1}: {2} session in all. The table below has the numbers.'
              : 'Sessions used per day from {0} to {1}: {2} sessions in all. The table below has the numbers.',
            dayName(report.from),
            dayName(report.to),
            wholeNumber(totals.sessionsActive),
          ),
          bars: days.map(({ day, sessionsActive }) => ({ label: dayName(day), tick: shortDayName(day), value: sessionsActive })),
          text: (value) => String(value),
          columns: [t('Day'), t('Sessions')],
        })}
      </section>
      <section>
        <h2>${t('Tokens per day')}</h2>
        ${barPlot({
          label: t(
            'Tokens billed per day from {0} to {1}: {2} in all. The table below has the numbers.',
            dayName(report.from),
            dayName(report.to),
            shortTokens(totals.tokens),
          ),
          bars: days.map(({ day, tokens: value }) => ({ label: dayName(day), tick: shortDayName(day), value })),
          text: shortTokens,
          columns: [t('Day'), t('Tokens')],
        })}
      </section>
      <section><h2 id="top">${t('Top sessions')}</h2>${this.sessions(report)}</section>
      <section><h2 id="models">${t('Models')}</h2>${models(report)}</section>
      <section><h2 id="folds">${t('Compactions')}</h2>${compactions(report.compactions)}</section>
      <section><h2 id="returns">${t('After pauses')}</h2>${returns(report.returns)}</section>
      <section><h2 id="nudges">${t('Memory reminders')}</h2>${nudges(report.nudges)}</section>
    `;
  }

  private filters(filter: AnalyticsFilter, { workspaces, models: known, tags }: Report['choices']): TemplateResult {
    const choose = (change: Partial<AnalyticsFilter>) => this.ask({ method: 'filter', filter: { ...filter, ...change } });
    const select = (label: string, all: string, options: readonly string[], value: string | null, set: (value: string | null) => void) =>
      options.length === 0 && value === null
        ? nothing
        : html`<label>${label}
            <select @change=${(event: Event) => set((event.target as HTMLSelectElement).value || null)}>
              <option value="" ?selected=${value === null}>${all}</option>
              ${[...new Set([...options, ...(value === null ? [] : [value])])].map((option) => html`<option value=${option} ?selected=${option === value}>${option}</option>`)}
            </select>
          </label>`;
    return html`<div class="filters" role="group" aria-label=${t('Filters')}>
      <label>${t('Days')}
        <select @change=${(event: Event) => choose({ days: Number((event.target as HTMLSelectElement).value) })}>
          ${ranges.map((days) => html`<option value=${days} ?selected=${days === filter.days}>${t('Last {0} days', days)}</option>`)}
        </select>
      </label>
      ${select(t('Workspace'), t('All folders'), workspaces, filter.workspace, (workspace) => choose({ workspace }))}
      ${select(t('Model'), t('All models'), known, filter.model, (model) => choose({ model }))}
      ${select(t('Tag'), t('All tags'), tags, filter.tag, (tag) => choose({ tag }))}
    </div>`;
  }

  private sessions({ sessions, moreSessions }: Report): TemplateResult {
    if (sessions.length === 0) return html`<p class="muted">${t('No session was used in these days.')}</p>`;
    const most = Math.max(...sessions.map((session) => session.contentTokens), 1);
    return html`
      <div class="table-box" role="region" aria-labelledby="top" tabindex="0">
        <table class="list">
          <thead><tr><th scope="col">${t('Session')}</th><th scope="col" class="number">${t('Messages')}</th><th scope="col" class="number">${t('Tokens said')}</th><th scope="col" class="number">${t('Tokens billed')}</th><th scope="col" class="number">${t('Cost')}</th></tr></thead>
          <tbody>
            ${sessions.map(
              (session) => html`<tr>
                <th scope="row" class="excerpt"><button type="button" class="link-button" @click=${() => this.ask({ method: 'open_session', uuid: session.uuid })}>${session.title || t('Untitled')}</button> <span class="muted">${[session.id, ...session.tags.map((tag) => `#${tag}`)].join(' · ')}</span></th>
                <td class="number">${wholeNumber(session.messages)}</td>
                <td class="number">${shortTokens(session.contentTokens)}${amount(session.contentTokens, most)}</td>
                <td class="number">${shortTokens(session.tokens)}</td>
                <td class="number">${costText(session.cost, session.requests)}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${moreSessions > 0 ? html`<p class="muted">${t(moreSessions === 1 ? 'and {0} more session.' : 'and {0} more sessions.', wholeNumber(moreSessions))}</p>` : nothing}
    `;
  }

  private ask(request: PanelRequest): void {
    this.dispatchEvent(new PanelAskEvent(request));
  }
}

function fact(name: string, value: string): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function models({ models: list }: Report): TemplateResult {
  if (list.length === 0) return html`<p class="muted">${t('No model was asked in these days.')}</p>`;
  return html`<div class="table-box" role="region" aria-labelledby="models" tabindex="0">
    <table class="list">
      <thead><tr><th scope="col">${t('Model')}</th><th scope="col" class="number">${t('Requests')}</th><th scope="col" class="number">${t('Input')}</th><th scope="col" class="number">${t('From cache')}</th><th scope="col" class="number">${t('Into cache')}</th><th scope="col" class="number">${t('Output')}</th><th scope="col" class="number">${t('Cost')}</th></tr></thead>
      <tbody>
        ${list.map(
          (one) => html`<tr>
            <th scope="row">${one.provider}/${one.model}</th>
            <td class="number">${wholeNumber(one.requests)}</td><td class="number">${shortTokens(one.input)}</td><td class="number">${shortTokens(one.cacheRead)}</td>
            <td class="number">${shortTokens(one.cacheWrite)}</td><td class="number">${shortTokens(one.output)}</td><td class="number">${costText(one.cost, one.requests)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function compactions(folds: Report['compactions']): TemplateResult {
  if (folds.count === 0) return html`<p class="muted">${t('Nothing was compacted in these days.')}</p>`;
  const most = Math.max(...folds.byRung.map(({ savedTokens }) => savedTokens), 1);
  return html`
    <p>
      ${foldedText(folds)}
      ${folds.heldMs > 0 ? t('Writing them took {0}, of which turns waited {1}.', duration(folds.durationMs), duration(folds.heldMs)) : t('Writing them took {0} and no turn waited.', duration(folds.durationMs))}
    </p>
    <div class="table-box" role="region" aria-labelledby="folds" tabindex="0">
      <table class="list short">
        <thead><tr><th scope="col">${t('How')}</th><th scope="col" class="number">${t('Compactions')}</th><th scope="col" class="number">${t('Tokens saved')}</th></tr></thead>
        <tbody>
          ${folds.byRung.map(({ rung, count, savedTokens }) => html`<tr><th scope="row">${rungNames[rung]?.() ?? rung}</th><td class="number">${count}</td><td class="number">${shortTokens(Math.max(0, savedTokens))}${amount(savedTokens, most)}</td></tr>`)}
        </tbody>
      </table>
    </div>
  `;
}

function foldedText({ count, undone, tokensBefore, tokensAfter, savedTokens }: Report['compactions']): string {
  const sizes = [wholeNumber(count), shortTokens(tokensBefore), shortTokens(tokensAfter), percent(savedTokens, tokensBefore)] as const;
  return undone > 0
    ? t(
        count === 1
          ? '{0} compaction, {4} undone: {1} → {2} tokens, {3}% saved.'
          : '{0} compactions, {4} undone: {1} → {2} tokens, {3}% saved.',
        ...sizes,
        undone,
      )
    : t(count === 1 ? '{0} compaction: {1} → {2} tokens, {3}% saved.' : '{0} compactions: {1} → {2} tokens, {3}% saved.', ...sizes);
}

function returns({ count, again, cost, folded, saved, savedCost }: Report['returns']): TemplateResult {
  if (count === 0) return html`<p class="muted">${t('No message had to be written to the prompt cache again in these days.')}</p>`;
  const sums = [wholeNumber(count), shortTokens(again), costText(cost, count)] as const;
  return html`
    <p>${t(count === 1 ? '{0} message came after the prompt cache had expired: {1} tokens were written again ({2}).' : '{0} messages came after the prompt cache had expired: {1} tokens were written again ({2}).', ...sums)}</p>
    ${folded > 0 ? html`<p>${t(folded === 1 ? '{0} of them was compacted first. That saved {1} tokens ({2}).' : '{0} of them were compacted first. That saved {1} tokens ({2}).', wholeNumber(folded), shortTokens(saved), costText(savedCost, folded))}</p>` : nothing}
  `;
}

function nudges({ delivered, acted, byPercent }: Report['nudges']): TemplateResult {
  if (delivered === 0) return html`<p class="muted">${t('The model was not asked to write notes in these days.')}</p>`;
  return html`
    <p>${t(delivered === 1 ? '{0} memory reminder, {1} of them answered with a note ({2}%).' : '{0} memory reminders, {1} of them answered with a note ({2}%).', wholeNumber(delivered), acted, percent(acted, delivered))}</p>
    <div class="table-box" role="region" aria-labelledby="nudges" tabindex="0">
      <table class="list short">
        <thead><tr><th scope="col">${t('At')}</th><th scope="col" class="number">${t('Delivered')}</th><th scope="col" class="number">${t('Acted on')}</th></tr></thead>
        <tbody>${byPercent.map((one) => html`<tr><th scope="row">${one.percent}%</th><td class="number">${one.delivered}</td><td class="number">${one.acted}</td></tr>`)}</tbody>
      </table>
    </div>
  `;
}
