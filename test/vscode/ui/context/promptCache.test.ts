import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { openChat, smallModel, type ChatSession } from '../../../support/chat/chatSession';
import { inOrder } from '../../../support/chat/inOrder';
import { reply } from '../../../support/messagesApi/messagesApiScript';
import { openTestStore } from '../../../support/store/storeTemp';
import { prepareHistory, type PreparedHistory } from '../../../support/store/writeHistory';
import { writeTalk } from '../../../support/store/writeTalk';
import { SessionsPage } from '../../../support/view/sessionsPage';
import { themes } from '../../../support/view/themes';
import { waitFor } from '../../../support/waitFor';

const minute = 60_000;
const summary = JSON.stringify({
  logos: ['The mooring code is 7741 (#2).'],
  pathos: [],
  abstract: [],
  conversation_summary: 'They went through the harbour rules.',
});

/** What somebody sees who leaves a conversation while the provider still has its prompt, and comes back when it has not. */
describe('the prompt cache of a conversation', function () {
  inOrder(this);
  let history: PreparedHistory;
  let session: ChatSession;
  let sessions: SessionsPage;

  const settings = { 'threadkeeper.anthropic.cacheTime': '5m', 'threadkeeper.memoryFlush.enabled': false };

  async function open(): Promise<void> {
    session = await openChat({ ...history.options, window: 100_000, settings, viewport: { width: 1280, height: 900 } });
    session.api.respond = () => reply(summary);
    sessions = new SessionsPage(session.workbench);
    await sessions.open();
  }

  /** As another window would write it, at the moment when it is needed: its cache lives for five minutes. */
  async function write(title: string, ago: number): Promise<void> {
    const other = await openTestStore(dirname(history.storeFile));
    await writeTalk(other, title, ago);
    await other.close();
  }

  before(async () => {
    history = await prepareHistory((store) => writeTalk(store, 'Left long ago', 120 * minute));
    await open();
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await history?.remove();
  });

  it('tells while it is warm what the next message costs, now and later, and nothing above the composer', async () => {
    const { chat } = session;
    await write('Just said', 0);
    await sessions.open();
    await sessions.choose('Just said');
    await chat.see('article', /mooring code is 7741/);
    await (await chat.locator('.gauge-label')).click();
    await chat.see('.gauge-card', /Prompt cache: warm until \d.*The next message writes about .* tokens.*, later about 2[0-9.]+k tokens/);
    assert.equal(await chat.count('.cold-line'), 0);
    await inBothThemes('prompt-cache-warm');
    await (await chat.locator('.gauge-label')).click();
  });

  it('is prepared for shortly before the cache expires, and changes nothing that is shown', async () => {
    const { api, chat } = session;
    // In a minute it is time to.
    await write('Just left', 3.4 * minute);
    await sessions.choose('Just left');
    await waitFor('the summary to be asked for', () => api.messages.length > 0, { timeout: 120_000 });
    assert.match(JSON.stringify(api.messages[0]!.body), /mooring code is 7741/);
    await (await chat.locator('.gauge-label')).click();
    await chat.see('.gauge-card', /with the summary that is ready/);
    await (await chat.locator('.gauge-label')).click();
    assert.deepEqual([await chat.count('.compaction-card'), await chat.count('.cold-line')], [0, 0]);
  });

  it('says on a return without a summary what the message sends again', async () => {
    const { chat } = session;
    await sessions.choose('Left long ago');
    await chat.see('.cold-line', /The prompt cache has expired\. This message sends [23][0-9.]+k tokens again\.\s+Compact First/);
    await chat.see('.gauge-cold', 'cache expired');
    await inBothThemes('prompt-cache-expired');
  });

  it('is compacted on return with what was prepared, after a restart as well, and no model is asked for it', async () => {
    await session.close();
    // As if the hour between had passed.
    execFileSync('sqlite3', [history.storeFile, `UPDATE usage SET at = at - ${60 * minute}`]);
    await open();
    const { api, chat, workbench } = session;
    await sessions.choose('Just left');
    await chat.see('.cold-line', /This message is compacted first: it sends [0-9.]+k tokens, not [23][0-9.]+k/);
    await inBothThemes('prompt-cache-return');
    api.enqueue(reply('Welcome back.'));
    await chat.ask('Where were we?');
    await chat.see('article.answer', 'Welcome back.');
    assert.equal(api.messages.length, 1, 'the message alone is sent at the moment of return');
    assert.match(JSON.stringify(api.messages[0]!.body), /The mooring code is 7741/);
    await chat.see('.compaction-card', /Compacted \d+ messages/);
    assert.equal(await chat.count('.cold-line'), 0);
    await workbench.screenshot('prompt-cache-folded');
    await chat.press('Undo');
    await chat.see('.compaction-card .state', 'undone');
  });

  async function inBothThemes(name: string): Promise<void> {
    const { api, chat, server, workbench } = session;
    for (const theme of ['light', 'dark'] as const) {
      await server.writeSettings({
        ...settings,
        'threadkeeper.anthropic.baseUrl': api.url,
        'threadkeeper.model': smallModel,
        'workbench.colorTheme': themes[theme],
      });
      await waitFor(theme, async () => (await chat.count(`:root:has(body[data-vscode-theme-id="${themes[theme]}"])`)) > 0);
      await workbench.screenshot(`${name}-${theme}`);
    }
  }
});
