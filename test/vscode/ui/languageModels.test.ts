import assert from 'node:assert/strict';
import { packAcme, startAcmeServer, type AcmeMessage } from '../../support/servers/acmeServer';
import { ChatPage } from '../../support/view/chatPage';
import type { ChatServer } from '../../support/servers/chatServer';
import { inOrder } from '../../support/chat/inOrder';
import { hold, httpFault, reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { openVscode, type VscodeSession } from '../../support/vscode/openVscode';
import { chosenVersion } from '../../support/vscode/vscodeInstall';
import { waitFor } from '../../support/waitFor';

/** Models and tools of another extension, told in order. VS Code 1.100 lets no extension bring models without a proposed API. */
describe('another extension’s model and tool', function () {
  if (chosenVersion() === '1.100') return;
  inOrder(this);
  let acme: ChatServer;
  let session: VscodeSession;
  let chat: ChatPage;
  const messages = (n = -1) => acme.chats.at(n)!.body['messages'] as readonly AcmeMessage[];

  before(async () => {
    acme = await startAcmeServer();
    // Without a key of the machine that runs the test.
    session = await openVscode({
      vsix: [await packAcme()],
      env: { ACME_URL: acme.url, ANTHROPIC_API_KEY: undefined },
      settings: { 'chat.disableAIFeatures': false },
    });
    chat = new ChatPage(session.workbench);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    await acme?.close();
  });

  it('is offered with its window, and answers as it streams', async () => {
    const { workbench } = session;
    await workbench.openView();
    await workbench.runCommand('Threadkeeper: Select Model…');
    const row = workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'Acme Tide' });
    await row.waitFor();
    assert.match((await row.innerText()).replaceAll('\u00a0', ' '), /20\.1k tokens of context · price unknown · answers of up to 4\.1k/);
    await workbench.screenshot('lm-picker');
    await row.click();
    await chat.see('tk-composer .model-button', 'Acme Tide');
    await chat.send('May I?');
    assert.match(await workbench.messages.waitForDialog(), /Threadkeeper[^]*Acme Models/);
    await workbench.screenshot('lm-consent');
    await workbench.messages.answerDialog('Cancel');
    await chat.see('.error-row', /may not use this model/);
    await chat.idle();
    assert.equal(acme.chats.length, 0);
    const gate = hold();
    acme.enqueue(reply('The lighthouse ', gate, 'is white.'));
    await chat.send('What colour is the lighthouse?');
    await workbench.messages.waitForDialog();
    await workbench.messages.answerDialog('Allow');
    await gate.reached;
    await chat.see('article.answer', /The lighthouse/);
    gate.release();
    await chat.idle();
    await chat.see('article.answer', 'The lighthouse is white.');
    const [first, ...rest] = messages();
    assert.deepEqual([first?.role, rest.length, first?.parts.at(-1)], [1, 0, { text: 'What colour is the lighthouse?' }]);
    assert.match(first?.parts[0]?.text ?? '', /Threadkeeper|assistant/i);
    // The vendor says that every message has four tokens: the sizes are ours, and say that they are estimates.
    assert.match(await chat.gauge(), /^~/);
    assert.ok((await chat.used()) > 500);
  });

  it('calls a tool that the other extension brings, once it is switched on and when that is allowed', async () => {
    const { workbench } = session;
    await workbench.runCommand('Threadkeeper: Select Tools…');
    await workbench.quickInput.waitUntilOpen('Select Tools');
    await workbench.quickInput.type('acme_tide');
    await workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'acme_tide' }).click();
    await workbench.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
    acme.enqueue(reply('I look.', toolCall('acme_tide', { port: 'Cuxhaven' }, 'call-1')), reply('3.2 metres.'));
    await chat.send('How high does the water get in Cuxhaven?');
    await chat.see('.approval-title', 'Use acme_tide');
    await workbench.screenshot('lm-tool');
    await chat.press(/^Allow$/);
    await chat.idle();
    await chat.see('article.answer', '3.2 metres.');
    assert.ok((acme.chats.at(-1)!.body['tools'] as string[]).includes('acme_tide'));
    assert.deepEqual(messages().slice(-2), [
      { role: 2, parts: [{ text: 'I look.' }, { call: { callId: 'call-1', name: 'acme_tide', input: { port: 'Cuxhaven' } } }] },
      { role: 1, parts: [{ result: { callId: 'call-1', text: 'High water in Cuxhaven: 3.2 m' } }] },
    ]);
  });

  it('says when the vendor’s quota is used up, lets go of an answer that is stopped, and goes on', async () => {
    acme.enqueue(httpFault(429, 'quota', 'You have exceeded your premium request allowance.'));
    await chat.send('More');
    await chat.see('.error-row', /premium request allowance/);
    await chat.idle();
    const gate = hold();
    acme.enqueue(reply('Half ', gate, 'an answer'));
    await chat.send('Tell me everything');
    await gate.reached;
    await chat.press(/^Stop/);
    await chat.idle();
    assert.equal(await acme.chats.at(-1)!.closed, 'aborted');
    acme.enqueue(reply('Here again.'));
    await chat.ask('And now?');
    await chat.see('article.answer', 'Here again.');
    assert.deepEqual(acme.errors, []);
  });

  it('may look into the history and the notes when the user says so', async () => {
    const { workbench } = session;
    await workbench.runCommand('Acme: Ask Threadkeeper');
    const hostile = await workbench.messages.waitForDialog();
    await workbench.screenshot('lm-shared-tool');
    assert.match(hostile, /^Search all Threadkeeper sessions/);
    assert.ok(
      hostile
        .replaceAll('\u00a0', ' ')
        .includes('{"query":"lighthouse⟦U+202E⟧⟦U+200B⟧ **white** [here](command:workbench.action.quit)","days":3}'),
      hostile,
    );
    assert.equal(await workbench.page.locator('.monaco-dialog-box .dialog-message-container a').count(), 0, 'a link');
    await workbench.messages.answerDialog('Cancel');
    const asked = [
      ['Look up the open Threadkeeper session', '{"query":"lighthouse"}'],
      ['Search all Threadkeeper sessions', '{"query":"lighthouse"}'],
      ['Read Threadkeeper’s notes', ''],
    ] as const;
    for (const [title, input] of asked) {
      const shown = await workbench.messages.waitForDialog();
      assert.ok(shown.startsWith(title) && shown.includes(input) && shown.includes('It asks with') === (input !== ''), shown);
      await workbench.messages.answerDialog('Yes');
    }
    const [refused, ...told] = await waitFor('four answers', () => {
      const all = acme.requests.filter(({ path }) => path === '/told').map(({ body }) => String(body['told']));
      return all.length === 4 && all;
    });
    assert.match(refused!, /cancel/i);
    assert.match(told[0]!, /lighthouse is white/);
    assert.match(told[1]!, /lighthouse is white/);
    assert.match(told[2]!, /note|empty|nothing/i);
  });
});
