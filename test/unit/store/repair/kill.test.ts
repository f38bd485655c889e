import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { entryText } from '../../../../src/core/session/entry';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { enduranceRounds, seededRandom } from '../../../support/chat/endurance';
import { projectRoot } from '../../../support/paths';
import { openHost, tempFolder } from '../../../support/store/storeTemp';
import type { TempFolder } from '../../../support/store/storeTemp';
import type { Ordeal, VictimReport } from '../../../support/store/storeVictim';

const victimFile = join(__dirname, '..', '..', '..', 'support', 'store', 'storeVictim.js');
const fixture = join(projectRoot, 'test', 'fixtures', 'stores', 'v1.db');
const fixtureEntries = 6;
/** Kills, shared among the kinds of work. */
const rounds = enduranceRounds(12);
const ordeals: readonly Ordeal[] = ['append', 'stream', 'compaction', 'checkpoint', 'close', 'migration'];

/** What a process has been told is safe: characters by uuid. */
interface Acknowledged {
  readonly stored: Map<string, number>;
  readonly streamed: Map<string, number>;
}

describe('store: a process killed at a random point', () => {
  let temp: TempFolder;
  const children = new Set<ChildProcess>();
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    temp.remove();
  });

  async function kill(folder: string, ordeal: Ordeal, random: () => number, acknowledged: Acknowledged): Promise<boolean> {
    // Mostly before a certain call to the disk, which reaches the short moments too; else whenever the signal arrives.
    const dieAt = random() < 0.8 ? 1 + Math.floor(random() ** 2 * 700) : 0;
    const child = spawn(process.execPath, [victimFile, folder, ordeal, String(dieAt), String(Math.floor(random() * 1e6))], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    const delay = random() * 60;
    let opened = false;
    let complaint = '';
    child.stderr.on('data', (data: Buffer) => (complaint += data.toString()));
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    for await (const line of createInterface({ input: child.stdout })) {
      const report = JSON.parse(line) as VictimReport;
      if (report.type === 'stored') acknowledged.stored.set(report.uuid, report.length);
      if (report.type === 'streamed') acknowledged.streamed.set(report.uuid, report.length);
      if (report.type === 'opened' && !opened) {
        opened = true;
        if (dieAt === 0) setTimeout(() => child.kill('SIGKILL'), delay);
      }
    }
    const [code, signal] = await ended;
    children.delete(child);
    assert.equal(signal, 'SIGKILL', `it did not die but ended with ${code}: ${complaint}`);
    return opened;
  }

  async function verify(folder: string, { stored, streamed }: Acknowledged): Promise<void> {
    const host = await openHost(folder);
    try {
      assert.deepEqual(
        { access: host.status.access, durability: host.status.durability, note: host.status.note },
        { access: 'owner', durability: 'file', note: null },
      );
      await host.call('recoverPartials', ['victim']);
      const uuids = [...new Set([...stored.keys(), ...streamed.keys()])];
      const found = new Map((await host.call('entries', [uuids])).map((entry) => [entry.uuid, entry.content]));
      for (const [uuid, length] of stored) {
        const content = found.get(uuid);
        assert.ok(content, `entry ${uuid} is lost`);
        if (content.type === 'message') assert.equal(entryText(content).length, length);
      }
      for (const [uuid, length] of streamed) {
        const content = found.get(uuid);
        assert.ok(content && entryText(content).length >= length, `of answer ${uuid} not all ${length} characters are there`);
      }
    } finally {
      await host.close();
    }
  }

  for (const ordeal of ordeals) {
    const share = Math.ceil(rounds / ordeals.length);
    it(`loses nothing acknowledged and opens again: ${ordeal}, ${share} times`, async function () {
      this.timeout(20_000 + share * 5_000);
      const random = seededRandom(1000 + ordeals.indexOf(ordeal));
      const all: Acknowledged = { stored: new Map(), streamed: new Map() };
      let folder = temp.path;
      for (let round = 0; round < share; round++) {
        const acknowledged: Acknowledged = { stored: new Map(), streamed: new Map() };
        if (ordeal === 'migration') {
          folder = join(temp.path, String(round));
          mkdirSync(folder);
          copyFileSync(fixture, storeFiles(folder).main);
        }
        await kill(folder, ordeal, random, acknowledged);
        for (const [uuid, length] of acknowledged.stored) all.stored.set(uuid, length);
        for (const [uuid, length] of acknowledged.streamed) all.streamed.set(uuid, length);
        if (ordeal === 'migration') {
          await verify(folder, acknowledged);
          const host = await openHost(folder, { readonly: true });
          assert.ok((await host.call('entriesBySeq', [[1, 2, 3, 4, 5, 6]])).length === fixtureEntries, 'what version 1 held is there');
          await host.close();
          // Every other time the next victim opens what this one left.
        } else if (round % 2 === 0) await verify(folder, acknowledged);
      }
      if (ordeal !== 'migration') await verify(folder, all);
    });
  }
});
