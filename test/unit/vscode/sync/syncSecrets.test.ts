import { deepStrictEqual, strictEqual } from 'node:assert';
import type { SyncSetup } from '../../../../src/core/sync/syncStore';
import { setUpElsewhere } from '../../../../src/vscode/sync/setUpElsewhere';
import { SyncSecrets } from '../../../../src/vscode/sync/syncSecrets';

describe('keys and passwords in the keyring', () => {
  const engine = 'postgres://keeper@host/db';
  const phrase = Buffer.alloc(32, 7);

  function keyring() {
    const kept = new Map<string, string>();
    const secrets = new SyncSecrets({
      get: async (key) => kept.get(key),
      store: async (key, value) => void kept.set(key, value),
      delete: async (key) => void kept.delete(key),
    });
    return { kept, secrets };
  }

  it('leave it with the last workspace that uses them', async () => {
    const { kept, secrets } = keyring();
    await secrets.save({ history: 'a', engine }, '/one', phrase, 'secret');
    await secrets.save({ history: 'a', engine }, '/two', phrase, 'secret');
    await secrets.save({ history: 'b', engine }, '/three', phrase, 'secret');
    await secrets.forget({ history: 'a', engine }, '/one');
    deepStrictEqual([await secrets.key('a'), await secrets.password(engine)], [phrase, 'secret']);
    await secrets.forget({ history: 'a', engine }, '/two');
    deepStrictEqual([await secrets.key('a'), await secrets.key('b'), await secrets.lastKey()], [undefined, phrase, phrase]);
    await secrets.forget({ history: 'b', engine }, '/three');
    deepStrictEqual([...kept], [['threadkeeper.sync.uses', '[]']]);
  });

  it('do not bring a workspace back that somebody leaves while they are looked at', async () => {
    const { kept, secrets } = keyring();
    const setup = { history: 'a', name: 'main', engine };
    await secrets.save(setup, '/one', phrase, 'secret');
    const answers: (SyncSetup | null)[] = [setup, null];
    const found = await setUpElsewhere({ syncSetup: () => Promise.resolve(answers.shift() ?? null) }, secrets, '/one');
    deepStrictEqual([found, kept.size > 0], [null, true]);
  });

  it('know which workspace was set up, until somebody leaves there', async () => {
    const { secrets } = keyring();
    const setup = { history: 'a', name: 'main', engine };
    await secrets.save(setup, '/one', phrase, 'secret');
    await secrets.save(setup, '/two', phrase, 'secret');
    const found = (store: SyncSetup | null, workspace: string) =>
      setUpElsewhere({ syncSetup: () => Promise.resolve(store) }, secrets, workspace);
    deepStrictEqual([await found(setup, '/one'), await found(null, '/one'), await found(setup, '/three')], [setup, null, null]);
    await secrets.forget(setup, '/one');
    deepStrictEqual([await found(setup, '/one'), await found(setup, '/two')], [null, setup]);
  });

  it('keep another phrase that was used since', async () => {
    const { secrets } = keyring();
    const other = Buffer.alloc(32, 8);
    await secrets.save({ history: 'a', engine: '/shared' }, null, phrase, '');
    await secrets.save({ history: 'b', engine: '/shared' }, '/two', other, '');
    await secrets.forget({ history: 'a', engine: '/shared' }, null);
    deepStrictEqual(await secrets.lastKey(), other);
    strictEqual(await secrets.password('/shared'), undefined);
  });
});
