import { deepStrictEqual } from 'node:assert';
import { SessionLists, listStep } from '../../../../src/vscode/sessions/tree/treeLists';
import { openTestStore, tempFolder, testUuid } from '../../../support/store/storeTemp';
import { now } from './sessions';

describe('the Sessions view: what it reads', () => {
  const folder = tempFolder();
  after(() => folder.remove());

  it('reads so many of each list at a time, and more when asked', async () => {
    const store = await openTestStore(folder.path);
    const total = 2 * listStep + 5;
    for (let i = 0; i < total; i++) {
      const session = await store.createSession({ uuid: testUuid(), channel: 'vscode', title: `number ${i}`, createdAt: now + i });
      if (i === 2) await store.updateSession(session.uuid, { pinnedAt: now, metadata: { tags: ['work'] } });
      if (i === 0) await store.updateSession(session.uuid, { archivedAt: now });
      if (i === 1) await store.updateSession(session.uuid, { archivedAt: now, deletedAt: now });
    }
    const lists = new SessionLists();
    const sizes = async () => {
      const { active, archived, trashed } = await lists.load(store);
      return [active, archived, trashed].map(({ sessions, hasMore }) => `${sessions.length}${hasMore ? '+' : ''}`);
    };
    // The pinned one, long ago as it is, comes on top of them.
    deepStrictEqual(await sizes(), [`${listStep + 1}+`, '1', '1']);
    lists.showMore('active');
    deepStrictEqual(await sizes(), [`${2 * listStep + 1}+`, '1', '1']);
    lists.showMore('active');
    deepStrictEqual(await sizes(), [`${total - 2}`, '1', '1']);
    lists.filter = '  ';
    deepStrictEqual([lists.filter, await sizes()], ['', [`${listStep + 1}+`, '1', '1']]);
    const titles = async (filter: string) => {
      lists.filter = filter;
      const { active, archived, trashed } = await lists.load(store);
      return [active, archived, trashed].map(({ sessions }) => sessions.map(({ title }) => title).join());
    };
    deepStrictEqual(
      [await titles('NUMBER 20 '), await titles('#work'), await titles('#wor')],
      [
        ['number 209,number 208,number 207,number 206,number 205,number 204,number 203,number 202,number 201,number 200,number 20', '', ''],
        ['number 2', '', ''],
        ['', '', ''],
      ],
    );
    await store.close();
  });
});
