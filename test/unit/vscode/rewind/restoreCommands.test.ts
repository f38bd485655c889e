import { windowDouble } from '../../../support/vscode/windowDouble';
import { deepStrictEqual, match, rejects } from 'node:assert';
import { isUserMessage } from '../../../../src/core/session/entry';
import { nothingWritten } from '../../../../src/core/session/userMessage';
import type { FilePlan } from '../../../../src/core/rewind/planRestore';
import type { ApplyOptions, RestorePlan } from '../../../../src/node/rewind/fileRestorer';
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

describe('the Undo that a notification of restored files offers', () => {
  it('undoes what it told of, in its own session, also when another session is on show by then', async () => {
    const { here, other, restore, told, commands } = await two();
    await restore(other, 'files');
    const restored = other.files();
    const clicked = await restore(here, 'both');
    commands.shown = other;
    await clicked.undo();
    await waitFor('the conversation', () => said(here).length === 2 || said(other).length !== 2, { timeout: 3_000 });
    deepStrictEqual([here.files(), said(here), other.files()], [{ 'a.txt': 'a2\n' }, ['one', 'two'], restored]);
    deepStrictEqual(told, []);
  });

  it('undoes nothing when other files were restored since', async () => {
    const { here, files, restore, told } = await two();
    const first = await restore(here, 'files');
    await here.turn('three', 'b.txt', 'b1\n');
    await restore(here, 'files');
    const before = files();
    await first.undo();
    deepStrictEqual([files(), told], [before, ['This restore is not the last one any more: only the last one can be undone.']]);
  });

  it('leaves everything as it is where the conversation would have to go along and is not open', async () => {
    const { here, files, restore, told, commands } = await two();
    const both = await restore(here, 'both');
    commands.closed = true;
    await both.undo();
    deepStrictEqual([files(), said(here)], [{ 'a.txt': 'a1\n' }, ['one']]);
    match(told.join(), /^This restore took its conversation along\. Open that session in the chat/);
  });

  it('needs no chat for files alone', async () => {
    const { here, files, restore, told, commands } = await two();
    const alone = await restore(here, 'files');
    commands.closed = true;
    await alone.undo();
    deepStrictEqual([files(), told], [{ 'a.txt': 'a2\n' }, []]);
  });
});

const rigs: FilesRig[] = [];
afterEach(async () => {
  for (const { rig } of rigs.splice(0)) await rig.dispose();
});

const said = ({ rig }: FilesRig) => rig.conversation.entries.filter(isUserMessage).map(({ content }) => content.text);

/** Two sessions in which a file was changed twice. `restore` goes back to before the last message and gives what is offered then. */
async function two() {
  const [here, other] = [await FilesRig.create(), await FilesRig.create()];
  rigs.push(here, other);
  for (const one of [here, other]) for (const text of ['one', 'two']) await one.turn(text, 'a.txt', `a${text === 'one' ? 1 : 2}\n`);
  const commands = { shown: here, closed: false };
  const told: string[] = [];
  let offered = 0;
  const of = (session: string) => (session === here.rig.session ? here : other);
  const restorer = {
    planBefore: (session: string, entry: string) => of(session).restorer.planBefore(session, entry),
    planUndo: (session: string) => of(session).restorer.planUndo(session),
    sides: (plan: FilePlan) => commands.shown.restorer.sides(plan),
    apply: (plan: RestorePlan, options: ApplyOptions) => of(plan.session).restorer.apply(plan, options),
  };
  const made = new RestoreCommands({
    active: {
      conversation: async () => commands.shown.rig.conversation,
      get session() {
        return commands.shown.rig.conversation.session;
      },
      draft: nothingWritten,
      replaceDraft: async () => undefined,
    },
    chats: {
      find: (session: string) =>
        commands.closed ? undefined : { conversation: of(session).rig.conversation, presenter: { turnState: null } },
    },
    restorer: async () => restorer,
    choice: () => 'ask',
    changes: { compareAll: async () => ({ sides: [], editor: { close: async () => undefined } }) },
    tell: (text: string) => told.push(text),
  } as unknown as RestoreCommandsDeps);
  const restore = async (one: FilesRig, wanted: 'both' | 'files') => {
    commands.shown = one;
    let answer: (button: string | undefined) => void = () => undefined;
    windowDouble.window = {
      showQuickPick: async (items: readonly { readonly scope?: string }[], options: { readonly canPickMany?: boolean }) =>
        options.canPickMany ? items : items.find(({ scope }) => scope === wanted),
      showWarningMessage: async () => undefined,
      withProgress: (_: unknown, work: (progress: unknown, token: unknown) => unknown) =>
        work({ report: () => undefined }, { onCancellationRequested: () => undefined }),
      showInformationMessage: () => new Promise((resolve) => (offered++, (answer = resolve))),
    };
    await made.restore(one.rig.conversation.entries.findLast(isUserMessage)!.uuid);
    const click = answer;
    const undo = async () => {
      const before = offered;
      click('Undo');
      await waitFor('what comes of it', () => told.length > 0 || offered > before, { timeout: 3_000 });
    };
    return { undo };
  };
  return { here, other, files: () => here.files(), restore, told, commands };
}
