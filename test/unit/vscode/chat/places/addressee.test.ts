import { deepStrictEqual, rejects } from 'node:assert';
import type { SessionStore } from '../../../../../src/core/ports';
import type { Written } from '../../../../../src/core/session/userMessage';
import { ChatWindow } from '../../../../support/vscode/chatWindow';
import { says } from '../../../../support/chat/scriptedModel';
import { openTestStore, tempFolder } from '../../../../support/store/storeTemp';
import { waitFor } from '../../../../support/waitFor';

describe('what is meant for a session that is left meanwhile', () => {
  let temp: ReturnType<typeof tempFolder>;
  let window: ChatWindow;
  let store: SessionStore;
  let first: string;
  let second: string;

  beforeEach(async () => {
    temp = tempFolder();
    window = new ChatWindow(temp.path, new Map(), async () => (store = await openTestStore(temp.path)));
    const { active } = window.controller;
    await window.ask('One');
    first = active.session!.uuid;
    await active.newSession();
    await window.ask('Two');
    second = active.session!.uuid;
    await active.openSession(first);
    window.model.scripts.push(says('Yes.'));
  });
  afterEach(async () => {
    await window.close();
    temp.remove();
  });

  const answered = () => waitFor('the end of every turn', () => window.places.chats.answering.length === 0);
  const textsOf = async (session: string) => {
    return (await store.page(session, { limit: 100 })).entries.flatMap(({ content }) => (content.type === 'message' ? content.text : []));
  };

  it('is sent in it, and not in the one that is being opened', async () => {
    const { active } = window.controller;
    await active.saveDraft('And');
    const opening = active.openSession(second);
    await active.send('m', 'And more', [], { session: first });
    await opening;
    await answered();
    deepStrictEqual(
      { shown: active.session?.uuid, first: await textsOf(first), second: await textsOf(second), open: window.places.chats.sessions },
      { shown: second, first: ['One', 'Yes.', 'And more', 'Yes.'], second: ['Two', 'Yes.'], open: [second] },
    );
    // A view that has not heard of the switch yet has the message twice over a lost reply.
    await active.send('m', 'And more', [], { session: first });
    await active.openSession(first);
    deepStrictEqual([window.last.draft, await window.texts()], ['', ['One', 'Yes.', 'And more', 'Yes.']]);
  });

  it('clears what was kept of it as a draft when its session was left', async () => {
    const { active } = window.controller;
    await active.saveDraft('And more');
    await active.openSession(second);
    await active.saveDraft('Of the second');
    await active.send('m', 'And more', [], { session: first });
    await answered();
    deepStrictEqual([active.draft.text, (await store.draft(first))?.text], ['Of the second', undefined]);
  });

  it('begins a session of its own where it was written for none', async () => {
    const { active } = window.controller;
    await active.newSession();
    await active.saveDraft('Three');
    const opening = active.openSession(second);
    const from = window.snapshots.length;
    await active.send('m', 'Three', [], { session: null });
    await opening;
    await answered();
    const begun = active.session!.uuid;
    deepStrictEqual(
      {
        begun: await textsOf(begun),
        second: await textsOf(second),
        shown: window.snapshots.slice(from).map(({ session, rows, draft }) => [session?.uuid ?? null, rows.length, draft]),
        draft: active.draft.text,
      },
      {
        begun: ['Three', 'Yes.'],
        second: ['Two', 'Yes.'],
        shown: [
          [second, 2, ''],
          [null, 0, ''],
        ],
        draft: '',
      },
    );
    deepStrictEqual(await window.texts(), ['Three', 'Yes.']);
  });

  it('is one session still when it is opened again while that is done', async () => {
    const { active } = window.controller;
    await active.openSession(second);
    const sending = active.send('m', 'And more', [], { session: first });
    await active.openSession(first);
    await sending;
    await answered();
    deepStrictEqual(
      { open: window.places.chats.sessions, texts: await window.texts() },
      { open: [first], texts: ['One', 'Yes.', 'And more', 'Yes.'] },
    );
    await window.ask('Last');
    deepStrictEqual((await textsOf(first)).slice(-2), ['Last', 'Yes.']);
  });

  it('is chosen for it', async () => {
    const { active, choices } = window.controller;
    const session = active.addressee;
    await active.openSession(second);
    await choices.setModel('ollama/scripted-1', session);
    await choices.setPlanning(true, session);
    const [one, two] = [await store.session(first), await store.session(second)];
    deepStrictEqual(
      { models: [one?.model, two?.model], planning: [one?.metadata['mode'], two?.metadata['mode']], open: window.places.chats.sessions },
      { models: ['ollama/scripted-1', null], planning: ['plan', undefined], open: [second] },
    );
    await active.openSession(first);
    deepStrictEqual([choices.model, choices.planning], ['ollama/scripted-1', true]);
  });

  it('is done in one chat of the session, however much of it there is at once', async () => {
    const { active, choices } = window.controller;
    await active.openSession(second);
    await Promise.all([
      choices.setModel('ollama/scripted-1', first),
      choices.setPlanning(true, first),
      active.send('m', 'And more', [], { session: first }),
      choices.setModel('ollama/scripted-2', first),
    ]);
    await answered();
    const session = await store.session(first);
    deepStrictEqual(
      [session?.model, session?.metadata['mode'], await textsOf(first), window.places.chats.sessions],
      ['ollama/scripted-2', 'plan', ['One', 'Yes.', 'And more', 'Yes.'], [second]],
    );
  });

  it('stands in front of what has been written there since when it comes back, and of a new message where the session is gone', async () => {
    const { active } = window.controller;
    const back = { text: '/model foo', attachments: [] };
    const since = { text: 'a long question', attachments: [] };
    await active.keepDraft(first, since);
    await active.giveBack(first, back);
    await active.openSession(second);
    await active.keepDraft(null, since);
    for (const session of [null, first, 'gone']) await active.giveBack(session, back);
    const drafts = [
      (await store.draft(first))?.text,
      (window.memory.newSessionDraft() as { draft?: Written } | undefined)?.draft?.text,
      active.draft.text,
    ];
    deepStrictEqual(drafts, ['/model foo\n\n/model foo\n\na long question', '/model foo\n\n/model foo\n\na long question', '']);
  });

  it('is refused where it is gone', async () => {
    const { active, choices } = window.controller;
    await rejects(active.send('m', 'x', [], { session: 'gone' }), /does not exist any more/);
    await rejects(choices.setModel('ollama/scripted-1', 'gone'), /does not exist any more/);
    deepStrictEqual(await textsOf(first), ['One', 'Yes.']);
  });
});
