import { deepStrictEqual } from 'node:assert';
import { commandPlace } from '../../../../src/vscode/chat/places/commandPlace';
import { ReviewCommands, type ReviewCommandsDeps } from '../../../../src/vscode/rewind/reviewCommands';
import { useChatWindow } from '../../../support/vscode/useChatWindow';

describe('an open review whose session is not on show any more', () => {
  const opened = useChatWindow();

  it('is decided about for its own session, and adds nothing to the chat that is on show instead', async () => {
    const window = opened();
    await window.ask('Change the files');
    const { active } = window.controller;
    const session = active.session!.uuid;
    const turn = active.chat!.conversation.entries[0]!;
    await active.newSession();
    const place = () => commandPlace('keepAllChanges', [], window.places, { preview: undefined, review: session });
    const review = { session, turn: 't', isLast: true, files: [] };
    const kept: string[] = [];
    const marks = [{ ...turn, content: { type: 'file_changes', source: 'review', files: [], were: [] } }];
    const keepAll = () =>
      new ReviewCommands({
        active: place().controller.active,
        chats: window.places.chats,
        reviewer: async () => ({ keep: async () => (kept.push(session), marks), find: async () => null }),
        restores: {},
        open: { current: review, all: [], refresh: async () => undefined },
        tell: () => undefined,
      } as unknown as ReviewCommandsDeps).all.keepAllChanges([]);
    await keepAll();
    await window.ask('Another session');
    const told: string[] = [];
    active.chat!.conversation.onDidEmit((event) => {
      if (event.type === 'entry_appended') told.push(event.entry.session);
    });
    await keepAll();
    deepStrictEqual({ kept, told }, { kept: [session, session], told: [] });
  });
});
