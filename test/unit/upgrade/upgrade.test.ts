import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileMemoryNotes } from '../../../src/node/memory/fileMemoryNotes';
import { newestVersion } from '../../../src/node/store/database/migrations';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { resolveStoreFolder } from '../../../src/node/workspaces/workspaceRegistry';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { ImportRig } from '../../support/store/importRig';
import { openHost, openTestStore, tempFolder, type TempFolder } from '../../support/store/storeTemp';
import { layVersion010, readSession, version010, type OldSession } from '../../support/store/upgradeFixture';

/** In the header of a SQLite file. */
const userVersionAt = 60;
const ofNow = newestVersion();

describe('an upgrade from 0.1.0', () => {
  const old = version010.history();
  let temp: TempFolder;
  let folder: string;
  beforeEach(() => {
    temp = tempFolder();
    folder = join(temp.path, 'store');
  });
  afterEach(() => temp.remove());

  it('opens the history with all that 0.1.0 read from it, searches it, and keeps the old file', async () => {
    layVersion010(folder);
    const store = await openTestStore(folder);
    for (const session of old.sessions) assert.deepEqual(asBefore(await readSession(store, session.session.uuid), session), session);
    const blobs = old.blobs.map(async ([hash]) => [hash, Buffer.from((await store.blob(hash)) ?? []).toString('base64')]);
    assert.deepEqual(await Promise.all(blobs), old.blobs);
    for (const [word, text] of old.found) {
      const { hits } = await store.search({ text: word, limit: 3, whole: true });
      assert.ok(
        hits.some((hit) => text.includes(hit.text) || hit.text.includes(text)),
        word,
      );
    }
    assert.deepEqual(await store.calibration('scripted/scripted-1'), old.calibration);
    const [talk] = old.sessions;
    const cutOff = await store.recoverPartials(talk!.session.uuid);
    assert.deepEqual(
      cutOff.map(({ content }) => content),
      [
        {
          type: 'message',
          role: 'assistant',
          text: 'Cut off in mid-str',
          provider: 'scripted',
          model: 'scripted-1',
          interrupted: 'crashed',
        },
      ],
    );
    await store.close();
    const kept = readFileSync(`${storeFiles(folder).main}.v3.bak`);
    assert.deepEqual([kept.length, kept.readUInt32BE(userVersionAt)], [version010.database().length, 3]);

    const notes = new FileMemoryNotes(join(folder, 'notes'));
    assert.deepEqual((await notes.list()).map(({ path }) => path).sort(), old.notes);
    assert.equal(await notes.read('people/anna.md'), 'Anna keeps the keys.\n');
  });

  it('goes on in a conversation of 0.1.0, and finds it again after a second start', async () => {
    layVersion010(folder);
    const { session } = old.sessions[0]!;
    const store = await openTestStore(folder);
    const [added] = await store.append(session.uuid, {
      after: session.leaf,
      entries: [
        {
          ...old.sessions[0]!.entries[0]!,
          uuid: 'new',
          parent: session.leaf,
          content: { type: 'message', role: 'user', text: 'Still here?' },
        },
      ],
    });
    await store.close();
    const again = await openTestStore(folder);
    assert.deepEqual((await again.liveBranch(session.uuid)).entries.at(-1), added);
    await again.close();
  });

  it('finds the folder of a workspace by the registry that 0.1.0 kept', async () => {
    const { name, content } = version010.registry();
    const file = join(temp.path, 'global', name);
    await mkdir(dirname(file), { recursive: true });
    await mkdir(folder);
    await writeFile(file, content.replaceAll('/home/user/storage/offered', folder.replaceAll('\\', '\\\\')));
    const resolved = await resolveStoreFolder({
      globalDir: join(temp.path, 'global'),
      candidateDir: join(temp.path, 'another'),
      workspaceUris: ['file:///home/user/harbour'],
    });
    assert.deepEqual([resolved.folder, resolved.found, resolved.knownSince], [folder, 'workspace', 1_763_800_000_000]);
  });

  it('restores a backup that 0.1.0 made', async () => {
    const backup = join(temp.path, 'backup.db');
    await writeFile(backup, version010.backup());
    const { code, err } = await runCliToEnd(['restore', backup, '--store', folder]);
    assert.deepEqual([code, err], [0, '']);
    const store = await openTestStore(folder);
    for (const session of old.sessions) assert.deepEqual(asBefore(await readSession(store, session.session.uuid), session), session);
    for (const [hash, content] of old.blobs) assert.equal(Buffer.from((await store.blob(hash)) ?? []).toString('base64'), content);
    await store.close();
  });

  for (const name of ['all', 'one', 'redacted'] as const) {
    it(`imports what 0.1.0 exported (${name})`, async () => {
      const rig = await ImportRig.open();
      try {
        const file = rig.source(`${name}.json`, version010.export(name));
        const { failed, sessions } = await rig.import(file);
        const wanted =
          name === 'all' ? old.sessions : old.sessions.filter(({ session }) => sessions.some(({ uuid }) => uuid === session.uuid));
        assert.deepEqual([failed, sessions.length], [[], name === 'all' ? old.sessions.length : 1]);
        const imported = plain(await Promise.all(wanted.map(({ session }) => readSession(rig.store, session.uuid))));
        for (const session of wanted) {
          const now = imported.find(({ session: { uuid } }) => uuid === session.session.uuid)!;
          if (name === 'redacted') assert.deepEqual(now.entries.map(shape), session.entries.map(shape));
          else assert.deepEqual(asBefore(carried(now, imported), carried(session, old.sessions)), carried(session, old.sessions));
        }
        if (name !== 'redacted')
          for (const [hash, content] of old.blobs)
            assert.equal(Buffer.from((await rig.store.blob(hash)) ?? []).toString('base64'), content);
        const again = await rig.import(file);
        assert.deepEqual(
          again.sessions.map(({ outcome, entriesAdded }) => [outcome, entriesAdded]),
          sessions.map(() => ['known', 0]),
        );
      } finally {
        await rig.close();
      }
    });
  }
});

describe('a downgrade', () => {
  it('says of a history of a newer version what to do, reads it, and does not touch it', async () => {
    const temp = tempFolder();
    try {
      const { main } = storeFiles(temp.path);
      layVersion010(temp.path);
      await (await openTestStore(temp.path)).close();
      const file = readFileSync(main);
      file.writeUInt32BE(ofNow + 1, userVersionAt);
      await writeFile(main, file);
      const refusal = `${main} was written by a newer version of Threadkeeper (${ofNow + 1}; this one knows up to ${ofNow}). Update Threadkeeper to use it`;
      const reader = await openHost(temp.path);
      assert.deepEqual([reader.status.access, reader.status.note], ['readonly', { reason: 'newer_schema', detail: refusal }]);
      await reader.close();

      const refused = [
        [1, 'run', '--model', 'offline'],
        [3, 'verify'],
        [1, 'backup', join(temp.path, '..', 'copy.db')],
      ] as const;
      for (const [expected, ...args] of refused) {
        const { code, err } = await runCliToEnd([...args, '--store', temp.path]);
        assert.deepEqual([args, code, err.includes(refusal)], [args, expected, true], err);
      }
      // Reading goes on: nobody is locked out of what was said.
      assert.match((await runCliToEnd(['sessions', '--store', temp.path])).out, /When does the tide turn/);
      assert.match((await runCliToEnd(['search', 'marmalade', '--store', temp.path])).out, /The password hint is marmalade/);
      assert.deepEqual(readFileSync(main), file);
    } finally {
      temp.remove();
    }
  });
});

/** Without the fields that have come since. */
function asBefore(now: unknown, old: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(old)) return now.map((value, i) => asBefore(value, old[i]));
  if (typeof now !== 'object' || typeof old !== 'object' || now === null || old === null) return now;
  const was = new Map(Object.entries(old));
  return Object.fromEntries(Object.entries(now).flatMap(([key, value]) => (was.has(key) ? [[key, asBefore(value, was.get(key))]] : [])));
}

/** As JSON keeps it: what is undefined is not there. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** What an export carries: drafts, queues and retries stay behind, and a pinned path means another file elsewhere. */
function carried({ session, entries, live, usage, pins, memoryWrites }: OldSession, all: readonly OldSession[]) {
  const uuids = new Map(all.flatMap((one) => one.entries.map((entry) => [`#${entry.seq}`, entry.uuid])));
  // Summaries name entries by their numbers, which are others in another store. What was named and nobody knew stays as it was.
  const inWords = (key: string, value: unknown) =>
    typeof value === 'string' && !(/^\d+$/.test(key) && /^#\d+$/.test(value))
      ? value.replace(/#\d+/g, (ref) => uuids.get(ref) ?? ref)
      : value;
  const named = <T>(value: T) => JSON.parse(JSON.stringify(value), inWords) as T;
  const { uuid, title, metadata, policy, costLimit, pinnedAt, archivedAt, deletedAt, createdAt } = session;
  return {
    session: { uuid, title, metadata, policy, costLimit, pinnedAt, archivedAt, deletedAt, createdAt },
    entries: named(entries.map(({ seq: _, sourceId: _from, ...entry }) => entry)),
    live,
    usage,
    pins: pins.filter(({ kind }) => kind !== 'file'),
    memoryWrites,
  };
}

function shape({ uuid, parent, session, content }: OldSession['entries'][number]) {
  return [uuid, parent, session, content.type];
}
