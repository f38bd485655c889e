import { Policy, type PolicyInput } from './policy';
import { balanced } from './presets/balanced';

export const presets: Readonly<Record<string, PolicyInput>> = { balanced };

/** What a user's settings may change in a preset; absent = as the preset says. */
export interface PolicyOverrides {
  readonly maxTokens?: unknown;
  readonly memoryFlushEnabled?: unknown;
  readonly autoCompact?: unknown;
  readonly compactAtPercent?: unknown;
  readonly nudgePercents?: unknown;
}

/** A value that was refused, in words that name its setting. */
export interface PolicyProblem {
  readonly setting: string;
  readonly message: string;
}

/** Resolves a preset with overrides. A bad value is reported by its setting's name and the preset's own value is used. */
export function resolvePolicy(name: string, overrides: PolicyOverrides = {}): { policy: Policy; problems: PolicyProblem[] } {
  const problems: PolicyProblem[] = [];
  const preset = presets[name];
  if (!preset) {
    problems.push({
      setting: 'threadkeeper.context.policy',
      message: `"${name}" is not a policy. Known: ${Object.keys(presets).join(', ')}. Using balanced.`,
    });
  }
  let policy = Policy.parse(preset ?? balanced);

  const apply = (setting: string, value: unknown, change: (input: PolicyInput) => PolicyInput, expected: string) => {
    if (value === undefined) return;
    const parsed = Policy.safeParse(change(toInput(policy)));
    if (parsed.success) policy = parsed.data;
    else problems.push({ setting, message: `${JSON.stringify(value)} is not ${expected}. Using the policy's own value.` });
  };

  apply('threadkeeper.context.maxTokens', overrides.maxTokens, (p) => ({ ...p, window: { maxTokens: overrides.maxTokens as number } }), 'a whole number of tokens, 0 or more');
  apply('threadkeeper.memoryFlush.enabled', overrides.memoryFlushEnabled, (p) => ({ ...p, memoryFlush: { ...p.memoryFlush, enabled: overrides.memoryFlushEnabled as boolean } }), 'true or false');
  apply('threadkeeper.compaction.automatic', overrides.autoCompact, (p) => ({ ...p, compaction: { ...p.compaction, enabled: overrides.autoCompact as boolean } }), 'true or false');
  apply('threadkeeper.compaction.triggerPercent', overrides.compactAtPercent, (p) => ({ ...p, compaction: { ...p.compaction, trigger: { percent: overrides.compactAtPercent as number } } }), 'a percentage (1–100, or a fraction below 1)');
  apply(
    'threadkeeper.memoryFlush.thresholds',
    overrides.nudgePercents,
    (p) => ({
      ...p,
      memoryFlush: {
        ...p.memoryFlush,
        thresholds: (Array.isArray(overrides.nudgePercents) ? overrides.nudgePercents : [overrides.nudgePercents]).map((value: unknown, index) => ({
          percent: value as number,
          injectAs: index === 0 ? 'system' : 'user',
        })),
      },
    }),
    'a list of percentages (1–100, or fractions below 1)',
  );
  return { policy, problems };
}

/** Parsed fractions below 1 read back as themselves; a fraction of exactly 1 has to be written as 100. */
function toInput(policy: Policy): PolicyInput {
  const back = (value: unknown, key?: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => back(item));
    if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, back(v, k)]));
    const isPercent = key !== undefined && /percent|fraction/i.test(key);
    return isPercent && value === 1 ? 100 : value;
  };
  return back(policy) as PolicyInput;
}
