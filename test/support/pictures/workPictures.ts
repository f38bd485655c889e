import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openChat, type ChatSession } from '../chat/chatSession';
import { hold, reply, toolCall } from '../messagesApi/messagesApiScript';
import { ChatPage } from '../view/chatPage';
import { savePicture } from '../view/savePicture';
import { SessionsPage } from '../view/sessionsPage';
import { waitFor } from '../waitFor';
import type { VscodeOptions } from '../vscode/openVscode';
import { pictureModel, plainWindow, take, widenSideBar } from './picture';
import { keepWorkspace } from './sampleWorkspace';

const settings = { ...plainWindow.settings, 'threadkeeper.checkpoint.enabled': false };

/** The work of an answer about to be taken back: its files are listed, and their differences stand beside. */
export async function takeRewindPicture(): Promise<void> {
  await inProject({}, async (session) => {
    const { api, chat, workbench } = session;
    api.enqueue(
      reply(
        'The filter goes; what it left out is returned with a reason.',
        toolCall('edit_file', {
          path: 'src/table.js',
          old_text: '    .filter(({ time, height }) => !Number.isNaN(time.getTime()) && Number.isFinite(height))\n',
          new_text: '    .map((reading) => ({ ...reading, rejected: reasonFor(reading) }))\n',
        }),
      ),
      reply(
        toolCall('create_file', {
          path: 'src/reason.js',
          content: "export const reasonFor = ({ time }) => (Number.isNaN(time.getTime()) ? 'no time' : null);\n",
        }),
      ),
      reply('Lines without a time are kept now, with the reason *no time*.'),
    );
    await chat.send('Return the lines that do not parse, with a reason.');
    await chat.press(/^Allow$/);
    await chat.see('.approval', 'Create src/reason.js');
    await chat.press(/^Allow$/);
    await chat.see('article.answer', /with the reason/);
    await chat.idle();
    const asked = await chat.see('article.user-message', 'Return the lines');
    await asked.hover();
    await asked.getByRole('button', { name: 'Restore files and conversation' }).click();
    await workbench.quickInput.waitUntilOpen('Restore to before this message');
    await workbench.quickInput.pick('Files and conversation');
    await workbench.quickInput.waitUntilOpen('The selected files are restored');
    await workbench.page.locator('.tab', { hasText: 'Restore Files' }).waitFor();
    await workbench.page.locator('.multiDiffEntry', { hasText: 'table.js' }).waitFor();
    await take(session, 'rewind', { keepOpen: true });
  });
}

/** Three chats at work beside each other. */
export async function takeTabsPicture(): Promise<void> {
  await inProject({ viewport: { width: 1_480, height: 860 } }, async (session) => {
    const { api, chat, workbench } = session;
    const editor = new ChatPage(workbench, 'editor');
    const held = hold();
    api.enqueue(reply('Two readings of one height are a plateau: `turningPoints` takes the middle of it. I write the test first.'));
    await chat.ask('How shall a plateau of two equal readings count?');
    await workbench.runCommand('Threadkeeper: Open Chat in Editor');
    await editor.see('article.answer', /plateau/);
    await workbench.runCommand('View: Split Editor Right');
    await session.workbench.openFile('tide.js');
    api.enqueue(
      reply('Release 1.4 has three changes that users notice:\n\n- rejected lines with a reason\n- `--verbose`\n', held, 'UTC everywhere'),
    );
    await chat.send('Draft the notes of release 1.4.');
    await held.reached;
    await chat.see('article.answer', /three changes/);
    await take(session, 'tabs');
    held.release();
    await chat.idle();
  });
}

/** Sessions of three programs in one view. */
export async function takeAgentsPicture(): Promise<void> {
  const homes = mkdtempSync(join(tmpdir(), 'threadkeeper-homes-'));
  const at = new Date().toISOString();
  const write = (path: string, lines: readonly object[]) => {
    mkdirSync(dirname(join(homes, path)), { recursive: true });
    writeFileSync(join(homes, path), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  };
  const codexSays = (role: 'user' | 'assistant', text: string) => ({
    timestamp: at,
    type: 'response_item',
    payload: { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] },
  });
  write('codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-a.jsonl', [
    { timestamp: at, type: 'session_meta', payload: { id: 'a', cwd: '/work' } },
    codexSays('user', 'Why is the winter table an hour off?'),
    codexSays('assistant', 'Its times are local. We decided on UTC for every station, because the harbour changes its clocks.'),
  ]);
  const claude = { sessionId: 'b', cwd: '/work', version: '2.1.0', isSidechain: false, timestamp: at };
  write('claude/projects/-work/b.jsonl', [
    { ...claude, type: 'user', uuid: 'b1', parentUuid: null, message: { role: 'user', content: 'Draw the curve in the terminal' } },
    {
      ...claude,
      type: 'assistant',
      uuid: 'b2',
      parentUuid: 'b1',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-5-5',
        content: [{ type: 'text', text: 'It is drawn with braille dots, 72 columns wide.' }],
      },
    },
  ]);
  const env = { CODEX_HOME: join(homes, 'codex'), CLAUDE_CONFIG_DIR: join(homes, 'claude') };
  try {
    await inProject(
      { env, settings: { 'threadkeeper.agents.sessions': 'all', 'threadkeeper.agents.watch': ['codex', 'claude-code'] } },
      async (session) => {
        const { api, chat, workbench } = session;
        api.enqueue(
          reply(toolCall('recall', { query: 'winter table UTC' })),
          reply('Decided with Codex on Friday: every station is in UTC, because the harbour changes its clocks.'),
        );
        const sessions = new SessionsPage(workbench);
        await sessions.open();
        await waitFor('both sessions', async () => (await sessions.rows()).filter((row) => /Codex CLI|Claude Code/.test(row)).length >= 2);
        await chat.ask('What did we decide about times, and where?');
        await chat.see('article.answer', /Decided with Codex/);
        await workbench.runCommand('Threadkeeper: Search History…');
        await workbench.quickInput.waitUntilOpen('Search History');
        await workbench.quickInput.type('UTC');
        await waitFor('a hit', async () => (await workbench.quickInput.labels()).some((label) => /UTC/.test(label)));
        await take(session, 'agents', { keepOpen: true });
      },
    );
  } finally {
    rmSync(homes, { recursive: true });
  }
}

async function inProject(options: VscodeOptions, run: (session: ChatSession) => Promise<void>): Promise<void> {
  const files = mkdtempSync(join(tmpdir(), 'threadkeeper-pictures-'));
  const folder = join(files, 'tidewater');
  await keepWorkspace(folder);
  execFileSync('git', ['-C', folder, 'init', '-q']);
  const session = await openChat({ ...plainWindow, ...options, folder, settings: { ...settings, ...options.settings } });
  try {
    session.api.setModel(pictureModel, { window: 60_000, maxOutput: 2_000 });
    await session.chat.frame();
    await widenSideBar(session, 90);
    await run(session);
  } catch (error) {
    console.error(`The window as it was: ${await savePicture(session.workbench.page, 'pictures-failed')}`);
    throw error;
  } finally {
    await session.close();
    rmSync(files, { recursive: true });
  }
}
