import { deepStrictEqual, strictEqual } from 'node:assert';
import { UuidV7 } from '../../../../../src/node/runtime/ids';
import type { ViewSnapshot } from '../../../../../src/protocol/messages';
import type { ChatPlace } from '../../../../../src/vscode/chat/places/chatPlaces';
import { commandPlace } from '../../../../../src/vscode/chat/places/commandPlace';
import { selectionArgument } from '../../../../../src/vscode/manifest';
import { says, type Script } from '../../../../support/chat/scriptedModel';
import type { ChatWindow } from '../../../../support/vscode/chatWindow';
import { useChatWindow } from '../../../../support/vscode/useChatWindow';
import { waitFor } from '../../../../support/waitFor';

/** A chat in an editor, as far as it needs no VS Code. */
interface Editor extends ChatPlace {
  visible: boolean;
  readonly snapshots: ViewSnapshot[];
  close(): void;
}

function openEditor(window: ChatWindow, id: string): Editor {
  const { places, memory } = window;
  const editor: Editor = {
    visible: true,
    snapshots: [],
    controller: places.controllerFor(() => editor, memory.chatEditor(id)),
    reveal: async () => void window.revealed.push(id),
    focusComposer: () => undefined,
    leave: async () => editor.close(),
    close: () => added.dispose(),
  };
  const added = places.add(editor);
  editor.controller.feed.attach({
    get visible() {
      return editor.visible;
    },
    get ready() {
      return editor.visible;
    },
    snapshot: (snapshot) => editor.snapshots.push(snapshot),
    delta: () => undefined,
  });
  return editor;
}

/** An answer that waits until the test lets it go on. */
function held(text: string): { readonly script: Script; readonly release: () => void } {
  let release = () => {};
  const hold = new Promise<void>((resolve) => (release = resolve));
  return { script: [...says(text).slice(0, 1), { hold }, ...says(text).slice(1)], release };
}

const send = (place: ChatPlace, text: string) => place.controller.active.send(new UuidV7().next(), text);
const shown = ({ controller }: ChatPlace) => controller.active.session?.title ?? null;
const idle = (place: ChatPlace) => waitFor('the end of the turn', () => !place.controller.state.busy);

describe('the places that show a chat', () => {
  const opened = useChatWindow();

  /** A session in the side bar and another one in an editor, with nothing running. */
  async function two(): Promise<{ window: ChatWindow; editor: Editor; inEditor: string; inSideBar: string }> {
    const window = opened();
    const editor = openEditor(window, 'a');
    await window.ask('In the side bar');
    window.model.scripts.push(says('Yes.'));
    await send(editor, 'In the editor');
    await idle(editor);
    const uuidOf = ({ controller }: ChatPlace) => controller.active.session!.uuid;
    return { window, editor, inEditor: uuidOf(editor), inSideBar: uuidOf(window.places.sideBar) };
  }

  it('list a new session by its title as soon as it has one', async () => {
    const window = opened();
    await window.ask('When is high water?');
    const listed = () => window.deltas.findLast((delta) => delta.kind === 'sessions')?.sessions.map(({ title }) => title);
    await waitFor('the title', () => listed()?.join() === 'When is high water?');
  });

  it('answer at once, each in its own session', async () => {
    const { places, model, memory } = opened();
    const editor = openEditor(opened(), 'a');
    const [one, other] = [held('In the side bar.'), held('In the editor.')];
    model.scripts.push(one.script, other.script);
    await send(places.sideBar, 'First');
    await waitFor('the first request', () => model.requests.length === 1);
    await send(editor, 'Second');
    await waitFor('both answers', () => model.requests.length === 2 && places.chats.answering.length === 2);
    deepStrictEqual([shown(places.sideBar), shown(editor)], ['First', 'Second']);
    one.release();
    other.release();
    await idle(places.sideBar);
    await idle(editor);
    deepStrictEqual(memory.sessionsInEditors(), [editor.controller.active.session!.uuid]);
    strictEqual(memory.lastSession(), places.sideBar.controller.active.session!.uuid);
  });

  it('have a session in one of them at most: it is gone to where it is', async () => {
    const { window, editor, inEditor, inSideBar } = await two();
    const { places } = window;
    await places.show(inEditor, places.sideBar);
    await places.show(inSideBar, editor, { preserveFocus: true });
    await places.sideBar.controller.active.openSession(inEditor);
    deepStrictEqual(window.revealed, ['a', 'side bar', 'a']);
    deepStrictEqual([shown(places.sideBar), shown(editor)], ['In the side bar', 'In the editor']);
  });

  it('lose nothing with an editor that is closed: the turn goes on, and what was written waits in the side bar', async () => {
    const { window, editor, inEditor } = await two();
    const { places, model } = window;
    const answer = held('Ended without its editor.');
    model.scripts.push(answer.script);
    await send(editor, 'Go on');
    await waitFor('the answer to begin', () => places.chats.answering.length === 1);
    editor.close();
    deepStrictEqual([places.chats.answering, places.all.length], [[inEditor], 1]);
    await places.show(inEditor, editor);
    answer.release();
    await idle(places.sideBar);
    strictEqual((await window.texts()).at(-1), 'Ended without its editor.');
    places.sideBar.controller.active.adopt({ text: 'Half a thought', attachments: [] });
    await places.sideBar.controller.active.newSession();
    strictEqual(window.last.draft, 'Half a thought');
  });

  it('are read anew when the store has been opened again', async () => {
    const { window, editor } = await two();
    const before = [window.places.sideBar, editor].map(({ controller }) => controller.active.chat);
    await window.places.reopenStore({});
    const now = [window.places.sideBar, editor].map(({ controller }) => controller.active.chat);
    deepStrictEqual(
      [now.map((chat) => chat?.session.title), now.some((chat, at) => chat === before[at])],
      [['In the side bar', 'In the editor'], false],
    );
  });

  it('are in use as the user goes from one to the other; out of sight gives way to the side bar', async () => {
    const { window, editor } = await two();
    const { places } = window;
    const states: (string | null)[] = [];
    places.onDidChangeState(() => states.push(shown(places.current)));
    places.use(editor);
    places.use(editor);
    deepStrictEqual(states, ['In the editor']);
    editor.visible = false;
    strictEqual(places.current, places.sideBar);
    window.visible = false;
    strictEqual(places.current, editor);
    editor.close();
    strictEqual(places.current, places.sideBar);
  });

  it('get the commands that are about them', async () => {
    const { window, editor, inEditor, inSideBar } = await two();
    const { places } = window;
    const nothing = { preview: undefined, review: undefined };
    const row = { kind: 'session' };
    places.use(editor);
    deepStrictEqual(
      [
        commandPlace('compact', [], places, nothing),
        commandPlace('stop', [], places, nothing),
        commandPlace('openSession', [row], places, nothing),
        commandPlace('openSession', [inSideBar], places, nothing),
        commandPlace('openSession', ['not open'], places, nothing),
        commandPlace('trashSession', [selectionArgument], places, nothing),
        commandPlace('applyPreview', [], places, { ...nothing, preview: inSideBar }),
        commandPlace('keepAllChanges', [], places, { ...nothing, review: inSideBar }),
        commandPlace('keepAllChanges', [], places, { ...nothing, review: inEditor }),
      ].map((place) => (place === editor ? 'editor' : 'side bar')),
      ['editor', 'editor', 'side bar', 'side bar', 'side bar', 'side bar', 'side bar', 'side bar', 'editor'],
    );
  });

  it('come back with what they had, and the newest session only where nothing is remembered', async () => {
    const { window, inEditor } = await two();
    const again = openEditor(window, 'a');
    deepStrictEqual(window.memory.chatEditor('a').lastSession(), inEditor);
    const fresh = openEditor(window, 'b');
    await again.controller.ready();
    await fresh.controller.ready();
    // The first editor still has the session.
    deepStrictEqual([shown(again), shown(fresh)], [null, null]);
    await window.memory.forgetChatEditor('a');
    deepStrictEqual([window.memory.sessionsInEditors(), window.memory.chatEditor('a').lastSession()], [[], null]);
  });

  it('know the chat of an editor that is closed while its message is being sent', async () => {
    const window = opened();
    const editor = openEditor(window, 'a');
    await editor.controller.ready();
    const { script, release } = held('Yes.');
    window.model.scripts.push(script);
    const sent = send(editor, 'Sent, and closed');
    editor.close();
    await sent;
    await waitFor('the request', () => window.model.requests.length === 1);
    const [session] = await window.places.list.read();
    const { answering } = window.places.chats;
    await window.places.show(session!.uuid, window.places.sideBar);
    const { busy } = window.controller.state;
    release();
    deepStrictEqual({ answering, busy }, { answering: [session!.uuid], busy: true });
  });

  it('have no chat of an editor that is closed while its session is being opened', async () => {
    const window = opened();
    await window.ask('One');
    const { active } = window.controller;
    const { uuid } = active.session!;
    await active.newSession();
    const editor = openEditor(window, 'a');
    await editor.controller.ready();
    const opening = editor.controller.active.openSession(uuid);
    editor.close();
    await opening;
    strictEqual(editor.controller.active.chat, null);
    await active.openSession(uuid);
    strictEqual(window.places.chats.all.length, 1);
  });
});
