import assert from 'node:assert/strict';
import { Policy } from '../../../src/core/context/policy/policy';
import { knobValue, policyKnobs, type PolicyKnobName } from '../../../src/core/context/policy/policyKnobs';
import { presetNames, presets, resolvePolicy, resolveSessionPolicy } from '../../../src/core/context/policy/resolvePolicy';

describe('policies', () => {
  it('are values of one schema, named as they are chosen', () => {
    assert.deepEqual(
      presetNames.map((name) => Policy.parse(presets[name]).name),
      presetNames,
    );
  });

  for (const name of Object.keys(policyKnobs) as PolicyKnobName[]) {
    it(`name ${name} and the value used instead when it is refused, under every preset`, () => {
      for (const preset of presetNames) {
        for (const bad of [{}, -1, 'nonsense']) {
          const { policy, problems } = resolvePolicy(preset, { [name]: bad });
          assert.deepEqual(policy, resolvePolicy(preset).policy);
          assert.deepEqual(
            problems.map(({ setting }) => setting),
            [`threadkeeper.${name}`],
          );
          const used = knobValue(presets[preset], name);
          assert.ok(
            problems[0]!.message.includes(`Using ${used === undefined ? 'none' : JSON.stringify(used)}, as the policy ${preset} has it.`),
            problems[0]!.message,
          );
        }
      }
    });
  }

  it('cannot be left without anything that fires', () => {
    const { problems } = resolvePolicy('librecode', { 'compaction.triggerMessages': 0, 'compaction.triggerTokens': 0 });
    assert.deepEqual(problems, []);
    assert.equal(
      Policy.safeParse({ ...presets.balanced, compaction: { ...presets.balanced.compaction, trigger: { messages: 0 } } }).success,
      false,
    );
    assert.equal(
      Policy.safeParse({ ...presets.balanced, compaction: { ...presets.balanced.compaction, keep: { minMessages: 3 } } }).success,
      false,
    );
  });

  it('of a session go before the settings, value by value', () => {
    const settings = { preset: 'balanced', overrides: { 'context.maxTokens': 50_000, 'compaction.triggerPercent': 60 } };
    const { policy, problems } = resolveSessionPolicy(settings, { preset: 'goose', overrides: { 'compaction.triggerPercent': 70 } });
    assert.deepEqual(
      {
        name: policy.name,
        maxTokens: policy.window.maxTokens,
        percent: policy.compaction.trigger.percent,
        keep: policy.compaction.keep,
        problems,
      },
      { name: 'goose', maxTokens: 50_000, percent: 0.7, keep: { messages: 5 }, problems: [] },
    );
    for (const none of [null, undefined, {}]) assert.equal(resolveSessionPolicy(settings, none).policy.name, 'balanced');
  });

  it('of a session that cannot be read are named, and the settings hold', () => {
    const settings = { preset: 'goclaw', overrides: {} };
    const broken = (session: unknown) => {
      const { policy, problems } = resolveSessionPolicy(settings, session);
      return [policy.name, ...problems.map(({ setting, message }) => `${setting}: ${message}`)];
    };
    assert.deepEqual(broken('goose'), [
      'goclaw',
      'threadkeeper.context.policy: In this session: "goose" has no preset and overrides. Using the settings.',
    ]);
    assert.deepEqual(broken({ overrides: { 'compaction.speed': 1 } }), [
      'goclaw',
      'threadkeeper.compaction.speed: In this session: There is no such value of a policy. It is ignored.',
    ]);
    assert.deepEqual(broken({ overrides: { 'compaction.whenFull': 'panic' } }), [
      'goclaw',
      'threadkeeper.compaction.whenFull: In this session: "panic" is not summarize, truncate or ask. Using "summarize", as the policy goclaw has it.',
    ]);
    assert.match(broken({ preset: 'goos' })[1]!, /In this session: "goos" is not a policy\. Known: balanced, .*Using balanced\./);
  });
});
