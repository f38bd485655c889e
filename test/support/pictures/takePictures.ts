import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { openChat, type ChatSession } from '../chat/chatSession';
import { projectRoot } from '../paths';
import { takeCachePicture } from './cachePicture';
import { pictureModel, plainWindow, play, take, widenSideBar } from './picture';
import { lastScene, respond, scenes, writeEarlierSessions } from './pictureStory';
import { savePicture } from '../view/savePicture';
import { keepWorkspace } from './sampleWorkspace';
import { takeSyncPicture } from './syncPicture';
import { waitFor } from '../waitFor';
import { takeAgentsPicture, takeRewindPicture, takeTabsPicture } from './workPictures';

/** `npm run pictures [NAME …]`: the README's pictures, taken anew in a real VS Code, so that they show what is built. */
async function main(): Promise<void> {
  const asked = process.argv.slice(2);
  const all = {
    chat: takeChatPictures,
    rewind: takeRewindPicture,
    tabs: takeTabsPicture,
    agents: takeAgentsPicture,
    cache: takeCachePicture,
    sync: takeSyncPicture,
  };
  for (const [name, takeThem] of Object.entries(all)) if (asked.length === 0 || asked.includes(name)) await takeThem();
}

/** The conversation with its gauge, a compaction, the breakdown and the analytics. */
async function takeChatPictures(): Promise<void> {
  const files = mkdtempSync(join(tmpdir(), 'threadkeeper-pictures-'));
  const folder = join(files, 'tidewater');
  await keepWorkspace(folder);
  const session = await openChat({ folder, ...plainWindow });
  const { api, chat, workbench } = session;
  try {
    api.setModel(pictureModel, { window: 16_000, maxOutput: 2_000 });
    api.respond = respond;
    await chat.frame();
    await widenSideBar(session, 250);
    for (const scene of scenes) await play(session, scene);
    importInto(
      session,
      writeEarlierSessions((name) => join(files, name), new Date()),
    );
    await workbench.runCommand('Threadkeeper: Compact Conversation');
    await workbench.page.locator('.tab', { hasText: 'Compaction Preview' }).waitFor();
    await workbench.runCommand('Threadkeeper: Apply Compaction');
    await chat.see('.compaction-card', /Compacted/);
    await session.workbench.openFile('table.js');
    await play(session, lastScene);
    await take(session, 'chat');
    await chat.press('Show summary');
    await chat.see('.compaction-card', /parseTable/);
    // scrollIntoView would move the frames around the view as well.
    await (await chat.locator('.compaction-card')).last().evaluate((card) => {
      const scroller = card.closest('.scroller')!;
      scroller.scrollTop += card.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 8;
    });
    await take(session, 'card');
    await workbench.runCommand('Threadkeeper: Show Context Breakdown');
    await workbench.webview('tk-breakdown h1');
    await take(session, 'breakdown');
    await workbench.runCommand('Threadkeeper: Show Analytics');
    const analytics = await workbench.webview('tk-analytics h1');
    await analytics.getByRole('combobox', { name: /^Days/ }).selectOption('30');
    await waitFor('the earlier sessions', async () => (await analytics.locator('[aria-labelledby=top] tbody tr').count()) >= 6);
    await take(session, 'analytics');
  } catch (error) {
    console.error(`The window as it was: ${await savePicture(workbench.page, 'pictures-failed')}`);
    throw error;
  } finally {
    await session.close();
    rmSync(files, { recursive: true });
  }
}

/** By the command line, into the history that the window has open. */
function importInto({ server }: ChatSession, files: readonly string[]): void {
  const database = readdirSync(server.dataFolder, { recursive: true, encoding: 'utf8' }).find(
    (path) => basename(path) === 'threadkeeper.db',
  );
  if (database === undefined) throw new Error(`There is no history under ${server.dataFolder}.`);
  execFileSync(
    process.execPath,
    [join(projectRoot, 'dist', 'cli.js'), 'import', ...files, '--store', join(server.dataFolder, dirname(database))],
    { stdio: 'inherit' },
  );
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
