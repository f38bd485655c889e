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

  it('is closed also where a companion cannot let go of it, and its companions go on once it could be opened again', async () => {
    const temp = tempFolder();
    const happened: string[] = [];
    let isBroken = false;
    const access = new StoreAccess(async () => {
      if (isBroken) throw new Error('no disk');
      const store = await openTestStore(temp.path);
      const close = () => (happened.push('close'), store.close());
      return Object.assign(Object.create(store) as typeof store, { close });
    }, log);
    access.companions.push(
      { pause: () => Promise.reject(new Error('stuck')), resume: () => void happened.push('first goes on') },
      { pause: async () => void happened.push('second lets go'), resume: () => void happened.push('second goes on') },
    );
    await access.get();
    isBroken = true;
    await assert.rejects(access.reopen({ between: async () => void happened.push('between') }), /no disk/);
    assert.deepEqual(happened.splice(0), ['second lets go', 'close', 'between']);
    isBroken = false;
    await access.get();
    await access.get();
    assert.deepEqual(happened.splice(0), ['first goes on', 'second goes on']);
    await access.close();
    temp.remove();
  });
});
