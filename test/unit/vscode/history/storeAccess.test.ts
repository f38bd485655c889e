import assert from 'node:assert/strict';
import { openTestStore, tempFolder } from '../../../support/store/storeTemp';
import { StoreAccess } from '../../../../src/vscode/history/storeAccess';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('store access', () => {
  it('has its companion let go of the store before it is closed, and tells it when it is open again', async () => {
    const temp = tempFolder();
    const happened: string[] = [];
    const access = new StoreAccess(async () => {
      happened.push('open');
      const store = await openTestStore(temp.path);
      return Object.assign(Object.create(store) as typeof store, {
        close: () => {
          happened.push('close');
          return store.close();
        },
      });
    }, log);
    access.companions.push({
      pause: async () => {
        await Promise.resolve();
        happened.push('pause');
      },
      resume: () => void happened.push('resume'),
    });
    await access.get();
    await access.reopen({ between: async () => void happened.push('between') });
    await access.close();
    temp.remove();
    assert.deepEqual(happened, ['open', 'pause', 'close', 'between', 'open', 'resume', 'pause', 'close']);
  });
});
