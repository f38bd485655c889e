import assert from 'node:assert/strict';
import type { SessionStore } from '../../../src/core/ports';
import { MessagesApi } from '../../support/messagesApi/messagesApi';
import { runCliToEnd } from '../../support/run/runCliToEnd';
import { openTestStore, tempFolder, userMessage, type TempFolder } from '../../support/store/storeTemp';

describe('threadkeeper compact', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let id: string;
  let api: MessagesApi;

  before(async () => {
    temp = tempFolder();
    api = await MessagesApi.start();
    api.setModel('claude-test', { window: 12_000, maxOutput: 1_000 });
    store = await openTestStore(temp.path);
    ({ id } = await store.createSession({ uuid: 's', channel: 'cli', createdAt: 1 }));
    for (let i = 0; i < 30; i++) {
      const text = i % 2 === 0 ? `Step ${i}: the ferry leaves at six. ${`tide${i} `.repeat(150)}` : `Done with step ${i}.`;
      const said =
        i % 2 === 0 ? { role: 'user' as const } : { role: 'assistant' as const, provider: 'anthropic', model: 'claude-haiku-4-5' };
      const content = { type: 'message' as const, text, ...said };
      await store.append('s', {
        entries: [userMessage('s', i === 0 ? null : `e${i - 1}`, '', { uuid: `e${i}`, content, tokenEstimate: null })],
      });
    }
  });
  after(async () => {
    await store.close();
    await api.close();
    temp.remove();
  });

  const compact = (...flags: string[]) =>
    runCliToEnd(['compact', id, '--store', temp.path, '--base-url', api.url, '--model', 'claude-test', ...flags], {
      ...process.env,
      ANTHROPIC_API_KEY: api.apiKey,
    });
  const folded = async () => (await store.liveBranch('s')).entries.filter(({ content }) => content.type === 'compaction').length;

  it('says what was folded and what is left of it, while the store is in use, and takes it back', async () => {
    const done = await compact();
    assert.equal(done.code, 0, done.err);
    assert.match(done.out, /^26 messages folded: [\d,]+ tokens before, [\d,]+ after \(model, claude-test\)\.\n\n\S/);
    const undone = await compact('--undo');
    assert.deepEqual([undone.code, undone.out], [0, 'The last compaction has been taken back.\n']);
    const nothing = await compact('--undo', '--json');
    const { ok, message } = JSON.parse(nothing.out) as { ok: boolean; message: string };
    assert.deepEqual([nothing.code, ok, typeof message, await folded()], [3, false, 'string', 1]);
  });
});
