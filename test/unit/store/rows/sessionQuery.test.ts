import assert from 'node:assert/strict';
import type { SessionStore } from '../../../../src/core/ports';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../../support/store/storeTemp';

describe('sessions of a store', () => {
  let temp: TempFolder;
  let store: SessionStore;

  before(async () => {
    temp = tempFolder();
    store = await openTestStore(temp.path);
    const sessions = [
      { title: 'zebra 10', tokens: 5, cost: 0.5, user: 'u1' },
      { title: 'Äpfel', tokens: 50, cost: 2, user: 'u2' },
      { title: '', tokens: 500, cost: 0, user: 'u1' },
      { title: 'zebra 9', tokens: 1, cost: 1, user: 'u3' },
    ];
    for (const [i, { title, tokens, cost, user }] of sessions.entries()) {
      const { uuid } = await store.createSession({
        uuid: testUuid(),
        key: `telegram:${i}`,
        channel: 'cli',
        title,
        createdAt: 1_000 - i,
        metadata: { user_id: user, count: i },
      });
      const entry = { ...userMessage(uuid, null, title, { createdAt: 2_000 + i }), tokenEstimate: tokens };
      await store.append(uuid, {
        entries: [entry],
        usage: [
          {
            entry: entry.uuid,
            provider: 'anthropic',
            model: 'm',
            kind: 'turn',
            input: 1,
            output: 1,
            cacheRead: 0,
            cacheWrite: 0,
            cost,
            at: 1,
          },
        ],
      });
    }
  });
  after(async () => {
    await store.close();
    temp.remove();
  });

  const titles = async (query: Parameters<SessionStore['listSessions']>[0]) => (await store.listSessions(query)).map(({ title }) => title);

  it('are sorted by last use, creation, title, tokens said, or cost (seed 000)', async () => {
    assert.deepEqual(await titles({}), ['zebra 9', '', 'Äpfel', 'zebra 10']);
    assert.deepEqual(await titles({ sort: 'created' }), ['zebra 10', 'Äpfel', '', 'zebra 9']);
    assert.deepEqual(await titles({ sort: 'title' }), ['Äpfel', 'zebra 9', 'zebra 10', '']);
    assert.deepEqual(await titles({ sort: 'title', limit: 2 }), ['Äpfel', 'zebra 9'], 'a limit takes the first by title, not the newest');
    assert.deepEqual(await titles({ sort: 'tokens' }), ['', 'Äpfel', 'zebra 10', 'zebra 9']);
    assert.deepEqual(await titles({ sort: 'cost', limit: 2 }), ['Äpfel', 'zebra 9']);
  });

  it('are found by their metadata and by their key', async () => {
    assert.deepEqual((await titles({ metadata: { user_id: 'u1' } })).sort(), ['', 'zebra 10']);
    assert.deepEqual(await titles({ metadata: { user_id: 'u1', count: 0 } }), ['zebra 10']);
    assert.deepEqual(await titles({ key: 'telegram:1' }), ['Äpfel']);
  });

  it('get another key where it is free and one, and keep that of an import', async () => {
    const [session] = await store.listSessions({ key: 'telegram:3' });
    const { uuid } = session!;
    await assert.rejects(store.updateSession(uuid, { key: 'telegram:1' }), /has the key telegram:1/);
    await assert.rejects(store.updateSession(uuid, { key: 'no key' }), /is no key of a session/);
    assert.equal((await store.updateSession(uuid, { key: 'whatsapp:+1234567890' })).key, 'whatsapp:+1234567890');
    assert.equal((await store.createSession({ uuid: testUuid(), key: 'whatsapp:+1234567890', channel: 'cli', createdAt: 5 })).uuid, uuid);
    const imported = await store.createSession({ uuid: testUuid(), key: 'import:pi:x', channel: 'import', createdAt: 5 });
    await assert.rejects(store.updateSession(imported.uuid, { key: 'cli:direct' }), /cannot be changed/);
  });
});
