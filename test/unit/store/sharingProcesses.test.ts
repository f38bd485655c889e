import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ChildReport } from '../../support/storeChild';
import { openHost, tempFolder } from '../../support/storeTemp';
import type { TempFolder } from '../../support/storeTemp';
import { waitFor } from '../../support/waitFor';

const childFile = join(__dirname, '..', '..', 'support', 'storeChild.js');
/** Turns of two windows together; two entries each. */
const turnsTogether = Number(process.env['THREADKEEPER_SHARED_TURNS'] ?? 100);

interface Window {
  readonly process: ChildProcess;
  readonly stored: string[];
  access: string;
  done: boolean;
}

describe('store: several processes on one folder', function () {
  this.timeout(300_000);
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
      assert.deepEqual(stored.filter((uuid) => !found.has(uuid)), [], 'acknowledged entries are missing');
      return stored.length;
    } finally {
      await host.close();
    }
  }

  it('write the same session and others at once: one tree, nothing lost, nothing forked', async () => {
    const two = [start(turnsTogether / 2), start(turnsTogether / 2)];
    await waitFor('both to finish', () => two.every(({ done }) => done), { timeout: 280_000 });
    assert.deepEqual(two.map(({ access }) => access).sort(), ['owner', 'shared']);
    assert.equal(await verify(), turnsTogether * 2);
  });

  it('race for the store of a dead owner: one owns it, the others are connected to it', async () => {
    const dead = start(2);
    await waitFor('its turns', () => dead.done, { interval: 5 });
    const gone = once(dead.process, 'exit');
    dead.process.kill('SIGKILL');
    await gone;
    const five = Array.from({ length: 5 }, () => start(2));
    await waitFor('all to finish', () => five.every(({ done }) => done), { interval: 5 });
    assert.deepEqual(five.map(({ access }) => access).sort(), ['owner', 'shared', 'shared', 'shared', 'shared']);
    await verify();
  });
});
