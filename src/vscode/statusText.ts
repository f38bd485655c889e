import type { ContextSnapshot, SegmentKind } from '../core/context/snapshot';
import { spentText, type Spending } from '../core/cost/spending';
import { listed, shown, t } from '../core/l10n';
import type { PolicyProblem } from '../core/context/resolvePolicy';
import { commandIds, type CommandName } from './contributions';
import { escapeMarkdown } from './escapeMarkdown';

export type StatusSeverity = 'normal' | 'warning' | 'error';

export interface StatusInput {
  readonly snapshot: ContextSnapshot;
  /** From an earlier run of VS Code: nothing has been measured since. */
  readonly remembered: boolean;
  readonly compacting: boolean;
  readonly problems: readonly PolicyProblem[];
  /** Null: not known yet. */
  readonly spending: Spending | null;
}

export interface StatusView {
  readonly text: string;
  /** Markdown with command links. */
  readonly tooltip: string;
  readonly severity: StatusSeverity;
  /** For screen readers. */
  readonly label: string;
}

/** What the status bar shows of a context: nothing here computes a size of its own. */
export function statusView(input: StatusInput): StatusView {
  const { snapshot, compacting } = input;
  const percent = percentText(snapshot);
  const approximate = input.remembered || snapshot.provenance === 'estimated';
  const severity = severityOf(snapshot);
  return {
    text: compacting ? `$(sync~spin) ${t('Compacting…')}` : `$(dashboard) ${approximate && !percent.startsWith('<') ? '~' : ''}${percent} %`,
    tooltip: tooltip(input, approximate),
    severity,
    label: compacting ? t('Threadkeeper: compacting the conversation') : label(snapshot, percent, approximate, severity),
  };
}

function label({ used, effective }: ContextSnapshot, percent: string, approximate: boolean, severity: StatusSeverity): string {
  const sizes = [spoken(used), spoken(effective)] as const;
  const full = percent.startsWith('<')
    ? t('Threadkeeper context: {0} of {1} tokens, less than {2} percent', ...sizes, percent.slice(1))
    : approximate
      ? t('Threadkeeper context: {0} of {1} tokens, about {2} percent', ...sizes, percent)
      : t('Threadkeeper context: {0} of {1} tokens, {2} percent', ...sizes, percent);
  return severity === 'normal' ? full : listed([full, severity === 'warning' ? t('warning') : t('error')]);
}

/** As the gauge of the view has it. */
function percentText({ used, effective }: Pick<ContextSnapshot, 'used' | 'effective'>): string {
  const percent = effective > 0 ? Math.round((used / effective) * 100) : 0;
  return percent === 0 && used > 0 ? '<1' : String(percent);
}

/** Warning from the second nudge (the only one where there is one), error from where a compaction is due. */
function severityOf({ thresholds, used }: ContextSnapshot): StatusSeverity {
  const compaction = thresholds.find((threshold) => threshold.kind === 'compaction');
  if (compaction && used >= compaction.tokens) return 'error';
  const nudges = thresholds.filter((threshold) => threshold.kind === 'nudge').sort((a, b) => a.tokens - b.tokens);
  const warning = nudges[1] ?? nudges[0];
  return warning && used >= warning.tokens ? 'warning' : 'normal';
}

const segmentNames: Readonly<Record<SegmentKind, () => string>> = {
  system: () => t('System prompt'),
  tools: () => t('Tools'),
  memory: () => t('Memory notes'),
  summary: () => t('Summary'),
  history: () => t('History'),
  toolResults: () => t('Tool results'),
  draft: () => t('Draft'),
  reserved: () => t('Reserved for the answer'),
};

const eventNames: Readonly<Record<NonNullable<ContextSnapshot['nextEvent']>['kind'], () => string>> = {
  nudge: () => t('memory nudge'),
  prepare: () => t('preparation of a summary'),
  compaction: () => t('compaction'),
  limit: () => t('limit'),
};

function tooltip({ snapshot, remembered, compacting, problems, spending }: StatusInput, approximate: boolean): string {
  const rows = snapshot.segments.filter(({ tokens }) => tokens > 0).map(({ kind, tokens }) => `| ${segmentNames[kind]()} | ${shortTokens(tokens)} |`);
  const lines = [
    `**${t('{0} of {1} tokens · {2} %', shortTokens(snapshot.used), shortTokens(snapshot.effective), percentText(snapshot))}**`,
    remembered ? t('As of the last time this workspace was open.') : approximate ? t('Estimated.') : t('As the provider reported it.'),
    rows.length > 0 ? ['| | |', '|:--|--:|', ...rows].join('\n') : '',
    t('Model: {0}', escapeMarkdown(snapshot.model)),
    ...nextLines(snapshot),
    spending ? costText(spending) : '',
    ...problems.map(({ setting, message }) => `$(warning) \`${setting}\`: ${escapeMarkdown(shown(message))}`),
    '---',
    links(compacting ? [['cancelCompaction', t('Cancel Compaction')]] : [['showBreakdown', t('Breakdown')], ['compact', t('Compact')], ...(snapshot.compactions > 0 ? [['undoCompaction', t('Undo Last Compaction')] as const] : []), ['selectModel', t('Select Model…')], ['showLog', t('Show Log')]]),
  ];
  return lines.filter((line) => line !== '').join('\n\n');
}

/** As in the gauge of the view: what is due comes before what is ahead; and, if that is another event, what ends the room. */
function nextLines({ thresholds, nextEvent, turnsLeft }: ContextSnapshot): string[] {
  const due = thresholds.findLast(({ state, kind }) => state === 'due' && kind !== 'limit');
  if (due) return [t('Next: {0}, due now', eventNames[due.kind]())];
  if (!nextEvent) return [];
  const next = t('Next: {0} in {1} tokens', eventNames[nextEvent.kind](), shortTokens(Math.max(0, nextEvent.inTokens)));
  const turns = turnsLeft === null ? [] : [turnsText(turnsLeft)];
  const end = thresholds.find(({ kind, state }) => kind === 'compaction' && state === 'ahead') ?? thresholds.find(({ kind }) => kind === 'limit');
  if (!end || end.kind === nextEvent.kind) return [listed([next, ...turns])];
  const name = eventNames[end.kind]();
  return [next, listed([t('{0} at {1}', `${name[0]!.toUpperCase()}${name.slice(1)}`, shortTokens(end.tokens)), ...turns])];
}

function turnsText(turns: number): string {
  if (turns < 1) return t('less than a turn left');
  return turns > 200 ? t('over {0} turns left', 200) : t(turns === 1 ? 'about {0} turn left' : 'about {0} turns left', turns);
}

function costText({ session, today }: Spending): string {
  const ofToday = escapeMarkdown(spentText(today));
  return session ? t('Cost: this session {0} · today {1}', escapeMarkdown(spentText(session)), ofToday) : t('Cost: today {0}', ofToday);
}

function links(items: readonly (readonly [CommandName, string])[]): string {
  return items.map(([name, title]) => `[${title}](command:${commandIds[name]})`).join(' · ');
}

/** 950, 3.9k, 84.1k, 200k, 1M */
export function shortTokens(tokens: number): string {
  if (tokens < 1_000) return String(Math.round(tokens));
  const [value, unit] = tokens < 999_950 ? [tokens / 1_000, 'k'] : [tokens / 1_000_000, 'M'];
  return `${value.toFixed(1).replace(/\.0$/, '')}${unit}`;
}

function spoken(tokens: number): string {
  return tokens < 1_000 ? String(Math.round(tokens)) : tokens < 999_500 ? t('{0} thousand', Math.round(tokens / 1_000)) : t('{0} million', (tokens / 1_000_000).toFixed(1).replace(/\.0$/, ''));
}
