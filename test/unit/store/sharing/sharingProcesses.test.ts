import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ChildReport } from '../../../support/store/storeChild';
import { openHost, tempFolder } from '../../../support/store/storeTemp';
import type { TempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

const childFile = join(__dirname, '..', '..', '..', 'support', 'store', 'storeChild.js');
/** Turns of two windows together; two entries each. Passed with 1,000 as well. */
const turnsTogether = Number(process.env['THREADKEEPER_SHARED_TURNS'] ?? 100);
/** Owners that are killed while others write. Passed with 110 as well. */
const kills = Number(process.env['THREADKEEPER_ROUNDS'] ?? 4);

interface Window {
  readonly process: ChildProcess;
  readonly stored: string[];
  access: string;
  done: boolean;
}

describe('store: several processes on one folder', function () {
  this.timeout(120_000 + 10_000 * kills + 1_000 * turnsTogether);
  let temp: TempFolder;
  const windows: Window[] = [];
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(() => {
    for (const { process: child } of windows.splice(0)) child.kill('SIGKILL');
    temp.remove();
  });

  function start(turns: number): Window {
    const child = spawn(process.execPath, [childFile, 'share', temp.path, String(turns)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const window: Window = { process: child, stored: [], access: '', done: false };
    windows.push(window);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report = JSON.parse(line) as ChildReport;
      if (report.type === 'stored') window.stored.push(report.uuid);
      if (report.type === 'open') window.access = report.access;
      if (report.type === 'done') window.done = true;
    });
    return window;
  }

  async function kill({ process: child }: Window): Promise<void> {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Every acknowledged entry is there once, and every session is one unforked line. */
  async function verify(): Promise<number> {
    const host = await openHost(temp.path, { waitForOwnerMs: 10_000 });
    try {
      const stored = windows.flatMap((window) => window.stored);
      const reached: string[] = [];
      for (const { uuid } of await host.call('listSessions', [])) {
        await host.call('recoverPartials', [uuid]);
        const { session, entries } = await host.call('liveBranch', [uuid]);
        assert.equal(entries.length, session.messageCount, `${uuid} has entries beside its branch`);
        for (const { content } of entries) if (content.type === 'message') assert.match(content.text, /^(question|answer|abc|abcabc)$/);
        reached.push(...entries.map((entry) => entry.uuid));
      }
      assert.equal(new Set(reached).size, reached.length, 'nothing is doubled');
      const found = new Set(reached);
      assert.deepEqual(
        stored.filter((uuid) => !found.has(uuid)),
        [],
        'acknowledged entries are missing',
      );
      return stored.length;
    } finally {
      await host.close();
    }
  }

  it('write the same session and others at once: one tree, nothing lost, nothing forked', async () => {
    const two = [start(turnsTogether / 2), start(turnsTogether / 2)];
    await waitFor('both to finish', () => two.every(({ done }) => done), { timeout: 100_000 + 1_000 * turnsTogether });
    assert.deepEqual(two.map(({ access }) => access).sort(), ['owner', 'shared']);
    assert.equal(await verify(), turnsTogether * 2);
  });

  it('go on when the owner is killed, wherever it was', async () => {
    let owner = start(1e9);
    await waitFor('the owner', () => owner.stored.length > 0, { interval: 5 });
    let survivor = start(1e9);
    for (let round = 0; round < kills; round++) {
      const [mine, others] = [survivor.stored.length, owner.stored.length];
      await waitFor('both to write', () => survivor.stored.length > mine + (round % 8) * 3 && owner.stored.length > others, {
        interval: 1,
      });
      await kill(owner);
      const before = survivor.stored.length;
      await waitFor('the survivor to go on', () => survivor.stored.length > before + 2, { interval: 1 });
      assert.equal(survivor.access, 'owner');
      [owner, survivor] = [survivor, start(1e9)];
    }
    await Promise.all([kill(owner), kill(survivor)]);
    assert.ok((await verify()) > kills * 5);
    for (const window of windows) assert.notEqual(window.access, 'readonly');
  });

  it('race for the store of a dead owner: one owns it, the others are connected to it', async () => {
    const dead = start(2);
    await waitFor('its turns', () => dead.done, { interval: 5 });
    await kill(dead);
    const five = Array.from({ length: 5 }, () => start(2));
    await waitFor('all to finish', () => five.every(({ done }) => done), { interval: 5 });
    assert.deepEqual(five.map(({ access }) => access).sort(), ['owner', 'shared', 'shared', 'shared', 'shared']);
    await verify();
  });
});
