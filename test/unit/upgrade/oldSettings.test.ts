import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../support/paths';
import { version010 } from '../../support/store/upgradeFixture';

interface Setting {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly scope: string;
}

/**
 * They were a workspace's to decide and are the user's alone since: a repository that is only opened must not choose the model, speak to
 * it, or widen what runs without being asked. VS Code marks them in a workspace's settings file as out of place.
 */
const usersAlone = [
  'threadkeeper.model',
  'threadkeeper.instructions',
  'threadkeeper.instructionFiles',
  'threadkeeper.tools.approval',
  'threadkeeper.tools.maxRounds',
  'threadkeeper.history.trashDays',
];

describe('settings and commands of 0.1.0', () => {
  const { settings, commands } = version010.manifest();
  const { contributes } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    contributes: {
      configuration: readonly { readonly properties: Readonly<Record<string, Setting>> }[];
      commands: readonly { readonly command: string }[];
    };
  };
  const now = Object.assign({}, ...contributes.configuration.map(({ properties }) => properties)) as Readonly<Record<string, Setting>>;

  it('has every setting still, with every value that it could have', () => {
    const listed = (of: string | readonly string[] | undefined) => [of ?? []].flat();
    const lost = Object.entries(settings).flatMap(([name, { type, enum: values }]) => {
      const setting = now[name];
      if (!setting) return [`${name} is gone`];
      const types = listed(type).filter((one) => !listed(setting.type).includes(one));
      const gone = setting.enum ? (values ?? []).filter((value) => !setting.enum?.includes(value)) : [];
      return [...types, ...gone].map((one) => `${name} no longer takes ${String(one)}`);
    });
    assert.deepEqual(lost, []);
  });

  it('lets them stand where they stood, but for those that are the user’s alone since', () => {
    const moved = Object.entries(settings).filter(([name, { scope }]) => now[name]?.scope !== scope);
    assert.deepEqual(
      moved.map(([name, { scope }]) => [name, scope, now[name]?.scope]),
      usersAlone.map((name) => [name, 'window', 'application']),
    );
  });

  it('has every command still: keys are bound to them', () => {
    const known = new Set(contributes.commands.map(({ command }) => command));
    assert.deepEqual(
      commands.filter((command) => !known.has(command)),
      [],
    );
  });
});
