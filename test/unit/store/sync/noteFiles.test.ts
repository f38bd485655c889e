import { deepStrictEqual } from 'node:assert';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryNotes } from '../../../../src/core/ports';
import { NoteFiles } from '../../../../src/node/sync/noteFiles';
import { seededRandom } from '../../../support/chat/endurance';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { SyncDevice } from '../../../support/sync/syncRig';

describe('notes of three devices', function () {
  this.timeout(60_000);
  let engine: MemoryEngine;
  let devices: SyncDevice[];
  beforeEach(async () => {
    engine = new MemoryEngine();
    devices = [];
    for (let i = 0; i < 3; i++) {
      const device = await SyncDevice.open();
      await device.join();
      devices.push(device);
    }
  });
  afterEach(async () => {
    for (const device of devices) await device.close();
  });

  const meet = async () => {
    for (let round = 0; round < 2; round++)
      for (const device of devices) {
        const { problems, notes } = await device.syncAll(engine);
        deepStrictEqual({ problems, notes }, { problems: [], notes: [] });
      }
  };
  const seen = async ({ notes }: SyncDevice) => {
    const found: Record<string, string | undefined> = {};
    for (const { path } of await notes.list()) found[path] = await notes.read(path);
    return found;
  };
  const everywhere = async () => Promise.all(devices.map(seen));

  it('are the same everywhere, whoever wrote, renamed or deleted them', async () => {
    const [one, two, three] = devices as [SyncDevice, SyncDevice, SyncDevice];
    await one.notes.write('plan.md', 'one\ntwo\n');
    await two.notes.write('deep/idea.md', 'quince\n');
    await meet();
    const all = { 'deep/idea.md': 'quince\n', 'plan.md': 'one\ntwo\n' };
    deepStrictEqual(await everywhere(), [all, all, all]);
    await three.notes.rename('plan.md', 'plans/old.md');
    await one.notes.delete('deep/idea.md');
    await meet();
    const left = { 'plans/old.md': 'one\ntwo\n' };
    deepStrictEqual(await everywhere(), [left, left, left]);
    engine.calls.length = 0;
    await one.syncAll(engine);
    deepStrictEqual(engine.calls, ['heads']);
  });

  it('are merged by lines, have both of what two wrote in one place, and come back where one was deleted and another written', async () => {
    const [one, two, three] = devices as [SyncDevice, SyncDevice, SyncDevice];
    await one.notes.write('plan.md', 'one\ntwo\nthree\n');
    await one.notes.write('gone.md', 'kept\n');
    await meet();
    await one.notes.write('plan.md', 'zero\none\ntwo\nthree\n');
    await two.notes.write('plan.md', 'one\ntwo, of the second\nthree\n');
    await three.notes.write('plan.md', 'one\ntwo, of the third\nthree\n');
    await one.notes.delete('gone.md');
    await two.notes.write('gone.md', 'kept\nand more\n');
    await meet();
    const expected = { 'gone.md': 'kept\nand more\n', 'plan.md': 'zero\none\ntwo, of the second\ntwo, of the third\nthree\n' };
    deepStrictEqual(await everywhere(), [expected, expected, expected]);
  });

  it('come back where their folder is not there, and are deleted nowhere for that', async () => {
    const [one, two] = devices as [SyncDevice, SyncDevice];
    await one.notes.write('plan.md', 'one\n');
    await meet();
    rmSync(two.notesFolder, { recursive: true });
    await meet();
    deepStrictEqual(await everywhere(), [{ 'plan.md': 'one\n' }, { 'plan.md': 'one\n' }, { 'plan.md': 'one\n' }]);
  });

  it('are not doubled by an end in the middle of writing them', async () => {
    const [one, two] = devices as [SyncDevice, SyncDevice];
    await one.notes.write('plan.md', 'one\n');
    await meet();
    await one.notes.write('plan.md', 'one\nmine\n');
    await two.notes.write('plan.md', 'one\nyours\n');
    await one.syncAll(engine);
    const files = new NoteFiles(two.store, two.notes, two.notesFolder);
    await files.collect();
    await two.sync(engine);
    // The process ends between the file and the store.
    const dying = new NoteFiles(
      {
        ...two.store,
        syncNoteFile: (path, digest, state) =>
          state === 'written' ? Promise.reject(new Error('gone')) : two.store.syncNoteFile(path, digest, state),
      },
      two.notes,
      two.notesFolder,
    );
    deepStrictEqual(await dying.apply(), [{ path: 'plan.md', detail: 'gone' }]);
    await devices[2]!.notes.write('plan.md', 'one\ntheirs\n');
    await meet();
    const [text] = await everywhere();
    deepStrictEqual(text!['plan.md']!.split('\n').sort(), ['', 'mine', 'one', 'theirs', 'yours']);
    deepStrictEqual(await everywhere(), [text, text, text]);
  });

  it('stay as they are where the other name is the same on a system that does not tell cases apart', async () => {
    const [one, two] = devices as [SyncDevice, SyncDevice];
    await one.notes.write('plan.md', 'small\n');
    await two.notes.write('Plan.md', 'large\n');
    await one.syncAll(engine);
    const { notes } = await two.syncAll(engine);
    deepStrictEqual(notes, [{ path: 'plan.md', detail: 'A note is there whose name differs in upper and lower case only.' }]);
    deepStrictEqual(readFileSync(join(two.notesFolder, 'Plan.md'), 'utf8'), 'large\n');
  });

  it('lose no line and double none, whatever is written where: 50 changes', async () => {
    const random = seededRandom(17);
    const below = (limit: number) => Math.floor(random() * limit);
    const kept = new Set<string>();
    const paths = ['a.md', 'b/c.md', 'd.md'];
    for (let change = 0; change < 50; change++) {
      const device = devices[below(3)]!;
      const path = paths[below(3)]!;
      const lines = ((await device.notes.read(path)) ?? '').split('\n').filter((line) => line !== '');
      const line = `line ${change} of ${path}`;
      kept.add(line);
      lines.splice(random() < 0.5 ? lines.length : below(lines.length + 1), 0, line);
      if (random() < 0.15) for (const struck of lines.splice(below(lines.length), 1)) kept.delete(struck);
      await device.notes.write(path, `${lines.join('\n')}\n`);
      if (random() < 0.4) await devices[below(3)]!.syncAll(engine);
    }
    await meet();
    const [first, ...others] = await everywhere();
    for (const other of others) deepStrictEqual(other, first);
    const found = Object.values(first!).flatMap((text) => text!.split('\n').filter((line) => line !== ''));
    deepStrictEqual([found.filter((line) => kept.has(line)).length, new Set(found).size], [kept.size, found.length]);
  });

  it('are left alone where a file is changed while the others arrive', async () => {
    const [one, two] = devices as [SyncDevice, SyncDevice];
    await one.notes.write('plan.md', 'one\n');
    await meet();
    await one.notes.write('plan.md', 'one\nmine\n');
    await one.syncAll(engine);
    const files = new NoteFiles(two.store, two.notes, two.notesFolder);
    await files.collect();
    await two.sync(engine);
    await two.notes.write('plan.md', 'saved in between\none\n');
    deepStrictEqual(await files.apply(), []);
    deepStrictEqual(await seen(two), { 'plan.md': 'saved in between\none\n' });
    await meet();
    deepStrictEqual((await everywhere())[0], { 'plan.md': 'saved in between\none\nmine\n' });
    renameSync(two.notesFolder, `${two.notesFolder}-old`);
  });

  it('are left alone where a file is changed at the very moment in which it would be written', async () => {
    const [one, two] = devices as [SyncDevice, SyncDevice];
    await one.notes.write('plan.md', 'one\n');
    await meet();
    await one.notes.write('plan.md', 'one\nmine\n');
    await one.syncAll(engine);
    const notes = Object.assign(Object.create(two.notes) as MemoryNotes, {
      write: async (path: string, text: string, was?: string | null) => {
        await two.notes.write(path, 'saved in between\none\n');
        await two.notes.write(path, text, was);
      },
    });
    const files = new NoteFiles(two.store, notes, two.notesFolder);
    await files.collect();
    await two.sync(engine);
    deepStrictEqual([await files.apply(), await seen(two)], [[], { 'plan.md': 'saved in between\none\n' }]);
    await meet();
    const all = { 'plan.md': 'saved in between\none\nmine\n' };
    deepStrictEqual(await everywhere(), [all, all, all]);
  });

  it('are left alone where a file is changed at the very moment in which it would be deleted', async () => {
    const [one, two] = devices as [SyncDevice, SyncDevice];
    await one.notes.write('plan.md', 'one\n');
    await meet();
    await one.notes.delete('plan.md');
    await one.syncAll(engine);
    const notes = Object.assign(Object.create(two.notes) as MemoryNotes, {
      delete: async (path: string, was?: string) => {
        await two.notes.write(path, 'one\nsaved in between\n');
        await two.notes.delete(path, was);
      },
    });
    const files = new NoteFiles(two.store, notes, two.notesFolder);
    await files.collect();
    await two.sync(engine);
    deepStrictEqual([await files.apply(), await seen(two)], [[], { 'plan.md': 'one\nsaved in between\n' }]);
    await meet();
    const all = { 'plan.md': 'one\nsaved in between\n' };
    deepStrictEqual(await everywhere(), [all, all, all]);
  });
});
