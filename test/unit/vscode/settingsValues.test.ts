import { deepStrictEqual, match } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyOverrides } from '../../../src/core/context/policy/resolvePolicy';
import { defaultEditRules } from '../../../src/core/tools/guard/guardedKinds';
import { defaultsOf, readSettings, settingKey, type SettingName } from '../../../src/vscode/settingsValues';
import { projectRoot } from '../../support/paths';

const defaultOf = defaultsOf(JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')));

const read = (over: Partial<Record<SettingName, unknown>> = {}, explicit: PolicyOverrides = {}) =>
  readSettings({
    value: (name) => (name in over ? over[name] : defaultOf(settingKey(name))),
    explicit: (name) => explicit[name],
    default: defaultOf,
  });

describe('readSettings', () => {
  it('changes nothing in the policy that the user has not set', () => {
    deepStrictEqual(read(), {
      settings: {
        baseUrl: '',
        cacheTime: 'automatic',
        openaiUrl: '',
        openaiApi: 'chat-completions',
        openaiContext: 0,
        ollamaUrl: '',
        ollamaContext: 0,
        prices: {},
        dailyBudget: 0,
        model: '',
        instructions: '',
        instructionFiles: true,
        skills: false,
        skillFolders: ['~/.threadkeeper/skills', '.threadkeeper/skills', '.github/skills', '.claude/skills', '.agents/skills'],
        approval: { mode: 'allowReads', rules: [] },
        editRules: defaultEditRules,
        useTerminal: true,
        variables: { pass: [], withhold: [] },
        maxRounds: 50,
        policy: { preset: 'balanced', overrides: {} },
        trashDays: 0,
        cleanUpDays: 0,
        openClaw: { inherit: false, path: '', sessionKey: '', twoWay: false },
        agents: { watch: [], sessions: 'workspace' },
        offerBranchSummary: true,
        switchFiles: 'ask',
        sync: { address: '', deviceName: '' },
        fileContents: { days: 0, megabytes: 2000 },
        recallHints: true,
        recallElsewhere: false,
        embeddings: null,
      },
      problems: [],
    });
    deepStrictEqual(read({ 'context.policy': 'goose' }).settings.policy, { preset: 'goose', overrides: {} });
  });

  it('has every change asked about in folders that hold skills, wherever the user has put them', () => {
    const { editRules } = read({ 'skills.folders': ['~/skills', '/etc/skills', 'C:\\skills', '.claude/skills', './docs/skills'] }).settings;
    deepStrictEqual(editRules, { ...defaultEditRules, '**/docs/skills/**': false });
  });

  it('takes the default of the package where nothing is set, and where the value cannot be used', () => {
    const without = (value: unknown) => readSettings({ value: () => value, explicit: () => undefined, default: defaultOf }).settings;
    deepStrictEqual(without(undefined), read().settings);
    deepStrictEqual(without(null), read().settings);
    deepStrictEqual(without(Number.NaN), read().settings);
  });

  it('says what each number is a number of', () => {
    const { problems } = read({ 'budget.perDay': -1, 'history.cleanUpDays': '7', 'openaiCompatible.contextTokens': 12 });
    deepStrictEqual(
      problems.map(({ message }) => message),
      [
        '12 is not a number of tokens. Using the default.',
        '-1 is not a number of dollars. Using the default.',
        '"7" is not a number of days. Using the default.',
      ],
    );
  });

  it('takes what the user has set', () => {
    const { settings: found, problems } = read(
      {
        'anthropic.baseUrl': ' https://gateway.example.com/v1 ',
        'anthropic.cacheTime': 'automatic',
        'openaiCompatible.baseUrl': 'http://localhost:1234/v1',
        'openaiCompatible.api': 'detect',
        'openaiCompatible.contextTokens': 16_000,
        'ollama.baseUrl': 'http://nas:11434',
        'ollama.contextTokens': 65_536,
        prices: { 'ollama/x': { input: 0, output: 0 } },
        'budget.perDay': 5,
        model: ' claude-x ',
        instructions: 'Be brief.',
        instructionFiles: true,
        'skills.workspace': true,
        'skills.folders': ['~/skills'],
        'tools.approval': 'session',
        'tools.alwaysAllow': ['command npm test'],
        'tools.autoApproveEdits': { '**/Makefile': true, '**/*.sql': false },
        'tools.passVariables': ['CI_TOKEN'],
        'tools.withholdVariables': ['MY_*'],
        'tools.useTerminal': false,
        'tools.maxRounds': 5,
        'history.trashDays': 30,
        'recall.otherWorkspaces': true,
        'history.cleanUpDays': 90,
        'history.offerBranchSummary': false,
        'history.switchFiles': 'never',
        'history.keepFileContents': 60,
        'history.mostFileContents': 500,
        'openclaw.inherit': true,
        'openclaw.path': ' /agents ',
        'openclaw.sessionKey': 'agent:main:main',
        'openclaw.twoWay': true,
        'agents.watch': ['codex', 'zed', 'codex'],
        'agents.sessions': 'all',
      },
      { 'context.maxTokens': 50_000, 'memoryFlush.thresholds': [30], 'compaction.keep': { messages: 6 } },
    );
    deepStrictEqual(problems, []);
    deepStrictEqual(found, {
      baseUrl: 'https://gateway.example.com/v1',
      cacheTime: 'automatic',
      openaiUrl: 'http://localhost:1234/v1',
      openaiApi: 'detect',
      openaiContext: 16_000,
      ollamaUrl: 'http://nas:11434',
      ollamaContext: 65_536,
      prices: { 'ollama/x': { input: 0, output: 0 } },
      dailyBudget: 5,
      model: 'claude-x',
      instructions: 'Be brief.',
      instructionFiles: true,
      skills: true,
      skillFolders: ['~/skills'],
      approval: { mode: 'session', rules: ['command npm test'] },
      editRules: { ...defaultEditRules, '**/Makefile': true, '**/*.sql': false },
      useTerminal: false,
      variables: { pass: ['CI_TOKEN'], withhold: ['MY_*'] },
      maxRounds: 5,
      trashDays: 30,
      cleanUpDays: 90,
      offerBranchSummary: false,
      switchFiles: 'never',
      sync: { address: '', deviceName: '' },
      fileContents: { days: 60, megabytes: 500 },
      recallHints: true,
      recallElsewhere: true,
      embeddings: null,
      openClaw: { inherit: true, path: '/agents', sessionKey: 'agent:main:main', twoWay: true },
      agents: { watch: ['codex', 'zed'], sessions: 'all' },
      policy: {
        preset: 'balanced',
        overrides: { 'context.maxTokens': 50_000, 'memoryFlush.thresholds': [30], 'compaction.keep': { messages: 6 } },
      },
    });
  });

  it('takes an embedding model with or without an address of its own', () => {
    const found = (value: unknown) => read({ 'recall.embeddings': value });
    deepStrictEqual(found({ provider: 'ollama', model: ' nomic-embed-text ', url: '' }).settings.embeddings, {
      provider: 'ollama',
      model: 'nomic-embed-text',
    });
    const other = { provider: 'openai-compatible', model: 'x', url: 'http://localhost:1234/v1' };
    deepStrictEqual(found(other).settings.embeddings, other);
    for (const wrong of [
      'ollama/x',
      { provider: 'anthropic', model: 'x' },
      { provider: 'ollama', model: '' },
      { ...other, url: 'ftp://x' },
    ]) {
      const { settings, problems } = found(wrong);
      deepStrictEqual([settings.embeddings, problems.length], [null, 1]);
    }
  });

  it('names every value that cannot be used, once, with what is used instead', () => {
    const { settings: found, problems } = read(
      {
        'anthropic.baseUrl': 'ftp://x',
        model: 7,
        instructions: ['a'],
        'tools.approval': 'always',
        'tools.alwaysAllow': ['npm test'],
        'tools.autoApproveEdits': { '**': 'no' },
        'tools.maxRounds': 0,
        'context.policy': 'bold',
        'history.trashDays': -1,
      },
      { 'context.maxTokens': -1, 'memoryFlush.enabled': 'yes', 'compaction.triggerPercent': 'high', 'summarizer.chain': [] },
    );
    deepStrictEqual(problems.map(({ setting }) => setting).sort(), [
      'threadkeeper.anthropic.baseUrl',
      'threadkeeper.compaction.triggerPercent',
      'threadkeeper.context.maxTokens',
      'threadkeeper.context.policy',
      'threadkeeper.history.trashDays',
      'threadkeeper.instructions',
      'threadkeeper.memoryFlush.enabled',
      'threadkeeper.model',
      'threadkeeper.summarizer.chain',
      'threadkeeper.tools.alwaysAllow',
      'threadkeeper.tools.approval',
      'threadkeeper.tools.autoApproveEdits',
      'threadkeeper.tools.maxRounds',
    ]);
    match(
      problems.find(({ setting }) => setting === 'threadkeeper.compaction.triggerPercent')!.message,
      /"high" is not a percentage.*Using 85, as the policy balanced has it/,
    );
    deepStrictEqual({ ...found, policy: found.policy.preset }, { ...read().settings, policy: 'balanced' });
  });
});
