import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert';
import { openTestStore, tempFolder, testUuid, userMessage } from '../../../support/store/storeTemp';

describe('the seal of a session in the store', () => {
  it('stays the same when the store is opened again, differs by session and store, and is shared by a fork', async () => {
    const [temp, elsewhere] = [tempFolder(), tempFolder()];
    try {
      const [first, second] = [testUuid(), testUuid()];
      const seals = async (folder: string) => {
        const store = await openTestStore(folder);
        try {
          for (const uuid of [first, second]) await store.createSession({ uuid, channel: 'cli', createdAt: 1 });
          const seal = async (uuid: string) => (await store.liveBranch(uuid)).seal;
          const entry = userMessage(first, null, 'hello');
          await store.append(first, { entries: [entry] });
          const fork = await store.forkSession(entry.uuid, { uuid: testUuid(), channel: 'cli', createdAt: 2 });
          return { first: await seal(first), second: await seal(second), fork: await seal(fork.uuid) };
        } finally {
          await store.close();
        }
      };
      const before = await seals(temp.path);
      match(before.first, /^\d{29}$/);
      strictEqual(before.fork, before.first);
      notStrictEqual(before.second, before.first);
      deepStrictEqual(await seals(temp.path), before);
      notStrictEqual((await seals(elsewhere.path)).first, before.first);
    } finally {
      temp.remove();
      elsewhere.remove();
    }
  });
});
