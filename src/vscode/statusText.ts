import type { ContextSnapshot, SegmentKind } from '../core/context/snapshot';
import { spentText, type Spending } from '../core/cost/spending';
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
    text: compacting ? '$(sync~spin) Compacting…' : `$(dashboard) ${approximate && !percent.startsWith('<') ? '~' : ''}${percent} %`,
    tooltip: tooltip(input, approximate),
    severity,
    label: compacting
      ? 'Threadkeeper: compacting the conversation'
      : `Threadkeeper context: ${spoken(snapshot.used)} of ${spoken(snapshot.effective)} tokens, ${percent.startsWith('<') ? 'less than ' : approximate ? 'about ' : ''}${percent.replace('<', '')} percent${severity === 'normal' ? '' : `, ${severity}`}`,
  };
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

const segmentNames: Readonly<Record<SegmentKind, string>> = {
  system: 'System prompt',
  tools: 'Tools',
  memory: 'Memory notes',
  summary: 'Summary',
  history: 'History',
  toolResults: 'Tool results',
  draft: 'Draft',
  reserved: 'Reserved for the answer',
};

const eventNames = { nudge: 'memory nudge', prepare: 'preparation of a summary', compaction: 'compaction', limit: 'limit' } as const;

function tooltip({ snapshot, remembered, compacting, problems, spending }: StatusInput, approximate: boolean): string {
  const rows = snapshot.segments.filter(({ tokens }) => tokens > 0).map(({ kind, tokens }) => `| ${segmentNames[kind]} | ${shortTokens(tokens)} |`);
  const next = snapshot.nextEvent;
  const lines = [
    `**${shortTokens(snapshot.used)} of ${shortTokens(snapshot.effective)} tokens · ${percentText(snapshot)} %**`,
    remembered ? 'As of the last time this workspace was open.' : approximate ? 'Estimated.' : 'As the provider reported it.',
    rows.length > 0 ? ['| | |', '|:--|--:|', ...rows].join('\n') : '',
    `Model: ${escapeMarkdown(snapshot.model)}`,
    next ? `Next: ${eventNames[next.kind]} in ${shortTokens(Math.max(0, next.inTokens))} tokens${snapshot.turnsLeft === null ? '' : `, about ${snapshot.turnsLeft} ${snapshot.turnsLeft === 1 ? 'turn' : 'turns'} left`}` : '',
    spending ? `Cost: ${spending.session ? `this session ${escapeMarkdown(spentText(spending.session))} · ` : ''}today ${escapeMarkdown(spentText(spending.today))}` : '',
    ...problems.map(({ setting, message }) => `$(warning) \`${setting}\`: ${escapeMarkdown(message)}`),
    '---',
    links(compacting ? [['cancelCompaction', 'Cancel Compaction']] : [['showBreakdown', 'Breakdown'], ['compact', 'Compact'], ...(snapshot.compactions > 0 ? [['undoCompaction', 'Undo Last Compaction'] as const] : []), ['selectModel', 'Select Model…'], ['showLog', 'Show Log']]),
  ];
  return lines.filter((line) => line !== '').join('\n\n');
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
  return tokens < 1_000 ? String(Math.round(tokens)) : tokens < 999_500 ? `${Math.round(tokens / 1_000)} thousand` : `${(tokens / 1_000_000).toFixed(1).replace(/\.0$/, '')} million`;
}
