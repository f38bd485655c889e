import { windowDouble } from '../../../support/vscode/windowDouble';
import { deepStrictEqual, rejects } from 'node:assert';
import { nothingWritten } from '../../../../src/core/session/userMessage';
import { RestoreCommands, type RestoreCommandsDeps } from '../../../../src/vscode/rewind/restoreCommands';
import { says } from '../../../support/chat/scriptedModel';
import { FilesRig } from '../../../support/rewind/filesRig';
import { waitFor } from '../../../support/waitFor';

describe('a restore whose list of files was still open when a message was sent', () => {
  it('is refused: no file is changed under the turn that runs', async () => {
    const all = await FilesRig.create();
    const { rig } = all;
    const gate = rig.gate();
    let turn: Promise<unknown> = Promise.resolve();
    try {
      const first = await all.turn('one', 'a.txt', 'a1\n');
      await all.turn('two', 'a.txt', 'a2\n');
      windowDouble.window = {
        showQuickPick: async (items: readonly { readonly scope?: string }[], options: { readonly canPickMany?: boolean }) => {
          if (!options.canPickMany) return items.find(({ scope }) => scope === 'both');
          rig.model.scripts.push([...says('Yes.').slice(0, 1), { hold: gate.opened }, ...says('Yes.').slice(1)]);
          const before = rig.model.requests.length;
          turn = rig.conversation.send('Go on with a.txt');
          await waitFor('the request', () => rig.model.requests.length > before);
          return items;
        },
      };
      const { conversation } = rig;
      const commands = new RestoreCommands({
        active: {
          conversation: async () => conversation,
          session: conversation.session,
          draft: nothingWritten,
          replaceDraft: async () => undefined,
        },
        restorer: async () => all.restorer,
        choice: () => 'ask',
        changes: { compareAll: async () => ({ sides: [], editor: { close: async () => undefined } }) },
        tell: () => undefined,
      } as unknown as RestoreCommandsDeps);
      await rejects(commands.restore(first), /An answer is being written\. Stop it or wait for it, then restore\./);
      deepStrictEqual(all.files(), { 'a.txt': 'a2\n' });
    } finally {
      gate.open();
      await turn;
      await rig.dispose();
    }
  });
});
