import type { Policy } from '../core/context/policy';
import { resolvePolicy, type PolicyProblem } from '../core/context/resolvePolicy';
import { settingKey, settings, type SettingName } from './contributions';

export interface Settings {
  /** Empty: Anthropic's own address. */
  readonly baseUrl: string;
  /** Empty: automatic. */
  readonly model: string;
  readonly instructions: string;
  readonly policy: Policy;
  readonly statusBarVisible: boolean;
}

/** Makes settings of whatever stands in the user's files. A value that cannot be used is named and its default is used instead. */
export function readSettings(valueOf: (name: SettingName) => unknown): { readonly settings: Settings; readonly problems: readonly PolicyProblem[] } {
  const problems: PolicyProblem[] = [];
  const take = <T>(name: SettingName, isValid: (value: unknown) => value is T, expected: string, fallback: T): T => {
    const value = valueOf(name);
    if (value === undefined || value === null) return fallback;
    if (isValid(value)) return value;
    problems.push({ setting: settingKey(name), message: `${JSON.stringify(value)} is not ${expected}. Using the default.` });
    return fallback;
  };
  const policyName = take('policy', isText, 'the name of a policy', settings.policy.default);
  const resolved = resolvePolicy(policyName, {
    maxTokens: valueOf('maxTokens') ?? undefined,
    memoryFlushEnabled: valueOf('memoryFlushEnabled') ?? undefined,
    nudgePercents: valueOf('memoryFlushThresholds') ?? undefined,
    autoCompact: valueOf('automaticCompaction') ?? undefined,
    compactAtPercent: valueOf('compactionTrigger') ?? undefined,
  });
  const read: Settings = {
    baseUrl: take('baseUrl', isAddress, 'an http or https address', settings.baseUrl.default).trim(),
    model: take('model', isText, 'the id of a model', settings.model.default).trim(),
    instructions: take('instructions', isText, 'text', settings.instructions.default),
    policy: resolved.policy,
    statusBarVisible: take('statusBarVisible', isBoolean, 'true or false', settings.statusBarVisible.default as boolean),
  };
  return { settings: read, problems: [...problems, ...resolved.problems] };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isAddress(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const text = value.trim();
  return text === '' || (/^https?:\/\//i.test(text) && URL.canParse(text));
}
