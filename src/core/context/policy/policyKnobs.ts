import { english } from '../../l10n';
import type { PolicyInput } from './policy';

/** One value of a policy that settings and sessions may change. */
export interface PolicyKnob {
  /** Where it stands in a policy. */
  readonly path: readonly [section: keyof PolicyInput, ...rest: string[]];
  /** Completes "… is not". */
  readonly expected: string;
  /** Turns what the user writes into what the schema takes. */
  readonly read?: (value: unknown) => unknown;
}

const aPercentage = english('a percentage (1–100, or a fraction below 1)');
const aPercentageOrOff = english('{0} or 0 for none', aPercentage);
const aCount = english('a whole number, 0 or more');
const aFlag = english('true or false');
const offAtZero = (value: unknown) => (value === 0 ? undefined : value);

/** A knob is named by the setting's key below `threadkeeper.`; a session's own overrides use the same names. */
export const policyKnobs = {
  'context.maxTokens': { path: ['window', 'maxTokens'], expected: english('a whole number of tokens, 0 or more') },
  'context.outputTokens': { path: ['reserve', 'outputTokens'], expected: aCount, read: offAtZero },
  'context.safetyTokens': { path: ['reserve', 'safetyTokens'], expected: aCount },
  'context.showUsageToModel': { path: ['showUsageToModel'], expected: aFlag },
  'memoryFlush.enabled': { path: ['memoryFlush', 'enabled'], expected: aFlag },
  'memoryFlush.thresholds': {
    path: ['memoryFlush', 'thresholds'],
    expected: english('a list of percentages (1–100, or fractions below 1), or of objects with percent, prompt, injectAs and oncePerCycle'),
    read: nudgeList,
  },
  'checkpoint.enabled': { path: ['checkpoint', 'enabled'], expected: aFlag },
  'checkpoint.thresholds': { path: ['checkpoint', 'thresholds'], expected: english('a list of percentages (1–100, or fractions below 1)') },
  'checkpoint.everyUserTurns': { path: ['checkpoint', 'everyUserTurns'], expected: aCount },
  'checkpoint.minTokens': { path: ['checkpoint', 'minTokens'], expected: aCount },
  'compaction.automatic': { path: ['compaction', 'enabled'], expected: aFlag },
  'compaction.triggerPercent': { path: ['compaction', 'trigger', 'percent'], expected: aPercentage },
  'compaction.triggerReserveTokens': { path: ['compaction', 'trigger', 'reserveTokens'], expected: aCount },
  'compaction.triggerMessages': { path: ['compaction', 'trigger', 'messages'], expected: aCount },
  'compaction.triggerTokens': { path: ['compaction', 'trigger', 'tokens'], expected: aCount },
  'compaction.afterResponse': { path: ['compaction', 'afterResponse'], expected: aFlag },
  'compaction.prepareAtPercent': { path: ['compaction', 'prepareAtPercent'], expected: aPercentageOrOff, read: offAtZero },
  'compaction.maskToolResults': { path: ['compaction', 'masking', 'enabled'], expected: aFlag },
  'compaction.whenFull': { path: ['compaction', 'whenFull'], expected: english('summarize, truncate or ask') },
  'compaction.whenFails': { path: ['compaction', 'whenFails'], expected: english('extract, truncate or keep') },
  'compaction.whenCold': { path: ['compaction', 'whenCold'], expected: english('fold, ask or keep') },
  'compaction.coldLeastTokens': { path: ['compaction', 'coldLeastTokens'], expected: aCount },
  'compaction.coldKeepTokens': { path: ['compaction', 'coldKeepTokens'], expected: aCount },
  'compaction.review': { path: ['compaction', 'review'], expected: english('never, manual or always') },
  'compaction.keep': {
    path: ['compaction', 'keep'],
    expected: english(
      'an object with messages, percentOfMessages, userTurns, targetPercent or tokens (percent, min, max), and minMessages',
    ),
  },
  'compaction.format': { path: ['compaction', 'format'], expected: english('session-state, checkpoint, sections, narrative or research') },
  'compaction.maxSummaryTokens': { path: ['compaction', 'maxSummaryTokens'], expected: english('a whole number above 0') },
  'compaction.placement': {
    path: ['compaction', 'placement'],
    expected: english('history-pair, system-message, system-block or first-message'),
  },
  'compaction.preferCheckpoint': { path: ['compaction', 'preferCheckpoint'], expected: aFlag },
  'compaction.minCheckpointCoverage': { path: ['compaction', 'minCheckpointCoverage'], expected: aPercentage },
  'compaction.hardLimitPercent': { path: ['compaction', 'hardLimitPercent'], expected: aPercentageOrOff, read: offAtZero },
  'compaction.emergencyKeepPercent': { path: ['compaction', 'emergencyKeepPercent'], expected: aPercentageOrOff, read: offAtZero },
  'compaction.retryOnOverflow': { path: ['compaction', 'retryOnOverflow'], expected: aFlag },
  'compaction.oversizedMessagePercent': { path: ['compaction', 'oversizedMessageFraction'], expected: aPercentage },
  'summarizer.chain': {
    path: ['summarizer', 'chain'],
    expected: english('a list with at least one entry of provider, model, url, contextTokens, timeoutSeconds and serverSide'),
  },
  'summarizer.failureThreshold': { path: ['summarizer', 'failureThreshold'], expected: english('a whole number above 0') },
  'summarizer.resetMinutes': { path: ['summarizer', 'resetMinutes'], expected: english('a number above 0') },
  'summarizer.retryIntervalSeconds': { path: ['summarizer', 'retryIntervalSeconds'], expected: english('a number above 0') },
} as const satisfies Readonly<Record<string, PolicyKnob>>;
export type PolicyKnobName = keyof typeof policyKnobs;

export function isPolicyKnob(key: string): key is PolicyKnobName {
  return Object.hasOwn(policyKnobs, key);
}

/** The value in a policy as it was written there; undefined where the policy has none. */
export function knobValue(policy: PolicyInput, name: PolicyKnobName): unknown {
  return policyKnobs[name].path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], policy);
}

/** A policy with one value replaced, not yet checked. */
export function withKnob(policy: PolicyInput, name: PolicyKnobName, value: unknown): PolicyInput {
  const { path, read }: PolicyKnob = policyKnobs[name];
  return replaced(policy, path, read ? read(value) : value) as PolicyInput;
}

function replaced(target: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  const object = (target ?? {}) as Record<string, unknown>;
  return { ...object, [key!]: rest.length === 0 ? value : replaced(object[key!], rest, value) };
}

/** Bare percentages: the first asks as the program, those behind it in the user's place, where models heed them more. */
function nudgeList(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item: unknown, index) =>
    typeof item === 'object' ? item : { percent: item, injectAs: index === 0 ? 'system' : 'user' },
  );
}
