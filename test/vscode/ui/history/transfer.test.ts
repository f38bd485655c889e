import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseFile } from '../../../support/vscode/fileDialog';
import { importFixtures } from '../../../support/store/importRig';
import { inOrder } from '../../../support/chat/inOrder';
import { useChat } from '../../../support/view/useChat';

/** A history that comes in from another program, goes on here, and goes out again. */
describe('import and export', function () {
  inOrder(this);
  const { session, files } = useChat({ window: 200_000 });
  const source = join(files, 'tides.jsonl');

  before(() => copyFileSync(join(importFixtures, 'pi-v3.jsonl'), source));

  async function exportAs(label: string, file: string): Promise<string> {
    const { workbench } = session();
    await workbench.runCommand('Threadkeeper: Export Session…');
    await workbench.quickInput.waitUntilOpen('Export Session');
    await workbench.screenshot('export-choice');
    await workbench.quickInput.pick(label);
    const target = join(files, file);
    await chooseFile(session().workbench, target);
    await workbench.messages.waitForNotification(`Exported to ${target}`);
    assert.ok(existsSync(target));
    return readFileSync(target, 'utf8');
  }

  it('takes in a session of another program, and shows what became of it', async () => {
    const { workbench, chat } = session();
    await chat.frame();
    await workbench.runCommand('Threadkeeper: Import Sessions…');
    await workbench.quickInput.waitUntilOpen('Import Sessions');
    await workbench.screenshot('import-choice');
    await workbench.quickInput.pick('Files…');
    await chooseFile(session().workbench, source);
    await workbench.messages.waitForNotification('1 session imported');
    await workbench.screenshot('import-done');
    // The chat need not be in front: it comes there.
    await workbench.runCommand('View: Show Explorer');
    await workbench.messages.answerNotification('1 session imported', 'Open');
    await chat.see('tk-row', 'Last question');
    await workbench.screenshot('import-opened');
  });

  it('goes on with it, and the model knows what was said there', async () => {
    const { chat, api } = session();
    await chat.ask('Which port was it?');
    const sent = JSON.stringify(api.messages.at(-1)?.body);
    assert.ok(sent.includes('SUMMARY TWO') && sent.includes('Last question') && sent.includes('Which port was it?'), sent);
    assert.deepEqual(api.errors, []);
  });

  it('writes it out as JSON with everything, and as Markdown to be read', async () => {
    const { workbench } = session();
    const document = JSON.parse(await exportAs('JSON', 'tides.json')) as {
      format: string;
      sessions: { session: { title: string }; entries: unknown[] }[];
    };
    assert.deepEqual([document.format, document.sessions.map((one) => one.session.title)], ['threadkeeper-export', ['Tide ports']]);
    assert.ok(JSON.stringify(document.sessions[0]?.entries).includes('Which port was it?'));
    const markdown = await exportAs('Markdown', 'tides.md');
    for (const part of ['# Tide ports', 'Which port does the tide server use?', 'SUMMARY TWO', 'Which port was it?'])
      assert.ok(markdown.includes(part), part);
    await workbench.messages.answerNotification(join(files, 'tides.md'), 'Open');
    await workbench.page.locator('.tab', { hasText: 'tides.md' }).waitFor();
    await workbench.screenshot('export-opened');
  });

  it('finds nothing new in the same file, and says so', async () => {
    const { workbench } = session();
    await workbench.runCommand('Threadkeeper: Import Sessions…');
    await workbench.quickInput.waitUntilOpen('Import Sessions');
    await workbench.quickInput.pick('Files…');
    await chooseFile(session().workbench, source);
    await workbench.messages.waitForNotification('Nothing new was imported. 1 session was here already.');
  });
});
