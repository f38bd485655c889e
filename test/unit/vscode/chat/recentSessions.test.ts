import { deepStrictEqual } from 'node:assert';
import { OtherSessions } from '../../../../src/vscode/sessions/tree/otherSessions';
import { SessionList } from '../../../../src/vscode/chat/recentSessions';
import type { OtherWorkspace } from '../../../../src/vscode/sessions/tree/otherWorkspace';
import { openTestStore, tempFolder, testUuid } from '../../../support/store/storeTemp';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('sessions of a long history', () => {
  const folder = tempFolder();
  after(() => folder.remove());

  it('are all counted, however many are listed', async () => {
    const store = await openTestStore(folder.path);
    const list = new SessionList({ store: { get: () => Promise.resolve(store) }, changed: () => undefined, log });
    const others = new OtherSessions({ list: () => Promise.resolve([]), open: () => openTestStore(folder.path, 'another window'), log });
    const elsewhere: OtherWorkspace = {
      folder: folder.path,
      name: 'a',
      place: '/a',
      sessionCount: null,
      lastUsed: 0,
      uri: null,
      gone: false,
    };
    await list.read();
    deepStrictEqual([list.sessions.length, list.count], [0, 0]);
    const one = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: 0 });
    await store.updateSession(one.uuid, { archivedAt: 1 });
    await list.read();
    deepStrictEqual([list.sessions.length, list.count], [0, 1]);
    for (let i = 1; i < 205; i++) await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: i });
    await list.read();
    deepStrictEqual([list.sessions.length, list.count], [200, 205]);
    const nodes = await others.nodes(elsewhere);
    deepStrictEqual(
      [nodes.length, nodes.at(-1)],
      [201, { kind: 'note', id: `older:${folder.path}`, text: '5 older sessions: open that workspace to see them', icon: 'ellipsis' }],
    );
    others.dispose();
    await store.close();
  });
});
