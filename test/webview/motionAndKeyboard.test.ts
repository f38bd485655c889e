import { strictEqual } from 'node:assert';
import { openSessions } from './support/sessionList';
import { useViews } from './support/openView';
import { assistant, conversation, running, snapshot, user } from './support/fixtures';
import { states } from './support/states';

describe('motion and keyboard', function () {
  this.timeout(60_000);
  const open = useViews();

  it('stands still for those who asked for it', async () => {
    const view = await open({
      snapshot: snapshot({ rows: conversation(2), turn: running('waiting'), live: [{ id: 'l', kind: 'thinking', model: 'm', text: 'x' }] }),
      reduceMotion: true,
    });
    strictEqual(await view.page.evaluate(() => document.getAnimations().filter((a) => a.playState === 'running').length), 0);
  });

  it('stands still for those who told VS Code so', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(2), turn: running('waiting') }) });
    await view.page.evaluate(() => document.body.classList.add('vscode-reduce-motion'));
    await view.settled();
    strictEqual(await view.page.evaluate(() => document.getAnimations().filter((a) => a.playState === 'running').length), 0);
  });

  it('goes from message to message and back to the input with Alt and the arrows', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(2) }) });
    const focused = () => view.page.evaluate(() => document.activeElement?.tagName);
    const row = () =>
      view.page.evaluate(() =>
        [...document.querySelectorAll('tk-row')].filter((one) => one.querySelector('article')).indexOf(document.activeElement!),
      );
    await view.find('textarea').focus();
    const last = (await view.find('tk-row article').count()) - 1;
    await view.page.keyboard.press('Alt+ArrowUp');
    strictEqual(await row(), last);
    await view.page.keyboard.press('Alt+ArrowUp');
    strictEqual(await row(), last - 1);
    await view.page.keyboard.press('Alt+ArrowDown');
    await view.page.keyboard.press('Alt+ArrowDown');
    strictEqual(await focused(), 'TEXTAREA');
  });

  it('everything that can be clicked can be reached by keyboard', async () => {
    const view = await open(states.find((s) => s.name === 'streaming')!.options);
    const reached = new Set<string>();
    await view.find('.title-button').focus();
    for (let i = 0; i < 40; i++) {
      reached.add(
        await view.page.evaluate(() => {
          const e = document.activeElement as HTMLElement;
          return e.getAttribute('aria-label') ?? e.textContent?.replace(/\s+/g, ' ').trim() ?? '';
        }),
      );
      await view.page.keyboard.press('Tab');
    }
    for (const name of [
      'Model: Claude Sonnet 4.5. Select another',
      'Sessions',
      'New session',
      'Conversation',
      'Copy',
      'Insert at cursor',
      'Open as file',
      'Message',
      'Stop',
      'Move up queued message: And commit.',
      'Edit queued message: And commit.',
      'Stop the answer and send now: And commit.',
      'Remove queued message: And commit.',
    ]) {
      strictEqual(reached.has(name), true, name);
    }
  });

  it('takes the focus back from a list that was opened from it: to what had it, or to the message box', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi'), assistant('a1', 'Hello.')] }) });
    const focused = () => view.page.evaluate(() => document.activeElement?.localName ?? null);
    await view.find('.model-button').focus();
    await view.page.keyboard.press('Enter');
    await view.requested('select_model');
    await view.until('the message box has it', async () => (await focused()) === 'textarea');
    await view.find('[data-id=u1] [data-action=label]').click();
    await view.requested('label');
    await view.until('the row has it', async () => (await focused()) === 'button');
    strictEqual(await view.page.evaluate(() => document.activeElement?.getAttribute('data-action')), 'label');
  });

  it('closes the menu behind ⋯ with Escape, which stops no answer, and gives its button the focus', async () => {
    const rows = [user('u1', 'Hi'), assistant('a1', 'Hello.'), user('u2', 'And?')];
    const view = await open({ snapshot: snapshot({ rows, turn: running('waiting') }) });
    await view.find('[data-id=a1] .more > button').focus();
    await view.page.keyboard.press('Enter');
    strictEqual(await view.page.evaluate(() => document.activeElement?.getAttribute('role')), 'menuitem');
    await view.page.keyboard.press('Escape');
    strictEqual(await view.page.evaluate(() => document.activeElement?.getAttribute('aria-haspopup')), 'menu');
    strictEqual(await view.find('.more-menu:popover-open').count(), 0);
    strictEqual((await view.requests()).length, 0);
  });

  it('finds a session in a long list by what is typed', async () => {
    const sessions = Array.from({ length: 9 }, (_, at) => ({
      uuid: `s${at}`,
      id: `id-${at}`,
      title: at === 7 ? 'Tides' : `Harbour ${at}`,
      updatedAt: at,
    }));
    const view = await open({ snapshot: snapshot({ sessions }) });
    await openSessions(view);
    await view.page.keyboard.type('tid');
    await view.until('one is left', async () => (await view.find('.session-item').count()) === 1);
    await view.page.keyboard.type('x');
    strictEqual(await view.text('.sessions-empty'), 'No session with this title.');
    await view.page.keyboard.press('Backspace');
    await view.find('.session-item').click();
    strictEqual(JSON.stringify(await view.requested('open_session')), JSON.stringify({ method: 'open_session', uuid: 's7' }));
  });
});
