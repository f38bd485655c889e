import { deepStrictEqual, rejects } from 'node:assert';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { HistoryDirectory } from '../../../src/node/sync/historyDirectory';
import { newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

describe('the list of the histories of a recovery phrase', () => {
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  const phrase = readPhrase(newPhrase());
  const open = (entropy = phrase, create = true) => HistoryDirectory.open(temp.path, entropy, { create, bundles: '' });
  const main = { kind: 'history', name: 'main', label: 'Main', at: 1 };
  const work = { kind: 'history', name: 'work', label: 'At work', at: 2 };
  const desk = { kind: 'device', history: 'h1', device: 'd1', name: 'Desk', at: 3 };
  const lap = { kind: 'device', history: 'h2', device: 'd2', name: 'Lap', at: 4 };

  it('has the last line of each history and device, the newest history first, and lets go of one with its devices', async () => {
    const directory = await open();
    deepStrictEqual(await directory.list(), { histories: [], devices: [] });
    for (const history of [main, work]) await directory.noteHistory(history);
    for (const device of [desk, lap, { ...desk, name: 'Attic', at: 5 }]) await directory.noteDevice(device);
    const sorted = async () => {
      const { histories, devices } = await directory.list();
      return { histories, devices: [...devices].sort((a, b) => a.at - b.at) };
    };
    deepStrictEqual(await sorted(), { histories: [work, main], devices: [lap, { ...desk, name: 'Attic', at: 5 }] });
    await directory.noteHistory({ ...main, label: 'Everything', at: 6 });
    await directory.forget('work', 'h2');
    deepStrictEqual(await sorted(), { histories: [{ ...main, label: 'Everything', at: 6 }], devices: [{ ...desk, name: 'Attic', at: 5 }] });
    await directory.close();
  });

  it('is that of its phrase alone', async () => {
    await (await open()).noteHistory(main);
    const other = readPhrase(newPhrase());
    await rejects(open(other, false), { name: 'EngineError', reason: 'no_history' });
    deepStrictEqual(await (await open(other)).list(), { histories: [], devices: [] });
  });

  it('passes over a line that stands where it was not written', async () => {
    const directory = await open();
    await directory.noteHistory(main);
    const logs = join(temp.path, readdirSync(temp.path)[0]!, 'logs');
    // The engine gives it out once more, as that of another history.
    cpSync(join(logs, readdirSync(logs)[0]!), join(logs, 'f'.repeat(32)), { recursive: true });
    deepStrictEqual(await directory.list(), { histories: [main], devices: [] });
  });
});
