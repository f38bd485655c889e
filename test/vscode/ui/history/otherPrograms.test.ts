import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { waitFor } from '../../../support/waitFor';

describe('sessions of other programs', () => {
  const root = mkdtempSync(join(tmpdir(), 'threadkeeper-others-'));
  let session: ChatSession;

  before(async () => {
    session = await openChat({
      env: { CODEX_HOME: join(root, 'codex'), COPILOT_HOME: join(root, 'copilot') },
      settings: { 'threadkeeper.agents.sessions': 'all', 'threadkeeper.openclaw.path': join(root, 'openclaw') },
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

  /** Sessions of Codex and of Copilot CLI lie on this machine; one of the two is switched on. */
  describe('Watch Agents…', function () {
    inOrder(this);
    const folder = join(root, 'codex', 'sessions', '2026', '11', '20');
    const file = join(folder, 'rollout-2026-11-20T10-00-00-a.jsonl');
    const at = '2026-11-20T10:00:00.000Z';
    const said = (text: string) =>
      `${JSON.stringify({ timestamp: at, type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } })}\n`;

    before(() => {
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
      await sessions.expand('Other Agents');
      // Copilot CLI stands below it, out of sight.
      await waitFor('the program', async () => (await sessions.rows()).includes('Codex CLI · watched'));
      await workbench.screenshot('sessions-agents');
      await sessions.click('The tide at noon', async () => (await chat.texts('tk-row')).some((text) => text.includes('The tide at noon')));
      appendFileSync(file, said('And at six?'));
      await chat.see('tk-row', 'And at six?');
    });
  });

  /** A session of OpenClaw, seen here while it goes on there. */
  describe('OpenClaw', function () {
    inOrder(this);
    const folder = join(root, 'openclaw', 'main', 'sessions');
    const file = (id: string) => join(folder, `${id}.jsonl`);
    const header = (id: string) =>
      `${JSON.stringify({ type: 'session', version: 3, id, timestamp: '2026-11-20T10:00:00.000Z', cwd: '/work' })}\n`;
    const said = (id: string, parentId: string | null, text: string, role = 'user') =>
      `${JSON.stringify({ type: 'message', id, parentId, timestamp: '2026-11-20T10:00:01.000Z', message: { role, content: [{ type: 'text', text }] } })}\n`;
    const point = (sessionId: string, label?: string) =>
      writeFileSync(join(folder, 'sessions.json'), JSON.stringify({ 'agent:main:main': { sessionId, updatedAt: Date.now(), label } }));
    interface Written {
      readonly id: string;
      readonly parentId: string;
      readonly message: { readonly role: string; readonly content: readonly { readonly text: string }[] };
    }

    async function replies(choice: string): Promise<void> {
      const { workbench } = session;
      await workbench.runCommand('Threadkeeper: Watch OpenClaw Session…');
      await workbench.quickInput.waitUntilOpen('Watch OpenClaw Session');
      await workbench.quickInput.pick(choice);
    }

    before(() => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        file('one'),
        header('one') + said('a1', null, 'What is the tide at noon?') + said('a2', 'a1', 'Two metres and rising.', 'assistant'),
      );
      point('one');
    });

    it('is chosen by its key, and its history appears', async () => {
      const { chat, workbench } = session;
      await workbench.runCommand('Threadkeeper: Watch OpenClaw Session…');
      await workbench.quickInput.waitUntilOpen('Watch OpenClaw Session');
      await workbench.quickInput.pick('agent:main:main');
      await chat.see('tk-row', 'Two metres and rising.');
      await workbench.screenshot('openclaw');
    });

    it('goes on here when it goes on there', async () => {
      const { chat } = session;
      appendFileSync(file('one'), said('a3', 'a2', 'And at six?'));
      await chat.see('tk-row', 'And at six?');
      const half = said('a4', 'a3', 'Half a metre.', 'assistant');
      appendFileSync(file('one'), half.slice(0, 40));
      appendFileSync(file('one'), half.slice(40));
      await chat.see('tk-row', 'Half a metre.');
    });

    it('is called here what it is called there', async () => {
      const sessions = new SessionsPage(session.workbench);
      for (const label of ['Tide watch', 'Tides of the week']) {
        point('one', label);
        await waitFor(`the name ${label}`, async () => (await sessions.labels()).includes(label));
      }
    });

    it('takes a reply of the user here, and writes nothing there', async () => {
      const { chat, api } = session;
      const before = readFileSync(file('one'), 'utf8');
      await chat.ask('Thank you, and tomorrow?');
      await chat.see('tk-row', 'Thank you, and tomorrow?');
      assert.ok(JSON.stringify(api.messages.at(-1)?.body).includes('Half a metre.'), 'the model knows what was said there');
      assert.equal(readFileSync(file('one'), 'utf8'), before);
      assert.deepEqual(api.errors, []);
    });

    it('writes replies there when it is told to, and goes on with what is said there', async () => {
      const { chat, workbench, api } = session;
      const before = readFileSync(file('one'), 'utf8');
      const added = () =>
        readFileSync(file('one'), 'utf8')
          .slice(before.length)
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Written);
      await replies('Write Replies to OpenClaw…');
      const dialog = await workbench.messages.waitForDialog();
      assert.ok(dialog.includes(file('one')), dialog);
      await workbench.screenshot('openclaw-replies');
      await workbench.messages.answerDialog('Append Replies');
      await waitFor('what was said before to be there', () => added().length === 2);
      await chat.ask('And the day after?');
      await waitFor('the reply to be there', () => added().length === 4);
      assert.ok(readFileSync(file('one'), 'utf8').startsWith(before));
      const written = added();
      assert.deepEqual(
        written.map(({ message: { role } }) => role),
        ['user', 'assistant', 'user', 'assistant'],
      );
      assert.deepEqual(
        written.map(({ parentId }) => parentId),
        ['a4', ...written.slice(0, 3).map(({ id }) => id)],
      );
      assert.equal(written[2]!.message.content[0]!.text, 'And the day after?');
      appendFileSync(file('one'), said('a9', written[3]!.id, 'Said there, after that.'));
      await chat.see('tk-row', 'Said there, after that.');
      await chat.see('tk-row', 'And the day after?');
      assert.deepEqual(api.errors, []);
    });

    it('writes nothing more when it is told not to', async () => {
      const { chat } = session;
      await replies('Keep Replies Here');
      const before = readFileSync(file('one'), 'utf8');
      await chat.ask('Only between us?');
      await chat.see('tk-row', 'Only between us?');
      assert.equal(readFileSync(file('one'), 'utf8'), before);
    });

    it('follows the key to the next session', async () => {
      const { chat } = session;
      writeFileSync(file('two'), header('two') + said('b1', null, 'A new day.'));
      point('two');
      await chat.see('tk-row', 'A new day.');
    });

    it('stops when it is told to, and keeps what came', async () => {
      const { chat, workbench } = session;
      await workbench.runCommand('Threadkeeper: Watch OpenClaw Session…');
      await workbench.quickInput.waitUntilOpen('Watch OpenClaw Session');
      await workbench.quickInput.pick('Stop Watching');
      await waitFor(
        'it to have stopped',
        async () => (await workbench.page.locator('.notification-list-item', { hasText: 'not watched any more' }).count()) > 0,
      );
      await chat.see('tk-row', 'A new day.');
    });
  });
});
