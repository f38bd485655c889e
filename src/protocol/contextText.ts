import type { CacheState, ContextSnapshot, MessagePrice, SegmentKind } from '../core/context/measure/snapshot';
import { clockText, percent, shortTokens, spokenTokens } from './figures';
import { listed, t } from '../core/l10n';

/**
 * What the gauge, the status bar, the breakdown and the command line say about a context. They show different amounts of it, and each
 * word and each level comes from here, so that no two of them disagree.
 */
type Threshold = ContextSnapshot['thresholds'][number];
type EventKind = Threshold['kind'];

/** `warning` from the last memory reminder on, `full` from where a compaction is due, `over` when nothing of this size can be sent. */
export type ContextLevel = 'normal' | 'warning' | 'full' | 'over';

/** What the next message compacts is not over: nobody has to do anything about it. */
export function contextLevel({ thresholds, used, limit }: Pick<ContextSnapshot, 'thresholds' | 'used' | 'limit'>): ContextLevel {
  if (used > limit) return compactsItself(thresholds) ? 'full' : 'over';
  const at = (kind: EventKind) => thresholds.filter((one) => one.kind === kind && one.state !== 'off').map(({ tokens }) => tokens);
  if (at('compaction').some((tokens) => used >= tokens)) return 'full';
  const reminders = at('nudge');
  return reminders.length > 0 && used >= Math.max(...reminders) ? 'warning' : 'normal';
}

function compactsItself(thresholds: ContextSnapshot['thresholds']): boolean {
  return thresholds.some(({ kind, state }) => kind === 'compaction' && state !== 'off');
}

export const segmentLabels: Readonly<Record<SegmentKind, () => string>> = {
  system: () => t('System prompt'),
  tools: () => t('Tools'),
  memory: () => t('Memory notes'),
  summary: () => t('Summary'),
  history: () => t('History'),
  toolResults: () => t('Tool results'),
  draft: () => t('Draft'),
  reserved: () => t('Reserved for the answer'),
};

const eventLabels: Readonly<Record<EventKind, () => string>> = {
  nudge: () => t('memory reminder'),
  compaction: () => t('compaction'),
  limit: () => t('limit'),
};

const stateLabels: Readonly<Record<Threshold['state'], () => string>> = {
  ahead: () => '',
  due: () => t('next message'),
  delivered: () => t('sent'),
  acted: () => t('a note was saved'),
  passed: () => t('passed'),
  off: () => t('off'),
};

/** `Memory reminder at 50% (100k): next message` */
export function thresholdText({ kind, percent: at, tokens, state }: Threshold): string {
  const text = t('{0} at {1}% ({2})', capitalised(eventLabels[kind]()), Math.round(at), shortTokens(tokens));
  const stands = stateLabels[state]();
  return stands === '' ? text : t('{0}: {1}', text, stands);
}

/**
 * `memory reminder at 100k`, or `compaction with the next message`: what is due comes before what is ahead. Null when nothing comes any
 * more.
 */
export function nextText({ thresholds, nextEvent, used }: ContextSnapshot): string | null {
  const due = thresholds.findLast(({ state, kind }) => state === 'due' && kind !== 'limit');
  if (due) return t('{0} with the next message', eventLabels[due.kind]());
  return nextEvent && t('{0} at {1}', eventLabels[nextEvent.kind](), shortTokens(used + nextEvent.inTokens));
}

/** `compaction at 170k`: what ends the room, where that is not what comes next anyway. */
export function endText({ thresholds, nextEvent }: ContextSnapshot): string | null {
  if (!nextEvent || thresholds.some(({ state, kind }) => state === 'due' && kind !== 'limit')) return null;
  const end =
    thresholds.find(({ kind, state }) => kind === 'compaction' && state === 'ahead') ?? thresholds.find(({ kind }) => kind === 'limit');
  return !end || end.kind === nextEvent.kind ? null : t('{0} at {1}', capitalised(eventLabels[end.kind]()), shortTokens(end.tokens));
}

/** Null where nothing is written that costs anything without being asked for. */
export function summarizingText({ summarizing }: Pick<ContextSnapshot, 'summarizing'>): string | null {
  return summarizing ? t('A summary is being written in the background.') : null;
}

/** `compacts in about 9 turns`, or by how much the limit is passed. Null while there is too little to tell from. */
export function forecastText(context: Pick<ContextSnapshot, 'turnsLeft' | 'used' | 'limit' | 'thresholds'>): string | null {
  const { turnsLeft, used, limit, thresholds } = context;
  const level = contextLevel(context);
  if (level === 'full') return t('compacts with the next message');
  if (level === 'over') return t('over the limit by {0}', shortTokens(used - limit));
  // Beyond that it is no forecast, only a large number.
  if (turnsLeft === null || turnsLeft > 200) return null;
  const turns = Math.max(1, Math.round(turnsLeft));
  if (compactsItself(thresholds)) return t(turns === 1 ? 'compacts in about {0} turn' : 'compacts in about {0} turns', turns);
  return t(turns === 1 ? 'full in about {0} turn' : 'full in about {0} turns', turns);
}

/** A screen reader says it: `84 thousand of 200 thousand tokens, 42 percent, estimated`. */
export function spokenContext(context: Pick<ContextSnapshot, 'used' | 'effective' | 'limit' | 'thresholds'>, isEstimated: boolean): string {
  const { used, effective } = context;
  const rounded = percent(used, effective);
  return listed([
    t('{0} of {1} tokens', spokenTokens(used), spokenTokens(effective)),
    rounded === 0 && used > 0 ? t('less than {0} percent', 1) : t('{0} percent', rounded),
    ...(isEstimated ? [t('estimated')] : []),
    ...(contextLevel(context) === 'over' ? [t('over the limit')] : []),
  ]);
}

/** What the next message costs as the prompt cache stands, in one or two sentences. Estimates are marked by *about*. */
export function cacheText({ state, until, next }: CacheState): string {
  if (state === 'unknown' || !next) return t('Prompt cache: not known for this provider.');
  const { warm, cold, folded } = next;
  const compacted = compactedFirst(next);
  if (state === 'warm') {
    const time = clockText(until!);
    if (compacted)
      return t('Prompt cache: warm until {0}. The next message is compacted first and writes {1}.', time, priceText(compacted));
    return folded
      ? t(
          'Prompt cache: warm until {0}. The next message writes {1}, later {2} with the summary that is ready.',
          time,
          priceText(warm),
          priceText(folded),
        )
      : t('Prompt cache: warm until {0}. The next message writes {1}, later {2}.', time, priceText(warm), priceText(cold));
  }
  if (until === null) return t('Prompt cache: empty. The next message writes {0}.', priceText(cold));
  if (compacted)
    return t('Prompt cache: expired. The next message is compacted first and writes {0}, not {1}.', priceText(compacted), priceText(cold));
  return t('Prompt cache: expired. The next message writes {0}.', priceText(cold));
}

/** The line above the composer when the cache has expired and it matters; null when there is nothing to say. */
export function coldNotice({ state, matters, next }: CacheState): { readonly text: string; readonly compact: string | null } | null {
  if (state !== 'cold' || !matters || !next) return null;
  const { cold, folded } = next;
  const compacted = compactedFirst(next);
  if (compacted)
    return {
      text: t(
        'The prompt cache has expired. This message is compacted first: it sends {0} tokens{1}, not {2}.',
        amount(compacted),
        costText(compacted),
        `${amount(cold)}${costText(cold)}`,
      ),
      compact: null,
    };
  return {
    text: t('The prompt cache has expired. This message sends {0} tokens again{1}.', amount(cold), costText(cold)),
    compact: folded ? t('Compact First{0}', costText(folded)) : t('Compact First'),
  };
}

/** What the next message takes where it is compacted before it is sent; else null. */
function compactedFirst({ expects, folded, full }: NonNullable<CacheState['next']>): MessagePrice | null {
  return expects === 'folded' ? folded : expects === 'full' ? full : null;
}

/** `about 48k tokens ($0.18)` */
function priceText(price: MessagePrice): string {
  return `${t('about {0} tokens', amount(price))}${costText(price)}`;
}

function amount({ written, fresh }: MessagePrice): string {
  return shortTokens(written + fresh);
}

/** ` ($0.18)`, with two digits that mean something; empty where no price is known. */
function costText({ cost }: MessagePrice): string {
  return cost === null ? '' : ` ($${cost >= 0.01 || cost === 0 ? cost.toFixed(2) : cost.toPrecision(2)})`;
}

function capitalised(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
}
