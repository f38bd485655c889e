import assert from 'node:assert/strict';
import type { MemoryNotes, SessionStore } from '../../../../src/core/ports';
import type { Session } from '../../../../src/core/session/session';
import { UuidV7 } from '../../../../src/node/runtime/ids';
import { sharedToolRuns } from '../../../../src/vscode/tools/sharedToolRuns';
import { storedSession } from '../../../support/agents/handedSessions';
import { openTestStore, tempFolder, type TempFolder } from '../../../support/store/storeTemp';

describe('the tools that other agents of the window are given', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let open: string | null;
  beforeEach(async () => {
    temp = tempFolder();
    store = await openTestStore(temp.path);
    open = null;
  });
  afterEach(async () => {
    await store.close();
    temp.remove();
  });

  const says = (text: string) => storedSession(store, [{ type: 'message', role: 'assistant', text }], temp.path);
  const forkOf = ({ leaf }: Session) =>
    store.forkSession(leaf!, { uuid: new UuidV7().next(), key: `chat:${new UuidV7().next()}`, channel: 'vscode', createdAt: 2 });
  const run = sharedToolRuns({ store: async () => store, notes: async () => ({}) as MemoryNotes, session: () => open });
  /** The words of the sessions that an answer has. */
  const told = async (name: 'recall' | 'search', input: object) =>
    [...new Set((await run(name, input, new AbortController().signal)).match(/zebra|wombat|numbat/g))].sort();

  it('show of the open session what is its own, and of all sessions nothing that is in the trash', async () => {
    const [shared, other, gone] = [await says('the zebra tide'), await says('the wombat tide'), await says('the numbat tide')];
    const fork = await forkOf(shared);
    await store.updateSession(gone.uuid, { deletedAt: 3 });
    const ids = { entryIds: ['#1', '#2', '#3', other.leaf!, gone.leaf!] };
    assert.deepEqual([await told('recall', ids), await told('recall', { query: 'tide' })], [[], []]);
    assert.match(await run('recall', ids, new AbortController().signal), /^No Threadkeeper session is open/);
    for (const { uuid } of [shared, fork]) {
      open = uuid;
      const asked = [ids, { query: 'tide' }, { query: 'tide', allSessions: true }, { around: '#1' }, { around: '#2' }];
      const answers = await Promise.all(asked.map((input) => told('recall', input)));
      assert.deepEqual(answers, [['zebra'], ['zebra'], ['zebra'], ['zebra'], []]);
    }
    assert.deepEqual(
      [await told('search', ids), await told('search', { query: 'tide' })],
      [
        ['wombat', 'zebra'],
        ['wombat', 'zebra'],
      ],
    );
  });
});
