import assert from 'node:assert/strict';
import { openChat, smallModel, type ChatSession } from '../../support/chat/chatSession';
import { inOrder } from '../../support/chat/inOrder';
import { reply } from '../../support/messagesApi/messagesApiScript';
import { ollamaModelId, startOllamaServer } from '../../support/servers/ollamaServer';
import { openaiModelId, startOpenaiServer } from '../../support/servers/openaiServer';
import { waitFor } from '../../support/waitFor';

/** Three providers in one window, told in order. */
describe('models of every provider', function () {
  inOrder(this);
  let session: ChatSession;
  let openai: Awaited<ReturnType<typeof startOpenaiServer>>;
  let ollama: Awaited<ReturnType<typeof startOllamaServer>>;
  const rows = () => session.workbench.page.locator('.quick-input-list .monaco-list-row');
  const rowOf = async (text: string) => {
    const row = rows().filter({ hasText: text }).first();
    await row.waitFor();
    return (await row.innerText()).replaceAll('\u00a0', ' ');
  };
  async function openPicker(filter = ''): Promise<void> {
    await session.workbench.runCommand('Threadkeeper: Select Model…');
    await session.workbench.quickInput.waitUntilOpen('Select Model');
    await session.workbench.quickInput.type(filter);
  }
  async function choose(model: string): Promise<void> {
    await openPicker(model);
    await rows().filter({ hasText: model }).first().click();
    await session.chat.see('tk-composer .model-button', model);
  }

  before(async () => {
    openai = await startOpenaiServer({ usage: 'missing', listed: { context_length: 64_000 } });
    ollama = await startOllamaServer({ thinks: [true, false] });
    session = await openChat({
      window: 60_000,
      settings: {
        'threadkeeper.ollama.baseUrl': ollama.url,
        'threadkeeper.prices': { [smallModel]: { input: 1, output: 5 }, [openaiModelId]: { input: 3, output: 15 } },
      },
    });
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await openai?.close();
    await ollama?.close();
  });

  it('are listed with window and price, and what is missing can be set from there', async () => {
    const { workbench, chat } = session;
    await chat.frame();
    await openPicker('claude');
    assert.match(await rowOf(smallModel), /60k tokens of context · \$1 in, \$5 out per million tokens · answers of up to 1k/);
    await workbench.quickInput.type('double');
    assert.match(await rowOf(ollamaModelId), /32\.8k tokens of context · local, no price/);
    await workbench.quickInput.type('Set Address');
    await rows().filter({ hasText: 'Set Address and API Key…' }).click();
    await workbench.quickInput.waitUntilOpen('OpenAI-Compatible Server');
    await workbench.quickInput.accept(`${openai.url}/v1`);
    await workbench.quickInput.waitUntilOpen('Set API Key');
    await workbench.quickInput.accept('sk-wrong-0123456789');
    await workbench.page.locator('.quick-input-message', { hasText: 'refused this API key' }).waitFor();
    await workbench.screenshot('key-refused');
    await workbench.quickInput.accept(openai.apiKey!);
    // The next command closes whatever input is open.
    await waitFor('the key to be tried', () => openai.requests.filter(({ path }) => path === '/v1/models').length >= 2);
    await waitFor('the input to be gone', async () => !(await workbench.quickInput.isOpen()));
    await waitFor('the models of the server', async () => {
      await openPicker('double');
      return rows()
        .filter({ hasText: openaiModelId })
        .first()
        .waitFor({ timeout: 5_000 })
        .then(() => true);
    });
    assert.match(await rowOf(openaiModelId), /64k tokens of context · .*3 × the model in use · \$3 in, \$15 out per million tokens/);
    await workbench.screenshot('providers-picker');
    await workbench.quickInput.close();
  });

  it('answer in the same session, one after the other', async () => {
    const { chat, api, workbench } = session;
    api.enqueue(reply('Claude speaks.'));
    openai.enqueue(reply('<think>Who am I?</think>\n\nThe server speaks.'));
    ollama.enqueue(reply('The llama speaks.'));
    await chat.ask('Who are you?');
    await chat.see('article.answer', 'Claude speaks.');
    await choose(openaiModelId);
    await chat.ask('And you?');
    await chat.see('article.answer', 'The server speaks.');
    await choose(ollamaModelId);
    await chat.ask('And who else?');
    await chat.see('article.answer', 'The llama speaks.');
    await workbench.screenshot('providers-answers');
    const sent = JSON.stringify(ollama.chats.at(-1)!.body['messages']);
    for (const said of ['Who are you?', 'Claude speaks.', 'The server speaks.', 'And who else?']) assert.ok(sent.includes(said), said);
    assert.ok(!sent.includes('Who am I?'));
    assert.deepEqual([api.errors, openai.errors, ollama.errors], [[], [], []]);
  });

  it('stay as they are when the picker is opened and left with Enter', async () => {
    const { chat, workbench } = session;
    const before = await (await chat.locator('tk-composer .model-button')).innerText();
    for (let i = 0; i < 2; i++) {
      await workbench.runCommand('Threadkeeper: Select Model…');
      await workbench.quickInput.waitUntilOpen('Select Model');
      if (i === 1)
        await rows()
          .filter({ hasText: /tokens of context/ })
          .filter({ hasText: ollamaModelId })
          .first()
          .waitFor();
      await workbench.page.keyboard.press('Enter');
      await waitFor('the picker to be gone', async () => !(await workbench.quickInput.isOpen()));
      assert.equal(await (await chat.locator('tk-composer .model-button')).innerText(), before);
    }
  });

  it('come in without moving what the user has moved to, and the one in use is listed once', async () => {
    const { workbench } = session;
    let arrive = () => {};
    openai.listing = new Promise((resolve) => (arrive = resolve));
    await workbench.runCommand('Threadkeeper: Select Model…');
    await workbench.quickInput.waitUntilOpen('Select Model');
    // What comes in later replaces the list.
    await rowOf('claude-sonnet-5-5');
    await rows()
      .filter({ hasText: /tokens of context/ })
      .filter({ hasText: ollamaModelId })
      .first()
      .waitFor({ state: 'attached' });
    const asking = workbench.page.locator('.quick-input-widget .monaco-progress-container.active');
    await asking.waitFor({ state: 'attached' });
    const focused = () => workbench.page.locator('.quick-input-list .monaco-list-row.focused').innerText();
    let moved = await focused();
    for (let i = 0; i < 2; i++) {
      const before = moved;
      await workbench.page.keyboard.press('ArrowDown');
      await waitFor('another row', async () => (moved = await focused()) !== before);
    }
    arrive();
    await asking.waitFor({ state: 'detached' });
    assert.equal(await focused(), moved);
    await workbench.screenshot('picker-moved');
    await workbench.quickInput.type(ollamaModelId);
    await rows().filter({ hasText: ollamaModelId }).first().waitFor();
    assert.equal((await workbench.quickInput.labels()).filter((label) => label === ollamaModelId).length, 1);
    await workbench.quickInput.close();
  });

  it('are told how much to think as far as they can be told', async () => {
    const { chat, workbench } = session;
    await workbench.runCommand('Threadkeeper: Set Thinking Level…');
    await workbench.quickInput.waitUntilOpen('Set Thinking Level');
    assert.deepEqual(
      (await workbench.quickInput.labels()).map((label) => label.replace(/^\W+/, '')),
      ['Automatic', 'Off', 'On'],
    );
    await workbench.quickInput.pick('Off');
    await chat.ask('Quickly now');
    assert.equal(ollama.chats.at(-1)!.body['think'], false);
  });
});
