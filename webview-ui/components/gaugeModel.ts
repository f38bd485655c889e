import { listed, t } from '../../src/protocol/l10n';
import type { ViewSnapshot } from '../../src/protocol/messages';
import { percent, spokenTokens, tokens } from '../format';

export type Context = NonNullable<ViewSnapshot['context']>;
type SegmentKind = Context['segments'][number]['kind'];
type Threshold = Context['thresholds'][number];

export interface GaugeSegment {
  readonly kind: SegmentKind;
  readonly label: string;
  readonly tokens: number;
  /** Of the effective window. */
  readonly percent: string;
  /** Of the bar's length, 0 to 1. */
  readonly share: number;
}

export interface GaugeTick {
  readonly kind: Threshold['kind'];
  readonly label: string;
  readonly state: Threshold['state'];
  readonly share: number;
}

export interface GaugeModel {
  readonly segments: readonly GaugeSegment[];
  readonly free: number;
  readonly ticks: readonly GaugeTick[];
  readonly size: string;
  readonly percent: string;
  readonly forecast: string | null;
  readonly next: string | null;
  readonly spoken: string;
  /** `warning` from the last nudge, `full` from the compaction point, `over` when nothing of this size can be sent. */
  readonly level: 'normal' | 'warning' | 'full' | 'over';
  readonly estimated: boolean;
}

export const segmentLabels: Record<SegmentKind, () => string> = {
  system: () => t('System'),
  tools: () => t('Tools'),
  memory: () => t('Memory'),
  summary: () => t('Summary'),
  history: () => t('History'),
  toolResults: () => t('Tool results'),
  draft: () => t('Draft'),
  reserved: () => t('Reserved for answer'),
};

const eventLabels: Record<Threshold['kind'], () => string> = {
  nudge: () => t('nudge'),
  prepare: () => t('summary prepared'),
  compaction: () => t('compaction'),
  limit: () => t('limit'),
};

/** Everything the gauge shows, from the one snapshot that every surface shows. */
export function gaugeModel(context: Context): GaugeModel {
  const reserved = context.segments.find((s) => s.kind === 'reserved')?.tokens ?? 0;
  const length = Math.max(context.effective, context.used + reserved);
  const share = (count: number) => (length > 0 ? Math.max(0, Math.min(1, count / length)) : 0);
  const estimated = context.provenance === 'estimated';
  const over = context.used > context.limit;
  const filled = context.segments.reduce((sum, s) => sum + s.tokens, 0);
  return {
    segments: context.segments
      .filter((s) => s.tokens > 0)
      .map((s) => ({ ...s, label: segmentLabels[s.kind](), share: share(s.tokens), percent: percentText(s.tokens, context.effective) })),
    free: share(length - filled),
    ticks: context.thresholds.filter((t) => t.state !== 'off').map((t) => ({ ...t, label: tickLabel(t), share: share(t.tokens) })),
    size: `${estimated ? '~' : ''}${tokens(context.used)} / ${tokens(context.effective)}`,
    percent: percentText(context.used, context.effective),
    forecast: forecast(context, over),
    next: nextText(context),
    spoken: listed([
      t('{0} of {1} tokens', spokenTokens(context.used), spokenTokens(context.effective)),
      t('{0} percent', percent(context.used, context.effective)),
      ...(estimated ? [t('estimated')] : []),
      ...(over ? [t('over the limit')] : []),
    ]),
    level: over ? 'over' : level(context),
    estimated,
  };
}

/** What is due comes before what is ahead. */
function nextText({ thresholds, nextEvent, used }: Context): string | null {
  const due = thresholds.findLast(({ state, kind }) => state === 'due' && kind !== 'limit');
  if (due) return listed([eventLabels[due.kind](), stateLabels.due()]);
  return nextEvent && t('{0} at {1}', eventLabels[nextEvent.kind](), tokens(used + nextEvent.inTokens));
}

function percentText(part: number, whole: number): string {
  const rounded = percent(part, whole);
  return rounded === 0 && part > 0 ? '<1 %' : `${rounded} %`;
}

function forecast({ turnsLeft, used, limit }: Context, over: boolean): string | null {
  if (over) return t('over the limit by {0}', tokens(used - limit));
  if (turnsLeft === null) return null;
  // Beyond that it is no forecast, only a large number.
  if (turnsLeft > 200) return t('over {0} turns left', 200);
  const turns = Math.round(turnsLeft);
  return turnsLeft < 1 ? t('less than a turn left') : t(turns === 1 ? 'about {0} turn left' : 'about {0} turns left', turns);
}

function level({ thresholds, used }: Context): 'normal' | 'warning' | 'full' {
  const reached = (kind: Threshold['kind']) => thresholds.filter((t) => t.kind === kind && t.state !== 'off').map((t) => t.tokens);
  if (reached('compaction').some((at) => used >= at)) return 'full';
  const nudges = reached('nudge');
  return nudges.length > 0 && used >= Math.max(...nudges) ? 'warning' : 'normal';
}

const stateLabels: Record<Threshold['state'], () => string> = {
  ahead: () => '',
  due: () => t('due now'),
  delivered: () => t('delivered'),
  acted: () => t('a note was saved'),
  passed: () => t('passed'),
  off: () => t('off'),
};

function tickLabel({ kind, percent: at, tokens: count, state }: Threshold): string {
  const name = eventLabels[kind]();
  const text = t('{0} at {1} ({2} %)', `${name[0]!.toUpperCase()}${name.slice(1)}`, tokens(count), Math.round(at));
  const stands = stateLabels[state]();
  return stands === '' ? text : listed([text, stands]);
}
