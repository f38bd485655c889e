import { html, nothing, type TemplateResult } from 'lit';
import type { AnalyticsFilter, AnalyticsState, PanelRequest } from '../../src/protocol/panels';
import { ViewElement } from '../components/viewElement';
import { dayName, duration, percent, plural, shortDayName, tokens } from '../format';
import { amount } from './amount';
import { barPlot } from './barPlot';
import { costText } from './costText';
import { PanelAskEvent } from './panelAsk';

type Report = AnalyticsState['report'];

const ranges = [7, 30, 90, 365];
const rungNames: Readonly<Record<string, string>> = {
  mask: 'Old tool results left out',
  checkpoint: 'From a checkpoint',
  prepared: 'Prepared in the background',
  model: 'Summarised by a model',
  extractive: 'Passages word for word',
  truncate: 'Oldest messages left out',
};

/** How much was said, what it cost, and what compactions and nudges did. */
export class AnalyticsView extends ViewElement {
  static override properties = { state: { attribute: false } };
  state!: AnalyticsState;

  protected override render(): TemplateResult {
    const { report, filter } = this.state;
    const { totals, days } = report;
    return html`
      <h1>Analytics</h1>
      ${this.filters(filter, report.choices)}
      <dl class="facts">
        ${fact('Sessions used', `${totals.sessionsActive}`)}${fact('Sessions begun', `${totals.sessionsCreated}`)}${fact('Messages', totals.messages.toLocaleString('en-US'))}
        ${fact('Tokens billed', tokens(totals.tokens))}${fact('Requests', totals.requests.toLocaleString('en-US'))}${fact('Cost', costText(totals.cost, totals.requests))}
      </dl>
      <section>
        <h2>Sessions per day</h2>
        ${barPlot({
          label: `Sessions used per day from ${dayName(report.from)} to ${dayName(report.to)}: ${plural(totals.sessionsActive, 'session')} in all. The table below has the numbers.`,
          bars: days.map(({ day, sessionsActive }) => ({ label: dayName(day), tick: shortDayName(day), value: sessionsActive })),
          text: (value) => String(value),
          columns: ['Day', 'Sessions'],
        })}
      </section>
      <section>
        <h2>Tokens per day</h2>
        ${barPlot({
          label: `Tokens billed per day from ${dayName(report.from)} to ${dayName(report.to)}: ${tokens(totals.tokens)} in all. The table below has the numbers.`,
          bars: days.map(({ day, tokens: value }) => ({ label: dayName(day), tick: shortDayName(day), value })),
          text: tokens,
          columns: ['Day', 'Tokens'],
        })}
      </section>
      <section><h2 id="top">Top sessions</h2>${this.sessions(report)}</section>
      <section><h2 id="models">Models</h2>${models(report)}</section>
      <section><h2 id="folds">Compactions</h2>${compactions(report.compactions)}</section>
      <section><h2 id="nudges">Memory nudges</h2>${nudges(report.nudges)}</section>
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
    return html`<div class="filters" role="group" aria-label="Filters">
      <label>Days
        <select @change=${(event: Event) => choose({ days: Number((event.target as HTMLSelectElement).value) })}>
          ${ranges.map((days) => html`<option value=${days} ?selected=${days === filter.days}>Last ${days} days</option>`)}
        </select>
      </label>
      ${select('Workspace', 'All folders', workspaces, filter.workspace, (workspace) => choose({ workspace }))}
      ${select('Model', 'All models', known, filter.model, (model) => choose({ model }))}
      ${select('Tag', 'All tags', tags, filter.tag, (tag) => choose({ tag }))}
    </div>`;
  }

  private sessions({ sessions, moreSessions }: Report): TemplateResult {
    if (sessions.length === 0) return html`<p class="muted">No session was used in these days.</p>`;
    const most = Math.max(...sessions.map((session) => session.tokens), 1);
    return html`
      <div class="table-box" role="region" aria-labelledby="top" tabindex="0">
        <table class="list">
          <thead><tr><th scope="col">Session</th><th scope="col" class="number">Messages</th><th scope="col" class="number">Tokens said</th><th scope="col" class="number">Tokens billed</th><th scope="col" class="number">Cost</th></tr></thead>
          <tbody>
            ${sessions.map(
              (session) => html`<tr>
                <th scope="row" class="excerpt"><button type="button" class="link-button" @click=${() => this.ask({ method: 'open_session', uuid: session.uuid })}>${session.title || 'Untitled'}</button> <span class="muted">${[session.id, ...session.tags.map((tag) => `#${tag}`)].join(' · ')}</span></th>
                <td class="number">${session.messages.toLocaleString('en-US')}</td>
                <td class="number">${tokens(session.contentTokens)}</td>
                <td class="number">${tokens(session.tokens)}${amount(session.tokens, most)}</td>
                <td class="number">${costText(session.cost, session.requests)}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${moreSessions > 0 ? html`<p class="muted">and ${plural(moreSessions, 'more session')}.</p>` : nothing}
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
  if (list.length === 0) return html`<p class="muted">No model was asked in these days.</p>`;
  return html`<div class="table-box" role="region" aria-labelledby="models" tabindex="0">
    <table class="list">
      <thead><tr><th scope="col">Model</th><th scope="col" class="number">Requests</th><th scope="col" class="number">Input</th><th scope="col" class="number">From cache</th><th scope="col" class="number">Into cache</th><th scope="col" class="number">Output</th><th scope="col" class="number">Cost</th></tr></thead>
      <tbody>
        ${list.map(
          (one) => html`<tr>
            <th scope="row">${one.provider}/${one.model}</th>
            <td class="number">${one.requests.toLocaleString('en-US')}</td><td class="number">${tokens(one.input)}</td><td class="number">${tokens(one.cacheRead)}</td>
            <td class="number">${tokens(one.cacheWrite)}</td><td class="number">${tokens(one.output)}</td><td class="number">${costText(one.cost, one.requests)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function compactions(folds: Report['compactions']): TemplateResult {
  if (folds.count === 0) return html`<p class="muted">Nothing was compacted in these days.</p>`;
  const most = Math.max(...folds.byRung.map(({ savedTokens }) => savedTokens), 1);
  return html`
    <p>
      ${plural(folds.count, 'compaction')}${folds.undone > 0 ? `, ${folds.undone} undone` : ''}: ${tokens(folds.tokensBefore)} → ${tokens(folds.tokensAfter)} tokens,
      ${percent(folds.savedTokens, folds.tokensBefore)} % saved. Writing them took ${duration(folds.durationMs)}${folds.heldMs > 0 ? `, of which turns waited ${duration(folds.heldMs)}` : ' and no turn waited'}.
    </p>
    <div class="table-box" role="region" aria-labelledby="folds" tabindex="0">
      <table class="list short">
        <thead><tr><th scope="col">How</th><th scope="col" class="number">Compactions</th><th scope="col" class="number">Tokens saved</th></tr></thead>
        <tbody>
          ${folds.byRung.map(({ rung, count, savedTokens }) => html`<tr><th scope="row">${rungNames[rung] ?? rung}</th><td class="number">${count}</td><td class="number">${tokens(Math.max(0, savedTokens))}${amount(savedTokens, most)}</td></tr>`)}
        </tbody>
      </table>
    </div>
  `;
}

function nudges({ delivered, acted, byPercent }: Report['nudges']): TemplateResult {
  if (delivered === 0) return html`<p class="muted">The model was not asked to write notes in these days.</p>`;
  return html`
    <p>${plural(delivered, 'nudge')}, ${acted} of them answered with a note (${percent(acted, delivered)} %).</p>
    <div class="table-box" role="region" aria-labelledby="nudges" tabindex="0">
      <table class="list short">
        <thead><tr><th scope="col">At</th><th scope="col" class="number">Delivered</th><th scope="col" class="number">Acted on</th></tr></thead>
        <tbody>${byPercent.map((one) => html`<tr><th scope="row">${one.percent} %</th><td class="number">${one.delivered}</td><td class="number">${one.acted}</td></tr>`)}</tbody>
      </table>
    </div>
  `;
}
