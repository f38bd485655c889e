import type { ContextSnapshot } from '../../core/context/measure/snapshot';
import { spentText, type Spending } from '../../core/cost/spending';
import { listed, shown, t } from '../../core/l10n';
import type { PolicyProblem } from '../../core/context/policy/resolvePolicy';
import {
  cacheText,
  contextLevel,
  endText,
  forecastText,
  nextText,
  segmentLabels,
  spokenContext,
  summarizingText,
  type ContextLevel,
} from '../../protocol/contextText';
import { percentText, shortTokens } from '../../protocol/figures';
import { commandIds, type CommandName } from '../manifest';
import { escapeMarkdown } from '../plainText';

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
  /** Empty: nothing is shown, as offline, where nothing fills up. */
  readonly text: string;
  /** Markdown with command links. */
  readonly tooltip: string;
  readonly severity: StatusSeverity;
  /** For screen readers. */
  readonly label: string;
}

const severities: Readonly<Record<ContextLevel, StatusSeverity>> = { normal: 'normal', warning: 'warning', full: 'warning', over: 'error' };

/** What the status bar shows of a context: nothing here computes a size, a level or a word of its own. */
export function statusView(input: StatusInput): StatusView {
  const { snapshot, compacting } = input;
  const percent = percentText(snapshot.used, snapshot.effective);
  const approximate = input.remembered || snapshot.provenance === 'estimated';
  const severity = severities[contextLevel(snapshot)];
  const size = snapshot.model.startsWith('offline/') ? '' : `$(dashboard) ${approximate && !percent.startsWith('<') ? '~' : ''}${percent}`;
  return {
    text: compacting ? `$(sync~spin) ${t('Compacting…')}` : size,
    tooltip: tooltip(input, approximate),
    severity,
    label: compacting ? t('Threadkeeper: compacting the conversation') : label(snapshot, approximate, severity),
  };
}

function label(snapshot: ContextSnapshot, approximate: boolean, severity: StatusSeverity): string {
  const full = t('Threadkeeper context: {0}', spokenContext(snapshot, approximate));
  return severity === 'normal' ? full : listed([full, severity === 'warning' ? t('warning') : t('error')]);
}

function tooltip({ snapshot, remembered, compacting, problems, spending }: StatusInput, approximate: boolean): string {
  const rows = snapshot.segments
    .filter(({ tokens }) => tokens > 0)
    .map(({ kind, tokens }) => `| ${segmentLabels[kind]()} | ${shortTokens(tokens)} |`);
  const lines = [
    `**${t('{0} of {1} tokens', shortTokens(snapshot.used), shortTokens(snapshot.effective))} · ${percentText(snapshot.used, snapshot.effective)}**`,
    remembered
      ? t('From the last time this workspace was open.')
      : approximate
        ? t('Estimated until the API reports its count.')
        : t('Measured by the API.'),
    rows.length > 0 ? ['| | |', '|:--|--:|', ...rows].join('\n') : '',
    t('Model: {0}', escapeMarkdown(snapshot.model)),
    ...nextLines(snapshot),
    snapshot.cache.state === 'unknown' ? '' : escapeMarkdown(cacheText(snapshot.cache)),
    remembered ? '' : (summarizingText(snapshot) ?? ''),
    spending ? costText(spending) : '',
    ...problems.map(({ setting, message }) => `$(warning) \`${setting}\`: ${escapeMarkdown(shown(message))}`),
    '---',
    links(
      compacting
        ? [['cancelCompaction', t('Cancel Compaction')]]
        : [
            ['showBreakdown', t('Breakdown')],
            ['compact', t('Compact')],
            ...(snapshot.compactions > 0 ? [['undoCompaction', t('Undo Last Compaction')] as const] : []),
            ['selectModel', t('Select Model…')],
            ['showLog', t('Show Log')],
          ],
    ),
  ];
  return lines.filter((line) => line !== '').join('\n\n');
}

/** What comes next, and how much room there is until then. */
function nextLines(snapshot: ContextSnapshot): string[] {
  const [next, end, forecast] = [nextText(snapshot), endText(snapshot), forecastText(snapshot)];
  return [
    ...(next ? [t('Next: {0}', next)] : []),
    // Where the next message compacts it has been said.
    contextLevel(snapshot) === 'full' && next ? '' : listed([end, forecast].filter((part) => part !== null)),
  ].filter((line) => line !== '');
}

function costText({ session, today }: Spending): string {
  const ofToday = escapeMarkdown(spentText(today));
  return session ? t('Cost: this session {0} · today {1}', escapeMarkdown(spentText(session)), ofToday) : t('Cost: today {0}', ofToday);
}

function links(items: readonly (readonly [CommandName, string])[]): string {
  return items.map(([name, title]) => `[${title}](command:${commandIds[name]})`).join(' · ');
}
