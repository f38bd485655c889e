import { deepStrictEqual } from 'node:assert';
import { resolvePolicy } from '../../../src/core/context/resolvePolicy';
import { settings, type SettingName } from '../../../src/vscode/contributions';
import { readSettings } from '../../../src/vscode/settingsValues';

const defaults = (over: Partial<Record<SettingName, unknown>> = {}) => readSettings((name) => (name in over ? over[name] : settings[name].default));

describe('readSettings', () => {
  it('makes the balanced policy of the defaults', () => {
    deepStrictEqual(defaults(), {
      settings: { baseUrl: '', model: '', instructions: '', policy: resolvePolicy('balanced').policy, statusBarVisible: true },
      problems: [],
    });
  });

  it('takes what the user has set', () => {
    const { settings: read, problems } = defaults({ baseUrl: ' https://gateway.example.com/v1 ', model: ' claude-x ', instructions: 'Be brief.', maxTokens: 50_000, statusBarVisible: false, memoryFlushThresholds: [30], compactionTrigger: 60, automaticCompaction: false });
    deepStrictEqual(problems, []);
    deepStrictEqual(
      { ...read, policy: { window: read.policy.window, thresholds: read.policy.memoryFlush.thresholds, compaction: [read.policy.compaction.enabled, read.policy.compaction.trigger.percent] } },
      { baseUrl: 'https://gateway.example.com/v1', model: 'claude-x', instructions: 'Be brief.', statusBarVisible: false, policy: { window: { maxTokens: 50_000 }, thresholds: [{ percent: 0.3, injectAs: 'system' }], compaction: [false, 0.6] } },
    );
  });

  it('names every value that cannot be used, once, and goes on with its default', () => {
    const { settings: read, problems } = defaults({ baseUrl: 'ftp://x', model: 7, instructions: ['a'], policy: 'bold', maxTokens: -1, memoryFlushEnabled: 'yes', memoryFlushThresholds: [500], automaticCompaction: 1, compactionTrigger: 'high', statusBarVisible: null });
    deepStrictEqual(problems.map(({ setting }) => setting).sort(), [
      'threadkeeper.anthropic.baseUrl',
      'threadkeeper.compaction.automatic',
      'threadkeeper.compaction.triggerPercent',
      'threadkeeper.context.maxTokens',
      'threadkeeper.context.policy',
      'threadkeeper.instructions',
      'threadkeeper.memoryFlush.enabled',
      'threadkeeper.memoryFlush.thresholds',
      'threadkeeper.model',
    ]);
    deepStrictEqual(read, defaults().settings);
  });
});
