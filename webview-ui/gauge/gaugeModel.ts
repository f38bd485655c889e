import {
  cacheText,
  coldNotice,
  contextLevel,
  forecastText,
  nextText,
  segmentLabels,
  spokenContext,
  summarizingText,
  thresholdText,
  type ContextLevel,
} from '../../src/protocol/contextText';
import { percentText, shortTokens } from '../../src/protocol/figures';
import type { ViewSnapshot } from '../../src/protocol/messages';

export type Context = NonNullable<ViewSnapshot['context']>;
type SegmentKind = Context['segments'][number]['kind'];
type Threshold = Context['thresholds'][number];

export interface GaugeSegment {
  readonly kind: SegmentKind;
  readonly label: string;
  readonly tokens: number;
  /** Its share of the effective window. */
  readonly percent: string;
  /** Its share of the bar's length, 0 to 1. */
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
  readonly level: ContextLevel;
  readonly estimated: boolean;
  /** What the provider still has of the prompt, and what the next message costs. */
  readonly cache: string;
  readonly summarizing: string | null;
  /** The next message costs much more than it would have a while ago. */
  readonly isCold: boolean;
}

/** Everything the gauge shows, from the one snapshot that every surface shows. */
export function gaugeModel(context: Context): GaugeModel {
  const reserved = context.segments.find((s) => s.kind === 'reserved')?.tokens ?? 0;
  const length = Math.max(context.effective, context.used + reserved);
  const share = (count: number) => (length > 0 ? Math.max(0, Math.min(1, count / length)) : 0);
  const estimated = context.provenance === 'estimated';
  const filled = context.segments.reduce((sum, s) => sum + s.tokens, 0);
  return {
    segments: context.segments
      .filter((s) => s.tokens > 0)
      .map((s) => ({ ...s, label: segmentLabels[s.kind](), share: share(s.tokens), percent: percentText(s.tokens, context.effective) })),
    free: share(length - filled),
    ticks: context.thresholds.filter((t) => t.state !== 'off').map((t) => ({ ...t, label: thresholdText(t), share: share(t.tokens) })),
    size: `${estimated ? '~' : ''}${shortTokens(context.used)} / ${shortTokens(context.effective)}`,
    percent: percentText(context.used, context.effective),
    forecast: forecastText(context),
    next: nextText(context),
    spoken: spokenContext(context, estimated),
    level: contextLevel(context),
    estimated,
    cache: cacheText(context.cache),
    summarizing: summarizingText(context),
    isCold: coldNotice(context.cache) !== null,
  };
}
