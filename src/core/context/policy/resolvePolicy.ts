import * as z from 'zod/mini';
import { english } from '../../l10n';
import { Policy, type PolicyInput } from './policy';
import { isPolicyKnob, knobValue, policyKnobs, withKnob, type PolicyKnobName } from './policyKnobs';
import { balanced, goclaw, goose, gooseAggressive, gooseConservative, keepRecent, librecode, sessionState } from './presets';

export const presetNames = [
  'balanced',
  'goose',
  'goose-conservative',
  'goose-aggressive',
  'goclaw',
  'session-state',
  'keep-recent',
  'librecode',
] as const;
export type PresetName = (typeof presetNames)[number];

export const presets: Readonly<Record<PresetName, PolicyInput>> = {
  balanced,
  goose,
  'goose-conservative': gooseConservative,
  'goose-aggressive': gooseAggressive,
  goclaw,
  'session-state': sessionState,
  'keep-recent': keepRecent,
  librecode,
};

/** What is changed in a preset, by knob; absent or undefined = as the preset says. */
export type PolicyOverrides = Readonly<Partial<Record<PolicyKnobName, unknown>>>;

/** It says which policy, and what is changed in it. Settings hold one; a session may hold another, which goes before it. */
export interface PolicyChoice {
  readonly preset: string;
  readonly overrides: PolicyOverrides;
}

/** What `Session.policy` holds. */
export const SessionPolicy = z.object({ preset: z.optional(z.string()), overrides: z.optional(z.record(z.string(), z.unknown())) });
export type SessionPolicy = z.infer<typeof SessionPolicy>;

/** A value that was refused, in words that name its setting and what is used instead. */
export interface PolicyProblem {
  readonly setting: string;
  readonly message: string;
}

export interface ResolvedPolicy {
  readonly policy: Policy;
  readonly problems: readonly PolicyProblem[];
}

/** Resolves a preset with overrides. A bad value is reported by its setting's name and the preset's own value is used. */
export function resolvePolicy(preset: string, overrides: PolicyOverrides = {}): ResolvedPolicy {
  const resolver = new Resolver(preset, '');
  resolver.apply(overrides, '');
  return resolver.result();
}

/** The policy of one session: its own preset, if it has one, then what the settings change, then what the session changes. */
export function resolveSessionPolicy(settings: PolicyChoice, session: unknown): ResolvedPolicy {
  const parsed =
    session === null || session === undefined ? { success: true as const, data: {} as SessionPolicy } : SessionPolicy.safeParse(session);
  const own: SessionPolicy = parsed.success ? parsed.data : {};
  const resolver = new Resolver(own.preset ?? settings.preset, own.preset === undefined ? '' : inSession);
  if (!parsed.success)
    resolver.report(
      'threadkeeper.context.policy',
      of(inSession, english('{0} has no preset and overrides. Using the settings.', JSON.stringify(session))),
    );
  resolver.apply(settings.overrides, '');
  resolver.apply(own.overrides ?? {}, inSession);
  return resolver.result();
}

/** What the session itself has wrong: what the settings have wrong is told where they are read. */
export function sessionPolicyProblems(settings: PolicyChoice, session: unknown): readonly PolicyProblem[] {
  return resolveSessionPolicy(settings, session).problems.filter(({ message }) => message.startsWith(of(inSession, '')));
}

const inSession = 'session';

/** A problem of the session's own choice says so. */
function of(where: string, problem: string): string {
  return where === inSession ? english('In this session: {0}', problem) : problem;
}

class Resolver {
  private readonly problems: PolicyProblem[] = [];
  private input: PolicyInput;
  private policy: Policy;

  constructor(preset: string, where: string) {
    const known = Object.hasOwn(presets, preset);
    this.input = known ? presets[preset as PresetName] : balanced;
    this.policy = Policy.parse(this.input);
    if (!known)
      this.report(
        'threadkeeper.context.policy',
        of(where, english('"{0}" is not a policy. Known: {1}. Using balanced.', preset, presetNames.join(', '))),
      );
  }

  report(setting: string, message: string): void {
    this.problems.push({ setting, message });
  }

  apply(overrides: Readonly<Record<string, unknown>>, where: string): void {
    for (const [name, value] of Object.entries(overrides)) {
      if (value === undefined) continue;
      if (!isPolicyKnob(name))
        this.report(`threadkeeper.${name}`, of(where, english('There is no such value of a policy. It is ignored.')));
      else this.change(name, value, where);
    }
  }

  result(): ResolvedPolicy {
    return { policy: this.policy, problems: this.problems };
  }

  private change(name: PolicyKnobName, value: unknown, where: string): void {
    const changed = withKnob(this.input, name, value);
    const parsed = Policy.safeParse(changed);
    if (parsed.success) {
      this.input = changed;
      this.policy = parsed.data;
      return;
    }
    const used = knobValue(this.input, name);
    this.report(
      `threadkeeper.${name}`,
      of(
        where,
        english(
          '{0} is not {1}. Using {2}, as the policy {3} has it.',
          JSON.stringify(value),
          policyKnobs[name].expected,
          used === undefined ? 'none' : JSON.stringify(used),
          this.policy.name,
        ),
      ),
    );
  }
}
