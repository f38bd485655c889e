import * as z from 'zod/mini';
import { Price, type PriceTable } from '../core/cost/prices';
import { cacheTimes, type CacheTime } from '../core/context/measure/snapshot';
import { policyKnobs, type PolicyKnobName } from '../core/context/policy/policyKnobs';
import { presetNames, resolvePolicy, type PolicyChoice, type PolicyProblem } from '../core/context/policy/resolvePolicy';
import { t } from '../core/l10n';
import type { EmbeddingChoice } from '../core/embeddings/embeddings';
import { approvalModes, type ApprovalMode, type ApprovalSettings } from '../core/tools/approvalRule';
import { parseAllowRule } from '../core/tools/allowRules';
import type { VariableChoice } from '../core/tools/command/commandEnvironment';
import { defaultEditRules, editGuard, type EditRules } from '../core/tools/guard/guardedKinds';
import { openaiApis, type OpenaiApi } from '../node/models/openai/openaiDialect';
import { programs, type ProgramId } from '../core/transfer/programs';
import { settingsPrefix } from './manifest';

export interface Settings {
  /** Empty stands for Anthropic's own address. */
  readonly baseUrl: string;
  /** For so long Anthropic keeps a prompt in its cache. */
  readonly cacheTime: CacheTime | 'automatic';
  /** Empty means that there is none. */
  readonly openaiUrl: string;
  readonly openaiApi: OpenaiApi;
  /** Every model there takes so many tokens; 0 stands for what the server says. */
  readonly openaiContext: number;
  /** Empty stands for this machine. */
  readonly ollamaUrl: string;
  /** So many tokens are asked for; 0 stands for what the model is loaded with, or what ordinary machines hold. */
  readonly ollamaContext: number;
  /** The user's own prices go before the built-in ones. */
  readonly prices: PriceTable;
  /** The budget is in dollars; 0 means that there is none. */
  readonly dailyBudget: number;
  /** Empty stands for an automatic choice. */
  readonly model: string;
  readonly instructions: string;
  /** Says whether instructions from the workspace's own files are added. */
  readonly instructionFiles: boolean;
  /** Says whether skills from the workspace's own folders are offered. */
  readonly skills: boolean;
  /** Each is absolute, below the home folder, or within the workspace. */
  readonly skillFolders: readonly string[];
  readonly approval: ApprovalSettings;
  /** The defaults and the user's own rules are in one table. */
  readonly editRules: EditRules;
  /** Commands run in a terminal of VS Code where its shell can tell how they end. */
  readonly useTerminal: boolean;
  /** Commands get these environment variables. */
  readonly variables: VariableChoice;
  /** One turn has at most so many model steps with calls. */
  readonly maxRounds: number;
  /** The model is told where to read what a message clearly refers to. */
  readonly recallHints: boolean;
  /** Recall may read the histories of other workspaces. */
  readonly recallElsewhere: boolean;
  /** Search and recall go by meaning, too, with this model; null: by words alone. */
  readonly embeddings: EmbeddingChoice | null;
  /** It holds for sessions that have none of their own; what was set explicitly, and nothing else, is among its overrides. */
  readonly policy: PolicyChoice;
  /** A session stays in the trash so long; 0 means until it is emptied. */
  readonly trashDays: number;
  /** A session goes to the trash after so long without use; 0 means never by itself. */
  readonly cleanUpDays: number;
  /** Contents of files are kept so long, and take so much; 0 means as long as their session, and as much as it takes. */
  readonly fileContents: { readonly days: number; readonly megabytes: number };
  /** Says whether a branch that is left with work in it can be summarised on the spot. */
  readonly offerBranchSummary: boolean;
  /** Whether files go along when another branch is shown. */
  readonly switchFiles: 'always' | 'ask' | 'never';
  /** `path` is the folder of its agents; empty stands for where OpenClaw keeps them. With `twoWay`, replies go there too. */
  readonly openClaw: { readonly inherit: boolean; readonly path: string; readonly sessionKey: string; readonly twoWay: boolean };
  /** *Set Up Sync…* offers the address; empty: none. Other devices call this one by the name; empty: what the system calls it. */
  readonly sync: { readonly address: string; readonly deviceName: string };
  /** Programs whose sessions come in as they are written; `workspace`: those about its folders. */
  readonly agents: { readonly watch: readonly ProgramId[]; readonly sessions: 'workspace' | 'all' };
}

/** Where the values come from. All three answer `undefined` for what is not there. */
export interface SettingsSource {
  /** What holds, the default included. */
  readonly value: (name: SettingName) => unknown;
  /** What the user has set: where it is undefined, the policy's own value holds, not the default that package.json shows. */
  readonly explicit: (name: PolicyKnobName) => unknown;
  /** What package.json says, by the setting's whole key. */
  readonly default: (key: string) => unknown;
}

/** Makes settings of whatever stands in the user's files. A value that cannot be used is named and its default is used instead. */
export function readSettings(source: SettingsSource): { readonly settings: Settings; readonly problems: readonly PolicyProblem[] } {
  const problems: PolicyProblem[] = [];
  const take = <N extends SettingName>(name: N): SettingValue<N> => {
    const { schema, expected } = checks[name] as Check<SettingValue<N>>;
    const value = source.value(name);
    const key = settingKey(name);
    if (value !== undefined && value !== null) {
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      problems.push({ setting: key, message: t('{0} is not {1}. Using the default.', JSON.stringify(value), expected()) });
    }
    return schema.parse(source.default(key));
  };
  const preset = take('context.policy');
  const set = (Object.keys(policyKnobs) as PolicyKnobName[]).flatMap((name) => {
    const value = source.explicit(name);
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  const policy = { preset, overrides: Object.fromEntries(set) };
  const skillFolders = take('skills.folders');
  const settings: Settings = {
    baseUrl: take('anthropic.baseUrl'),
    cacheTime: take('anthropic.cacheTime'),
    openaiUrl: take('openaiCompatible.baseUrl'),
    openaiApi: take('openaiCompatible.api'),
    openaiContext: take('openaiCompatible.contextTokens'),
    ollamaUrl: take('ollama.baseUrl'),
    ollamaContext: take('ollama.contextTokens'),
    prices: take('prices'),
    dailyBudget: take('budget.perDay'),
    model: take('model'),
    instructions: take('instructions'),
    instructionFiles: take('instructionFiles'),
    skills: take('skills.workspace'),
    skillFolders,
    approval: { mode: take('tools.approval'), rules: take('tools.alwaysAllow') },
    // The built-in rules hold beneath what the user has set; package.json shows them as the default.
    editRules: { ...defaultEditRules, ...skillRules(skillFolders), ...take('tools.autoApproveEdits') },
    useTerminal: take('tools.useTerminal'),
    variables: { pass: take('tools.passVariables'), withhold: take('tools.withholdVariables') },
    maxRounds: take('tools.maxRounds'),
    recallHints: take('recall.hints'),
    recallElsewhere: take('recall.otherWorkspaces'),
    embeddings: take('recall.embeddings'),
    policy,
    trashDays: take('history.trashDays'),
    cleanUpDays: take('history.cleanUpDays'),
    fileContents: { days: take('history.keepFileContents'), megabytes: take('history.mostFileContents') },
    offerBranchSummary: take('history.offerBranchSummary'),
    switchFiles: take('history.switchFiles'),
    openClaw: {
      inherit: take('openclaw.inherit'),
      path: take('openclaw.path'),
      sessionKey: take('openclaw.sessionKey'),
      twoWay: take('openclaw.twoWay'),
    },
    sync: { address: take('sync.address'), deviceName: take('sync.deviceName') },
    agents: { watch: [...new Set(take('agents.watch'))], sessions: take('agents.sessions') },
  };
  return { settings, problems: [...problems, ...resolvePolicy(preset, policy.overrides).problems] };
}

/** Finds the defaults in the extension's own package.json, the one place where they stand. */
export function defaultsOf(packageJson: unknown): SettingsSource['default'] {
  const { contributes } = Manifest.parse(packageJson);
  const properties = Object.assign({}, ...contributes.configuration.map((section) => section.properties)) as Record<
    string,
    { readonly default?: unknown }
  >;
  return (key) => properties[key]?.default;
}

const Manifest = z.object({
  contributes: z.object({ configuration: z.array(z.object({ properties: z.record(z.string(), z.object({ default: z.unknown() })) })) }),
});

/** What a value must be. `expected` completes "… is not". */
interface Check<T> {
  readonly schema: z.ZodMiniType<T>;
  readonly expected: () => string;
}

const Trimmed = z.string().check(z.trim());
const Amount = z.number().check(z.minimum(0));
const Names = z.array(z.string());

const text: Check<string> = { schema: z.string(), expected: () => t('text') };
const modelId: Check<string> = { schema: Trimmed, expected: () => t('the id of a model') };
const aName: Check<string> = { schema: Trimmed.check(z.maxLength(60)), expected: () => t('a short name') };
const anEngine: Check<string> = { schema: Trimmed, expected: () => t('a folder or an address such as postgres://user@host/database') };
const aFolder: Check<string> = { schema: Trimmed, expected: () => t('a folder') };
const sessionKey: Check<string> = { schema: Trimmed, expected: () => t('the key of a session') };
const anAddress: Check<string> = {
  schema: Trimmed.check(z.refine((address) => address === '' || (/^https?:\/\//i.test(address) && URL.canParse(address)))),
  expected: () => t('an http or https address'),
};
const aFlag: Check<boolean> = { schema: z.boolean(), expected: () => t('true or false') };
const aCount: Check<number> = { schema: z.int().check(z.positive()), expected: () => t('a whole number above 0') };
const days: Check<number> = { schema: Amount, expected: () => t('a number of days') };
const megabytes: Check<number> = { schema: Amount, expected: () => t('a number of megabytes') };
const dollars: Check<number> = { schema: Amount, expected: () => t('a number of dollars') };
/** Nothing could be said in fewer than a thousand. */
const tokens: Check<number> = {
  schema: z.int().check(z.refine((count) => count === 0 || count >= 1_000)),
  expected: () => t('a number of tokens'),
};
const names: Check<readonly string[]> = { schema: Names, expected: () => t('a list of names') };
const programIds: Check<readonly ProgramId[]> = {
  schema: z.array(z.enum(programs.map(({ id }) => id) as [ProgramId, ...ProgramId[]])),
  expected: () => t('a list of programs'),
};
const whichSessions: Check<'workspace' | 'all'> = {
  schema: z.enum(['workspace', 'all']),
  expected: () => t('one of {0}', 'workspace, all'),
};
const folders: Check<readonly string[]> = { schema: Names, expected: () => t('a list of folders') };
const aPreset: Check<string> = { schema: z.enum(presetNames), expected: () => t('a policy ({0})', presetNames.join(', ')) };
const cacheChoices = ['automatic', ...cacheTimes] as const;
const filesChoices = ['always', 'ask', 'never'] as const;
const aChoiceOfFiles: Check<(typeof filesChoices)[number]> = {
  schema: z.enum(filesChoices),
  expected: () => t('one of {0}', filesChoices.join(', ')),
};

const aCacheTime: Check<(typeof cacheChoices)[number]> = {
  schema: z.enum(cacheChoices),
  expected: () => t('one of {0}', cacheChoices.join(', ')),
};
const anApi: Check<OpenaiApi> = { schema: z.enum(openaiApis), expected: () => t('one of {0}', openaiApis.join(', ')) };
const anApprovalMode: Check<ApprovalMode> = { schema: z.enum(approvalModes), expected: () => t('one of {0}', approvalModes.join(', ')) };
const anEmbedder: Check<EmbeddingChoice | null> = {
  schema: z.nullable(
    z.pipe(
      z.object({
        provider: z.enum(['ollama', 'openai-compatible']),
        model: Trimmed.check(z.minLength(1)),
        url: z.optional(anAddress.schema),
      }),
      z.transform(({ url, ...model }): EmbeddingChoice => (url === undefined || url === '' ? model : { ...model, url })),
    ),
  ),
  expected: () => t('a provider (ollama or openai-compatible) with a model, or null'),
};
const editRules: Check<EditRules> = {
  schema: z.record(z.string(), z.boolean()),
  expected: () => t('a table of patterns, each with true or false'),
};
const allowRules: Check<readonly string[]> = {
  schema: z.array(z.string().check(z.refine((line) => parseAllowRule(line) !== null))),
  expected: () => t('a list of rules such as “command npm test” or “edit docs/**”'),
};
const prices: Check<PriceTable> = {
  schema: z.record(z.string(), Price),
  expected: () => t('a table of prices by model, each with input and output in dollars per million tokens'),
};

/** Each setting but those of the policy, by its key below `threadkeeper.`. Default, scope and schema stand in package.json alone. */
const checks = {
  'anthropic.baseUrl': anAddress,
  'anthropic.cacheTime': aCacheTime,
  'openaiCompatible.baseUrl': anAddress,
  'openaiCompatible.api': anApi,
  'openaiCompatible.contextTokens': tokens,
  'ollama.baseUrl': anAddress,
  'ollama.contextTokens': tokens,
  prices: prices,
  'budget.perDay': dollars,
  model: modelId,
  instructions: text,
  instructionFiles: aFlag,
  'skills.workspace': aFlag,
  'skills.folders': folders,
  'tools.approval': anApprovalMode,
  'tools.alwaysAllow': allowRules,
  'tools.autoApproveEdits': editRules,
  'tools.passVariables': names,
  'tools.withholdVariables': names,
  'tools.useTerminal': aFlag,
  'tools.maxRounds': aCount,
  'recall.hints': aFlag,
  'recall.otherWorkspaces': aFlag,
  'recall.embeddings': anEmbedder,
  'context.policy': aPreset,
  'openclaw.inherit': aFlag,
  'openclaw.path': aFolder,
  'openclaw.sessionKey': sessionKey,
  'openclaw.twoWay': aFlag,
  'sync.address': anEngine,
  'sync.deviceName': aName,
  'agents.watch': programIds,
  'agents.sessions': whichSessions,
  'history.trashDays': days,
  'history.cleanUpDays': days,
  'history.keepFileContents': days,
  'history.mostFileContents': megabytes,
  'history.offerBranchSummary': aFlag,
  'history.switchFiles': aChoiceOfFiles,
  'statusBar.visible': aFlag,
} satisfies Readonly<Record<string, Check<unknown>>>;
export type SettingName = keyof typeof checks;
type SettingValue<N extends SettingName> = (typeof checks)[N] extends Check<infer T> ? T : never;

export const settingNames = Object.keys(checks) as readonly SettingName[];

export function settingKey(name: SettingName): string {
  return `${settingsPrefix}.${name}`;
}

const builtInGuard = editGuard(defaultEditRules);

/** Whatever instructs the next session is asked about, also in folders that the user has named as those of skills. */
function skillRules(named: readonly string[]): EditRules {
  const within = named.filter((folder) => !/^(?:[~/\\]|[A-Za-z]:)/.test(folder)).map((folder) => folder.replace(/^\.\//, ''));
  return Object.fromEntries(
    within.filter((folder) => builtInGuard(`${folder}/any.md`) === null).map((folder) => [`**/${folder}/**`, false]),
  );
}
