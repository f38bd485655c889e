import { deepStrictEqual } from 'node:assert';
import type { Conversation } from '../../../../src/core/chat/conversation';
import type { StoredEntry } from '../../../../src/core/session/entry';
import type { ModelSource } from '../../../../src/vscode/models/modelSource';
import { SessionTab } from '../../../../src/vscode/chat/sessionTab';
import { ChatViewFeed } from '../../../../src/vscode/chat/chatViewFeed';
import { silentLog } from '../../../support/chat/conversationRig';
import { openTestStore, tempFolder, userMessage } from '../../../support/store/storeTemp';

describe('the way to an entry', () => {
  it('leads to its row wherever it is on the branch, and nowhere from another branch', async () => {
    const temp = tempFolder();
    const store = await openTestStore(temp.path);
    const { uuid: session } = await store.createSession({ uuid: 's', channel: 'vscode', createdAt: 1 });
    const entries = Array.from({ length: 1_900 }, (_, i) =>
      userMessage(session, i === 0 ? null : `e${i - 1}`, `message ${i}`, { uuid: `e${i}` }),
    );
    const call = userMessage(session, 'e1899', '', { uuid: 'call', content: { type: 'tool_call', callId: 'c', name: 'grep', input: {} } });
    const result = userMessage(session, 'call', '', {
      uuid: 'result',
      content: { type: 'tool_result', callId: 'c', name: 'grep', text: 'found', status: 'ok' },
    });
    await store.append(session, { entries: [...entries, call, result] });
    await store.append(session, { entries: [userMessage(session, 'e5', 'elsewhere', { uuid: 'branch' })] });
    await store.moveLeaf(session, 'result');
    const conversation = {
      session: (await store.session(session))!,
      entries: [] as StoredEntry[],
      excerpted: new Set(),
      queued: [],
      pins: async () => [],
      savings: async () => [],
      onDidEmit: () => ({ dispose: () => undefined }),
      follow: async () => undefined,
      dispose: () => undefined,
    };
    const models = { fallback: () => ({}), resolve: async () => ({}), resolveInTime: async () => ({}) } as unknown as ModelSource;
    const chat = await SessionTab.open(
      {
        store,
        openConversation: async () => conversation as unknown as Conversation,
        models,
        fullQuestions: { answer: () => false },
        log: silentLog,
        now: Date.now,
      },
      conversation.session,
    );
    deepStrictEqual(await Promise.all(['e1899', 'e3', 'e0', 'result', 'branch', 'nobody'].map((uuid) => chat.rowOf(uuid))), [
      'e1899',
      'e3',
      'e0',
      'call',
      null,
      null,
    ]);
    chat.dispose();
    await store.close();
    temp.remove();
  });

  it('is gone once the view is there: at once when it is shown, else after its next snapshot', () => {
    const told: string[] = [];
    const source = {
      store: { current: null, failure: null },
      models: { connection: () => ({}) },
      isTrusted: () => true,
      policy: () => ({ preset: 'balanced', overrides: {} }),
      newSession: { draft: { text: '', attachments: [] }, connection: {} },
      sessions: () => [],
    };
    const feed = new ChatViewFeed(source as unknown as ConstructorParameters<typeof ChatViewFeed>[0]);
    const surface = {
      visible: true,
      ready: false,
      snapshot: () => void told.push('snapshot'),
      delta: (delta: { kind: string }) => void told.push(delta.kind),
    };
    feed.attach(surface);
    feed.reveal('a');
    deepStrictEqual(told, []);
    feed.snapshot();
    feed.snapshot();
    surface.ready = true;
    feed.reveal('b');
    deepStrictEqual(told, ['snapshot', 'reveal', 'snapshot', 'reveal']);
  });
});
