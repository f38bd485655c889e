import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { tempFolder, type TempFolder } from '../../../support/store/storeTemp';
import { PostgresServer } from '../../../support/sync/postgresServer';
import { chooseFile } from '../../../support/vscode/fileDialog';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { temporaryWorkspace } from '../../../support/pictures/sampleWorkspace';
import { waitFor } from '../../../support/waitFor';

/** What stands in the middle, and how it goes away and comes back. */
interface Middle {
  choose(device: ChatSession): Promise<void>;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  end(): Promise<void>;
}

async function database(): Promise<Middle> {
  const server = await PostgresServer.start();
  return {
    choose: async ({ workbench: { quickInput } }) => {
      await quickInput.pick('A PostgreSQL Database…');
      await quickInput.waitUntilOpen('Address of the database');
      await quickInput.accept(server.address);
      await quickInput.waitUntilOpen('Password for');
      await quickInput.accept('');
    },
    goAway: () => server.kill(),
    comeBack: async () => void (await server.run('')),
    end: () => server.stop(),
  };
}

async function folder(): Promise<Middle> {
  const temp = tempFolder();
  const shared = join(temp.path, 'shared');
  mkdirSync(shared);
  return {
    choose: async ({ workbench }) => {
      await workbench.quickInput.pick('A Folder…');
      await chooseFile(workbench, shared);
    },
    goAway: async () => renameSync(shared, `${shared}.away`),
    comeBack: async () => renameSync(`${shared}.away`, shared),
    end: async () => temp.remove(),
  };
}

/** Three machines with a store each and one engine, told in order. */
describe('one history on three machines', function () {
  inOrder(this);
  let middle: Middle;
  let workspace: { readonly folder: string; remove(): Promise<void> };
  let temp: TempFolder;
  const devices: ChatSession[] = [];
  let phrase = '';

  const open = async (name: string): Promise<ChatSession> => {
    const device = await openChat({ folder: workspace.folder, window: 100_000, settings: { 'threadkeeper.sync.deviceName': name } });
    devices.push(device);
    return device;
  };
  const stateOf = ({ workbench }: ChatSession) => new SessionsPage(workbench).description();
  const synced = (device: ChatSession) => waitFor('the exchange', async () => (await stateOf(device)) === 'synced');
  const join_ = async (device: ChatSession) => {
    const { workbench } = device;
    await workbench.openView();
    await workbench.runCommand('Threadkeeper: Set Up Sync…');
    await workbench.quickInput.waitUntilOpen('Where do your machines meet?');
    await middle.choose(device);
    await workbench.quickInput.pick('Enter a Recovery Phrase…');
    await workbench.quickInput.waitUntilOpen('The 24 words');
    await workbench.quickInput.accept(phrase);
  };

  before(async () => {
    temp = tempFolder();
    workspace = await temporaryWorkspace();
    mkdirSync(join(workspace.folder, '.git'), { recursive: true });
    writeFileSync(join(workspace.folder, '.git', 'config'), '[remote "origin"]\n\turl = https://example.com/me/tides.git\n');
    middle = PostgresServer.isThere ? await database() : await folder();
    await open('Desk');
    await open('Laptop');
  });
  afterEach(async function () {
    for (const [index, device] of devices.entries())
      if (this.currentTest?.state === 'failed') await device.workbench.screenshot(`failed-sync-${index + 1}`).catch(() => undefined);
  });
  after(async () => {
    for (const device of devices) await device.close();
    await middle?.end();
    await workspace?.remove();
    temp?.remove();
  });

  it('is begun on the first, which shows the recovery phrase once', async () => {
    const desk = devices[0]!;
    const { workbench, api, chat } = desk;
    api.enqueue(reply('At noon.'));
    await chat.ask('Ferry times');
    await workbench.runCommand('Threadkeeper: Set Up Sync…');
    await workbench.quickInput.waitUntilOpen('Where do your machines meet?');
    await workbench.screenshot('sync-engine');
    await middle.choose(desk);
    await workbench.quickInput.waitUntilOpen('Whoever has the recovery phrase');
    await workbench.quickInput.pick('Make a New Recovery Phrase');
    const dialog = await workbench.messages.waitForDialog();
    await workbench.screenshot('sync-phrase');
    phrase = [...dialog.matchAll(/\d+\. ([a-z]+)/g)].map(([, word]) => word).join(' ');
    assert.equal(phrase.split(' ').length, 24);
    await workbench.messages.answerDialog('I Have Written It Down');
    await synced(desk);
    await workbench.screenshot('sync-on');
  });

  it('is read and gone on with on the second', async () => {
    const [desk, laptop] = [devices[0]!, devices[1]!];
    await join_(laptop);
    await synced(laptop);
    await new SessionsPage(laptop.workbench).choose('Ferry times');
    await laptop.chat.see('article.answer', 'At noon.');
    laptop.api.enqueue(reply('At three.'));
    await laptop.chat.ask('And the next one?');
    await desk.chat.see('article.answer', 'At three.');
  });

  it('goes on apart while the engine is away, and says so', async () => {
    const [desk, laptop] = [devices[0]!, devices[1]!];
    await middle.goAway();
    desk.api.enqueue(reply('The desk answers.'));
    await desk.chat.ask('Said at the desk');
    laptop.api.enqueue(reply('The laptop answers.'));
    await laptop.chat.ask('Said on the laptop');
    await desk.workbench.runCommand('Threadkeeper: Sync Now');
    await waitFor('the state', async () => (await stateOf(desk))?.startsWith('not synced since'));
    await desk.workbench.runCommand('Threadkeeper: Sync Status');
    await desk.workbench.quickInput.waitUntilOpen('Sync Status');
    await desk.workbench.screenshot('sync-status-away');
    await desk.workbench.quickInput.close();
  });

  it('comes together again, each on its own branch', async () => {
    const [desk, laptop] = [devices[0]!, devices[1]!];
    await middle.comeBack();
    for (const device of [desk, laptop, desk]) {
      await device.workbench.runCommand('Threadkeeper: Sync Now');
      await synced(device);
    }
    await desk.workbench.runCommand('Threadkeeper: Sync Status');
    await desk.workbench.quickInput.waitUntilOpen('Sync Status');
    await waitFor('the devices', async () => (await desk.workbench.quickInput.labels()).some((label) => label.includes('Laptop')));
    await desk.workbench.screenshot('sync-status');
    await desk.workbench.quickInput.close();
    await desk.chat.see('article.answer', 'The desk answers.');
    await laptop.chat.see('article.answer', 'The laptop answers.');
    await desk.chat.see('.elsewhere', /Continued on Laptop, 2 messages/);
    await laptop.chat.see('.elsewhere', /Continued on Desk, 2 messages/);
    await desk.workbench.screenshot('sync-elsewhere');
  });

  it('goes over to the branch of the other where the user wants it', async () => {
    const { chat, workbench } = devices[0]!;
    await (await chat.locator('.elsewhere .link-button')).click();
    await chat.see('article.answer', 'The laptop answers.');
    await waitFor('the row to be gone', async () => (await chat.count('.elsewhere')) === 0);
    await workbench.screenshot('sync-switched');
  });

  it('is there whole on a third', async () => {
    const third = await open('Attic');
    await join_(third);
    await synced(third);
    await new SessionsPage(third.workbench).choose('Ferry times');
    await third.chat.see('article.answer', 'At three.');
  });

  it('tells how a device is added, and is left with everything kept', async () => {
    const { workbench, chat } = devices[1]!;
    // One dialog follows the other so closely that none is seen to go.
    const press = (button: string) => workbench.page.locator('.monaco-dialog-box').getByText(button, { exact: true }).click();
    const asks = (text: string) => waitFor(`the dialog “${text}”`, async () => (await workbench.messages.waitForDialog()).includes(text));
    await workbench.runCommand('Threadkeeper: Add a Device…');
    await asks('Set Up Sync…');
    await press('Show Recovery Phrase');
    await asks('Show the recovery phrase?');
    await press('Show');
    await asks(`1. ${phrase.split(' ')[0]!}`);
    await workbench.messages.answerDialog('Done');
    await workbench.runCommand('Threadkeeper: Leave Sync…');
    assert.match(await workbench.messages.waitForDialog(), /stays in this workspace/);
    await workbench.screenshot('sync-leave');
    await workbench.messages.answerDialog('Leave');
    await waitFor('the state', async () => (await stateOf(devices[1]!)) === undefined);
    await chat.see('article.answer', 'The laptop answers.');
  });
});
