import { deepStrictEqual } from 'node:assert';
import { SessionLists, listStep } from '../../../src/vscode/sessionLists';
import { openTestStore, tempFolder, testUuid } from '../../support/storeTemp';
import { now } from './sessions';

describe('the Sessions view: what it reads', () => {
  const folder = tempFolder();
  after(() => folder.remove());

  it('reads so many of each list at a time, and more when asked', async () => {
    const store = await openTestStore(folder.path);
    const total = 2 * listStep + 5;
    for (let i = 0; i < total; i++) {
      const session = await store.createSession({ uuid: testUuid(), channel: 'vscode', title: `number ${i}`, createdAt: now + i });
      if (i === 0) await store.updateSession(session.uuid, { archivedAt: now });
      if (i === 1) await store.updateSession(session.uuid, { archivedAt: now, deletedAt: now });
    }
    const lists = new SessionLists();
    const sizes = async () => {
      const { active, archived, trashed } = await lists.load(store);
      return [active, archived, trashed].map(({ sessions, hasMore }) => `${sessions.length}${hasMore ? '+' : ''}`);
    };
    deepStrictEqual(await sizes(), [`${listStep}+`, '1', '1']);
    lists.showMore('active');
    deepStrictEqual(await sizes(), [`${2 * listStep}+`, '1', '1']);
    lists.showMore('active');
    deepStrictEqual(await sizes(), [`${total - 2}`, '1', '1']);
    lists.filter = '  ';
    deepStrictEqual([lists.filter, await sizes()], ['', [`${listStep}+`, '1', '1']]);
    await store.close();
  });
});
