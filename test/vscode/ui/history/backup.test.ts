import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseFile } from '../../../support/vscode/fileDialog';
import { inOrder } from '../../../support/chat/inOrder';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { useChat } from '../../../support/view/useChat';
import { waitFor } from '../../../support/waitFor';

describe('a backup of the history', function () {
  inOrder(this);
  const { session, files } = useChat({ window: 60_000 });
  const backup = join(files, 'tides.db');

  async function restore(file: string, answer: string): Promise<string> {
    const { workbench } = session();
    await workbench.runCommand('Threadkeeper: Restore History…');
    await chooseFile(workbench, file);
    const question = await workbench.messages.waitForDialog();
    await workbench.screenshot(`asked-to-${answer.toLowerCase().replaceAll(' ', '-')}`);
    await workbench.messages.answerDialog(answer);
    return question;
  }

  it('is one file, made while the history is in use', async () => {
    const { api, chat, workbench } = session();
    api.enqueue(reply('Twice a day.'));
    await chat.ask('How often is high tide?');
    await chat.see('article.answer', 'Twice a day.');
    await chat.idle();
    await workbench.runCommand('Threadkeeper: Back Up History…');
    await chooseFile(workbench, backup);
    assert.match(await workbench.messages.waitForNotification('backed up to'), /^\d+ entries in 1 session backed up to /);
  });

  it('takes the place of what was said since, which is kept', async () => {
    const { api, chat, workbench } = session();
    api.enqueue(reply('Only said after the backup.'));
    await chat.ask('And now?');
    await chat.see('article.answer', 'Only said after the backup.');
    await chat.idle();
    assert.match(
      await restore(backup, 'Restore'),
      /Replace your history with this backup of \d+ entries in 1 session\?[\s\S]*kept under another name/,
    );
    assert.match(await workbench.messages.waitForNotification('The history you had is kept as'), /threadkeeper\.db\.replaced-/);
    await chat.see('article.answer', 'Twice a day.');
    await waitFor('what came after the backup to be gone', async () =>
      (await chat.texts('article.answer')).every((text) => !text.includes('after the backup')),
    );
  });

  it('that cannot be opened is restored as far as it can be read, when the user says so', async () => {
    const { api, chat } = session();
    const broken = join(files, 'broken.db');
    const content = readFileSync(backup);
    // The first page says what is where: without it SQLite opens nothing.
    content.fill(0, 0, 512);
    writeFileSync(broken, content);
    assert.match(
      await restore(broken, 'Restore What Can Be Read'),
      /broken\.db cannot be opened\. Replace your history with what can be read of it\?/,
    );
    // While it is at work or after it.
    api.enqueue(reply('It goes on.'));
    await chat.ask('And on it goes?');
    await chat.see('article.answer', 'It goes on.');
    await chat.see('article.answer', 'Twice a day.');
    const kept = readdirSync(session().server.dataFolder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /threadkeeper\.db\.replaced-[^.]+$/.test(name),
    );
    assert.equal(kept.length, 2, kept.join());
  });

  it('of which nothing can be read changes nothing', async () => {
    const { chat, workbench } = session();
    const none = join(files, 'none.db');
    writeFileSync(none, 'no history at all');
    await restore(none, 'Restore What Can Be Read');
    assert.match(await workbench.messages.waitForNotification('Nothing can be read of'), /so nothing was changed/);
    await chat.see('article.answer', 'It goes on.');
  });
});
