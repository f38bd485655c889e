import { deepStrictEqual } from 'node:assert';
import { SearchStore } from '../../../support/store/searchStore';
import { tempFolder, testUuid } from '../../../support/store/storeTemp';

describe('a fork whose original was deleted for good', () => {
  it('is searched with what it has inherited', async () => {
    const temp = tempFolder();
    const store = await SearchStore.open(temp.path);
    const origin = store.session(testUuid(), 'Origin');
    store.say(origin, 'The marmalade is in the cellar');
    const last = store.say(origin, 'And the quince is in the attic');
    store.index();
    const fork = store.core.forkSession(last, { uuid: testUuid(), channel: 'cli', createdAt: 1_763_800_001_000 }).uuid;
    deepStrictEqual(store.texts('marmalade', { session: fork })[0], 'The marmalade is in the cellar');
    store.core.updateSession(origin, { deletedAt: 1 });
    store.core.purge([origin]);
    store.index();
    deepStrictEqual(store.texts('marmalade', { session: fork })[0], 'The marmalade is in the cellar');
    store.database.close();
    temp.remove();
  });
});
