import * as z from 'zod/mini';
import { Price, type PriceTable } from '../core/cost/prices';
import { policyKnobs, type PolicyKnobName } from '../core/context/policy/policyKnobs';
import { presetNames, resolvePolicy, type PolicyChoice, type PolicyProblem } from '../core/context/policy/resolvePolicy';
import { t } from '../core/l10n';
import { approvalModes, type ApprovalMode } from '../core/tools/approvalRule';
import type { VariableChoice } from '../core/tools/command/commandEnvironment';
import { defaultEditRules, type EditRules } from '../core/tools/guard/editGuard';
import { openaiApis, type OpenaiApi } from '../node/models/openai/openaiDialect';
import { settingKey, settings, type SettingName } from './manifest';

export interface Settings {
  /** Empty: Anthropic's own address. */
  readonly baseUrl: string;
  /** Empty: there is none. */
  readonly openaiUrl: string;
  readonly openaiApi: OpenaiApi;
  /** Of every model there, in tokens; 0: what the server says. */
  readonly openaiContext: number;
  /** Empty: this machine. */
  readonly ollamaUrl: string;
  /** To ask for, in tokens; 0: what the model is loaded with, or what ordinary machines hold. */
  readonly ollamaContext: number;
  /** The user's own, which go before the built-in ones. */
  readonly prices: PriceTable;
  /** Dollars; 0: none. */
  readonly dailyBudget: number;
  /** Empty: automatic. */
  readonly model: string;
  readonly instructions: string;
  /** Whether those of the workspace's own files are added. */
  readonly instructionFiles: boolean;
  /** Whether those of the workspace's own folders are offered. */
  readonly skills: boolean;
  /** Absolute, below the home folder, or within the workspace. */
  readonly skillFolders: readonly string[];
  readonly approval: ApprovalMode;
  /** Those of the defaults and the user's own. */
  readonly editRules: EditRules;
  /** Environment variables of commands. */
  readonly variables: VariableChoice;
  /** Model steps with calls in one turn. */
  readonly maxRounds: number;
  /** For sessions that have none of their own; what was set explicitly, and nothing else, is among its overrides. */
  readonly policy: PolicyChoice;
  /** How long a session stays in the trash; 0: until it is emptied. */
  readonly trashDays: number;
  /** After how long without use a session goes to the trash; 0: never by itself. */
  readonly cleanUpDays: number;
  /** Whether a branch that is left with work in it can be summarised on the spot. */
  readonly offerBranchSummary: boolean;
  /** `path`: of its agents; empty: where OpenClaw keeps them. `twoWay`: replies go there too. */
  readonly openClaw: { readonly inherit: boolean; readonly path: string; readonly sessionKey: string; readonly twoWay: boolean };
}

/**
 * Makes settings of whatever stands in the user's files. A value that cannot be used is named and its default is used instead.
 * `explicit` is undefined for what the user has not set: the policy's own value holds there, not the manifest's default.
 */
export function readSettings(valueOf: (name: SettingName) => unknown, explicit: (name: PolicyKnobName) => unknown): { readonly settings: Settings; readonly problems: readonly PolicyProblem[] } {
  const problems: PolicyProblem[] = [];
  const take = <T>(name: SettingName, isValid: (value: unknown) => value is T, expected: string, fallback: T): T => {
    const value = valueOf(name);
    if (value === undefined || value === null) return fallback;
    if (isValid(value)) return value;
    problems.push({ setting: settingKey(name), message: t('{0} is not {1}. Using the default.', JSON.stringify(value), expected) });
    return fallback;
  };
  const preset = take('policy', isPreset, t('a policy ({0})', presetNames.join(', ')), settings.policy.default);
  const set = (Object.keys(policyKnobs) as PolicyKnobName[]).flatMap((name) => {
    const value = explicit(name);
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  const policy = { preset, overrides: Object.fromEntries(set) };
  const read: Settings = {
    baseUrl: take('baseUrl', isAddress, t('an http or https address'), settings.baseUrl.default).trim(),
    openaiUrl: take('openaiUrl', isAddress, t('an http or https address'), settings.openaiUrl.default).trim(),
    openaiApi: take('openaiApi', isOpenaiApi, t('one of {0}', openaiApis.join(', ')), settings.openaiApi.default),
    openaiContext: take('openaiContext', isTokens, t('a number of tokens'), settings.openaiContext.default as number),
    ollamaUrl: take('ollamaUrl', isAddress, t('an http or https address'), settings.ollamaUrl.default).trim(),
    ollamaContext: take('ollamaContext', isTokens, t('a number of tokens'), settings.ollamaContext.default as number),
    prices: take('prices', isPrices, t('a table of prices by model, each with input and output in dollars per million tokens'), settings.prices.default as PriceTable),
    dailyBudget: take('dailyBudget', isDays, t('a number of dollars'), settings.dailyBudget.default as number),
    model: take('model', isText, t('the id of a model'), settings.model.default).trim(),
    instructions: take('instructions', isText, t('text'), settings.instructions.default),
    instructionFiles: take('instructionFiles', isBoolean, t('true or false'), settings.instructionFiles.default as boolean),
    skills: take('skills', isBoolean, t('true or false'), settings.skills.default as boolean),
    skillFolders: take('skillFolders', isNames, t('a list of folders'), settings.skillFolders.default),
    approval: take('approval', isApprovalMode, t('one of {0}', approvalModes.join(', ')), settings.approval.default),
    editRules: { ...defaultEditRules, ...take('editRules', isEditRules, t('a table of patterns, each with true or false'), defaultEditRules) },
    variables: {
      pass: take('passVariables', isNames, t('a list of names'), settings.passVariables.default as readonly string[]),
      withhold: take('withholdVariables', isNames, t('a list of names'), settings.withholdVariables.default as readonly string[]),
    },
    maxRounds: take('maxRounds', isCount, t('a whole number above 0'), settings.maxRounds.default as number),
    policy,
    trashDays: take('trashDays', isDays, t('a number of days'), settings.trashDays.default as number),
    cleanUpDays: take('cleanUpDays', isDays, t('a number of days'), settings.cleanUpDays.default as number),
    offerBranchSummary: take('offerBranchSummary', isBoolean, t('true or false'), settings.offerBranchSummary.default as boolean),
    openClaw: {
      inherit: take('openClawInherit', isBoolean, t('true or false'), settings.openClawInherit.default as boolean),
      path: take('openClawPath', isText, t('a folder'), settings.openClawPath.default).trim(),
      sessionKey: take('openClawSessionKey', isText, t('the key of a session'), settings.openClawSessionKey.default).trim(),
      twoWay: take('openClawTwoWay', isBoolean, t('true or false'), settings.openClawTwoWay.default as boolean),
    },
  };
  return { settings: read, problems: [...problems, ...resolvePolicy(preset, policy.overrides).problems] };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isOpenaiApi(value: unknown): value is OpenaiApi {
  return openaiApis.some((api) => api === value);
}

function isApprovalMode(value: unknown): value is ApprovalMode {
  return approvalModes.some((mode) => mode === value);
}

function isEditRules(value: unknown): value is EditRules {
  return z.record(z.string(), z.boolean()).safeParse(value).success;
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}

function isPreset(value: unknown): value is string {
  return presetNames.some((name) => name === value);
}

function isDays(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** Nothing could be said in fewer. */
function isTokens(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && (value === 0 || value >= 1_000);
}

function isPrices(value: unknown): value is PriceTable {
  return z.record(z.string(), Price).safeParse(value).success;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isAddress(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const text = value.trim();
  return text === '' || (/^https?:\/\//i.test(text) && URL.canParse(text));
}
