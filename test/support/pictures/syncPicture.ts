import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../chat/chatSession';
import { reply } from '../messagesApi/messagesApiScript';
import { SessionsPage } from '../view/sessionsPage';
import { chooseFile } from '../vscode/fileDialog';
import { waitFor } from '../waitFor';
import { pictureModel, plainWindow, take, widenSideBar } from './picture';
import { keepWorkspace } from './sampleWorkspace';

/** A conversation that another machine has gone on with, and how the exchange stands. */
export async function takeSyncPicture(): Promise<void> {
  const files = mkdtempSync(join(tmpdir(), 'threadkeeper-pictures-'));
  const folder = join(files, 'tidewater');
  // It is in the picture.
  const shared = join(tmpdir(), 'Syncthing');
  mkdirSync(shared);
  await keepWorkspace(folder);
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git', 'config'), '[remote "origin"]\n\turl = https://example.com/harbour/tidewater.git\n');
  const open = async (deviceName: string) => {
    const settings = { ...plainWindow.settings, 'threadkeeper.sync.deviceName': deviceName };
    const device = await openChat({ ...plainWindow, folder, settings });
    device.api.setModel(pictureModel, { window: 60_000, maxOutput: 2_000 });
    return device;
  };
  const devices = [await open('Desk'), await open('Laptop')] as const;
  const [desk, laptop] = devices;
  try {
    await widenSideBar(desk, 90);
    await say(desk, 'Where do we list the rejected lines?', 'In `src/cli.js`: their number always, the lines with `--verbose`.');
    await setUp(desk, shared, 'Make a New Recovery Phrase');
    const dialog = await desk.workbench.messages.waitForDialog();
    const phrase = [...dialog.matchAll(/\d+\. ([a-z]+)/g)].map(([, word]) => word).join(' ');
    await desk.workbench.messages.answerDialog('I Have Written It Down');
    await synced(desk);
    await setUp(laptop, shared, 'Enter a Recovery Phrase…');
    await laptop.workbench.quickInput.waitUntilOpen('The 24 words');
    await laptop.workbench.quickInput.accept(phrase);
    await synced(laptop);
    await new SessionsPage(laptop.workbench).row('Where do we list the rejected lines\\?').click();
    await laptop.chat.see('article.answer', /--verbose/);
    await say(laptop, 'And on the web page?', 'A table below the curve, with line numbers and reasons.');
    await desk.chat.see('article.answer', /below the curve/);
    await desk.workbench.runCommand('Threadkeeper: Sync Status');
    await desk.workbench.quickInput.waitUntilOpen('Sync Status');
    await waitFor('both devices', async () => (await desk.workbench.quickInput.labels()).some((label) => label.includes('Laptop')));
    await take(desk, 'sync', { keepOpen: true });
  } finally {
    for (const device of devices) await device.close();
    for (const path of [files, shared]) rmSync(path, { recursive: true });
  }
}

async function say({ api, chat }: ChatSession, text: string, answer: string): Promise<void> {
  api.enqueue(reply(answer));
  await chat.ask(text);
}

async function setUp({ workbench }: ChatSession, folder: string, phrase: string): Promise<void> {
  await workbench.openView();
  await workbench.runCommand('Threadkeeper: Set Up Sync…');
  await workbench.quickInput.waitUntilOpen('Where do your machines meet?');
  await workbench.quickInput.pick('A Folder…');
  await chooseFile(workbench, folder);
  await workbench.quickInput.waitUntilOpen('Whoever has the recovery phrase');
  await workbench.quickInput.pick(phrase);
}

const synced = ({ workbench }: ChatSession) =>
  waitFor('the exchange', async () => (await new SessionsPage(workbench).description()) === 'synced');
