import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { meantSession } from '../../../../src/core/transfer/openClawKeys';
import { findOpenClaw } from '../../../../src/node/transfer/openClaw/findOpenClaw';
import { tempFolder, wasmFile, type TempFolder } from '../../../support/store/storeTemp';

describe('where a session of OpenClaw is looked for', () => {
  let temp: TempFolder;
  before(() => {
    temp = tempFolder();
    for (const agent of ['main', 'work']) {
      const folder = join(temp.path, '.openclaw', 'agents', agent, 'sessions');
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, 'sessions.json'),
        JSON.stringify({ [`agent:${agent}:main`]: { sessionId: `s-${agent}` }, [`agent:${agent}:telegram:group:7`]: { sessionId: 'g' } }),
      );
    }
  });
  after(() => temp.remove());

  const found = async (...path: string[]) => (await findOpenClaw(join(temp.path, '.openclaw', ...path), wasmFile)).agents;

  it('is its folder, that of its agents, of one agent, or of an agent’s sessions (seed 001: inheritPath)', async () => {
    const names = async (...path: string[]) =>
      (await found(...path)).map(({ agent, place }) => [agent, place.type === 'folder' && place.folder.endsWith(join(agent, 'sessions'))]);
    const both = [
      ['main', true],
      ['work', true],
    ];
    assert.deepEqual([await names(), await names('agents')], [both, both]);
    assert.deepEqual(
      [await names('agents', 'main'), await names('agents', 'main', 'sessions'), await names('agents', 'work', 'sessions', '')],
      [[['main', true]], [['main', true]], [['work', true]]],
    );
    assert.deepEqual(await names('nowhere'), []);
  });

  it('is meant by its whole key or by the short one (seed 001: inheritFrom)', async () => {
    const agents = await found('agents');
    const meant = (key: string) => meantSession(agents, key)?.key;
    assert.deepEqual(['main', 'agent:work:main', 'telegram:group:7', 'agent:main:telegram:group:7', 'nothing'].map(meant), [
      'agent:main:main',
      'agent:work:main',
      'agent:main:telegram:group:7',
      'agent:main:telegram:group:7',
      undefined,
    ]);
    assert.equal(meantSession(await found('agents', 'work', 'sessions'), 'main')?.key, 'agent:work:main');
  });
});
