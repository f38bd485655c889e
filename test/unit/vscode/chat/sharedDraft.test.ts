import { deepStrictEqual, strictEqual } from 'node:assert';
import { nothingWritten } from '../../../../src/core/session/userMessage';
import { says } from '../../../support/chat/scriptedModel';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { openTestStore, tempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

describe('a draft that two windows show', () => {
  let temp: ReturnType<typeof tempFolder>;
  let one: ChatWindow;
  let other: ChatWindow;
  const written = ({ controller }: ChatWindow) => controller.active.draft.text;
  const drafts = ({ deltas }: ChatWindow) => deltas.filter(({ kind }) => kind === 'draft');

  beforeEach(async () => {
    temp = tempFolder();
    const open = (label: string) => new ChatWindow(temp.path, new Map(), () => openTestStore(temp.path, label));
    one = open('one');
    await one.ask('One');
    await one.controller.active.saveDraft('half a thought');
    other = open('other');
    await other.controller.ready();
  });
  afterEach(async () => {
    for (const window of [other, one]) await window.close();
    temp.remove();
  });

  it('leaves the other composer when it is sent, and cannot be sent twice', async () => {
    deepStrictEqual([one, other].map(written), ['half a thought', 'half a thought']);
    await one.ask('half a thought');
    await waitFor('the empty composer', () => written(other) === '');
    deepStrictEqual(drafts(other), [{ kind: 'draft', text: '', replaces: 'half a thought' }]);
  });

  it('changes in the other composer as it is written on, and stays where it was changed there', async () => {
    await one.controller.active.saveDraft('half a thought, and the rest');
    await waitFor('the longer draft', () => written(other) === 'half a thought, and the rest');
    one.controller.active.chat!.draft = { text: 'typed, and not saved yet', attachments: [] };
    await other.controller.active.saveDraft('');
    await other.ask('Two');
    await waitFor('the second turn', async () => (await one.texts()).length === 4);
    deepStrictEqual([one, other].map(written), ['typed, and not saved yet', '']);
  });

  it('belongs to a session that is answered by the model that was chosen last, in whichever window', async () => {
    const answering = () => [one, other].map(({ controller }) => [controller.choices.model, controller.choices.thinkingLevel]);
    await one.controller.choices.setModel('ollama/scripted-1');
    await one.controller.choices.setThinkingLevel('high');
    await waitFor('the choice', () => other.controller.choices.thinkingLevel === 'high');
    deepStrictEqual(answering(), [
      ['ollama/scripted-1', 'high'],
      ['ollama/scripted-1', 'high'],
    ]);
    await other.ask('Two');
    deepStrictEqual(other.model.requests.at(-1)?.thinking, 'high');
  });

  it('stays where a message is sent that was not written in the composer', async () => {
    const { active } = one.controller;
    one.model.scripts.push(says('Yes.'));
    await active.send('plan', 'Carry out this plan', [], { stale: nothingWritten });
    await one.idle();
    await waitFor('the second turn', async () => (await other.texts()).length === 4);
    const store = await openTestStore(temp.path, 'reader');
    const stored = await store.draft(active.session!.uuid);
    await store.close();
    deepStrictEqual([written(one), written(other), stored?.text], ['half a thought', 'half a thought', 'half a thought']);
  });

  it('is written for a new session where a backup that was restored has not the one on show', async () => {
    const before = tempFolder();
    let folder = temp.path;
    const window = new ChatWindow(temp.path, new Map(), () => openTestStore(folder, 'restoring'));
    await window.controller.ready();
    folder = before.path;
    await window.places.reopenStore({ between: async () => undefined });
    await waitFor('the words', () => window.last.session === null && window.last.draft === 'half a thought');
    deepStrictEqual([window.controller.active.session, window.last.rows], [null, []]);
    await window.ask('half a thought');
    deepStrictEqual(await window.texts(), ['half a thought', 'Yes.']);
    // Without such words the chat shows the history that was restored.
    folder = temp.path;
    await window.places.reopenStore({ between: async () => undefined });
    await waitFor('the newest of the other history', () => window.last.session?.title === 'One');
    deepStrictEqual(await window.texts(), ['One', 'Yes.']);
    await window.close();
    before.remove();
  });

  it('is replaced only where it is what was expected', async () => {
    const { active } = one.controller;
    const [nothing, again] = [nothingWritten, { text: 'Said before', attachments: [] }];
    await active.replaceDraft(nothing, again);
    strictEqual(written(one), 'half a thought');
    await active.saveDraft('');
    await active.replaceDraft(nothing, again);
    deepStrictEqual([written(one), drafts(one)], ['Said before', [{ kind: 'draft', text: 'Said before', replaces: '' }]]);
  });

  it('stays where it is while another one is written and sent elsewhere', async () => {
    await other.controller.active.saveDraft('another thought');
    await other.ask('another thought');
    await waitFor('the second turn', async () => (await one.texts()).length === 4);
    deepStrictEqual([[one, other].map(written), drafts(one)], [['half a thought', ''], []]);
  });

  it('does not come to a composer that is empty', async () => {
    await other.controller.active.saveDraft('');
    await waitFor('the empty composer', () => written(one) === '');
    await one.controller.active.saveDraft('begun here');
    await one.ask('Two');
    await waitFor('the second turn', async () => (await other.texts()).length === 4);
    deepStrictEqual([drafts(other), written(other)], [[], '']);
  });
});
