import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { waitFor } from '../../../support/waitFor';

/** Sessions of Codex and of Copilot CLI lie on this machine; one of the two is switched on. */
describe('Watch Agents…', function () {
  inOrder(this);
  const root = mkdtempSync(join(tmpdir(), 'threadkeeper-agents-'));
  const folder = join(root, 'codex', 'sessions', '2026', '11', '20');
  const file = join(folder, 'rollout-2026-11-20T10-00-00-a.jsonl');
  const at = '2026-11-20T10:00:00.000Z';
  const said = (text: string) =>
    `${JSON.stringify({ timestamp: at, type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } })}\n`;
  let session: ChatSession;

  before(async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      file,
      `${JSON.stringify({ timestamp: at, type: 'session_meta', payload: { id: 'a', cwd: '/work' } })}\n${said('The tide at noon')}`,
    );
    const other = join(root, 'copilot', 'session-state', 'b');
    mkdirSync(other, { recursive: true });
    writeFileSync(
      join(other, 'events.jsonl'),
      `${JSON.stringify({ type: 'session.start', data: { sessionId: 'b', context: { cwd: '/work' } }, id: 'x', timestamp: at, parentId: null })}\n`,
    );
    session = await openChat({
      env: { CODEX_HOME: join(root, 'codex'), COPILOT_HOME: join(root, 'copilot') },
      settings: { 'threadkeeper.agents.sessions': 'all' },
    });
    await session.chat.ask('Something of my own');
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    rmSync(root, { recursive: true, force: true });
  });

  it('lists what is on this machine, and says in a search what is not watched', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Search History…');
    await workbench.quickInput.waitUntilOpen('Search History');
    await workbench.quickInput.type('noon');
    await waitFor('the note', async () =>
      (await workbench.quickInput.labels()).some((label) => label.includes('Codex CLI, Copilot CLI: not watched')),
    );
    await workbench.quickInput.close();
    await workbench.runCommand('Threadkeeper: Watch Agents…');
    await workbench.quickInput.waitUntilOpen('Watch Agents');
    const labels = await workbench.quickInput.labels();
    assert.deepEqual(
      ['Codex CLI', 'Copilot CLI'].map((name) => labels.some((label) => label.includes(name))),
      [true, true],
    );
    await workbench.screenshot('watch-agents');
    await workbench.quickInput.pick('Codex CLI');
    await workbench.quickInput.accept();
  });

  it('shows the sessions of what is switched on, as they are written', async () => {
    const { workbench, chat } = session;
    const sessions = new SessionsPage(workbench);
    await waitFor('the session', async () => (await sessions.rows()).some((row) => row.startsWith('The tide at noon · Codex CLI')));
    await sessions.row('Other Agents').click();
    // Copilot CLI stands below it, out of sight.
    await waitFor('the program', async () => (await sessions.rows()).includes('Codex CLI · watched'));
    await workbench.screenshot('sessions-agents');
    await sessions.row('The tide at noon').click();
    await chat.see('tk-row', 'The tide at noon');
    appendFileSync(file, said('And at six?'));
    await chat.see('tk-row', 'And at six?');
  });
});
