import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { missingKey, noon, running, snapshot, user } from './support/fixtures';
import { useViews, type View } from './support/openView';

const sends = async (view: View) => (await view.requests('send')).map((r) => (r.method === 'send' ? r.text : ''));
const disabled = (view: View, name: string) => view.find(`vscode-button[aria-label="${name}"]`).evaluate((b) => b.hasAttribute('disabled'));

describe('composer', function () {
  this.timeout(60_000);
  const open = useViews();

  it('sends with Enter, breaks lines with Shift+Enter, and is empty and focused afterwards', async () => {
    const view = await open({ snapshot: snapshot() });
    const area = view.find('textarea');
    await area.pressSequentially('one');
    await area.press('Shift+Enter');
    await area.pressSequentially('two');
    await area.press('Enter');
    await view.requested('send');
    deepStrictEqual(await sends(view), ['one\ntwo']);
    strictEqual(await area.inputValue(), '');
    strictEqual(await view.page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA');
  });

  it('gives every message an id of its own', async () => {
    const view = await open({ snapshot: snapshot() });
    for (const text of ['a', 'b']) {
      await view.find('textarea').fill(text);
      await view.find('textarea').press('Enter');
    }
    await view.until('both are sent', async () => (await view.requests('send')).length === 2);
    const ids = (await view.requests('send')).map((r) => (r.method === 'send' ? r.id : ''));
    strictEqual(new Set(ids).size, 2);
    for (const id of ids) match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  it('sends nothing while it is empty or blank', async () => {
    const view = await open({ snapshot: snapshot() });
    strictEqual(await disabled(view, 'Send message'), true);
    await view.find('textarea').press('Enter');
    await view.find('textarea').fill('  \n ');
    strictEqual(await disabled(view, 'Send message'), true);
    await view.find('textarea').press('Enter');
    await view.find('textarea').fill('now');
    await view.until('it can be sent', async () => !(await disabled(view, 'Send message')));
    await view.find('vscode-button.send').click();
    await view.requested('send');
    deepStrictEqual(await sends(view), ['now']);
  });

  it('leaves Enter and Escape to an input method that is composing', async () => {
    const view = await open({ snapshot: snapshot({ turn: running('streaming') }) });
    const area = view.find('textarea');
    await area.focus();
    const input = await view.page.context().newCDPSession(view.page);
    await input.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 });
    for (const key of ['Enter', 'Escape']) {
      await input.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key, windowsVirtualKeyCode: 229 });
      await input.send('Input.dispatchKeyEvent', { type: 'keyUp', key, windowsVirtualKeyCode: 229 });
    }
    await input.send('Input.insertText', { text: '日本' });
    // The key that ends a composition may come with isComposing already false; its code still is 229.
    await area.evaluate((element) =>
      element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true })),
    );
    await view.settled();
    deepStrictEqual(await view.requests(), []);
    strictEqual(await area.inputValue(), '日本');
    await area.press('Enter');
    await view.requested('send');
    deepStrictEqual(await sends(view), ['日本']);
  });

  it('stops the turn with Escape or the button, and neither shows nor does so while idle', async () => {
    const view = await open({ snapshot: snapshot({ turn: running('streaming') }) });
    await view.find('textarea').press('Escape');
    await view.find('vscode-button.stop').click();
    await view.until('both asked to stop', async () => (await view.requests('stop')).length === 2);
    await view.delta({ kind: 'turn', turn: null });
    strictEqual(await view.find('vscode-button.stop').count(), 0);
    await view.find('textarea').press('Escape');
    await view.settled();
    strictEqual((await view.requests('stop')).length, 2);
  });

  it('queues while busy; a queued message is removed without losing what is being written, and comes back by the up arrow', async () => {
    const view = await open({ snapshot: snapshot({ turn: running('streaming'), queue: [{ id: 'q1', text: 'the queued words' }] }) });
    strictEqual(await view.find('vscode-button.send').getAttribute('aria-label'), 'Queue message');
    const box = view.find('tk-composer textarea');
    await box.fill('next');
    await box.press('Enter');
    await view.delta({
      kind: 'queue',
      queue: [
        { id: 'q1', text: 'the queued words' },
        { id: 'q2', text: 'next' },
      ],
    });
    deepStrictEqual(await view.find('.queue .chip-text').allTextContents(), ['the queued words', 'next']);
    await box.fill('half a thought');
    await view.button('Remove queued message: the queued words').click();
    await view.until('it is asked for', async () => (await view.requests('unqueue')).length === 1);
    deepStrictEqual(await view.requests('unqueue'), [{ method: 'unqueue', id: 'q1' }]);
    strictEqual(await box.inputValue(), 'half a thought');
    await box.fill('');
    await box.press('ArrowUp');
    await view.until('the text is back', async () => (await box.inputValue()) === 'the queued words');
  });

  it('stops the answer for a message that is sent by Ctrl+Enter, and for nothing else', async () => {
    const view = await open({ snapshot: snapshot({ turn: running('streaming') }) });
    const box = view.find('tk-composer textarea');
    for (const [text, keys] of [
      ['wait', 'Enter'],
      ['now', 'Control+Enter'],
    ] as const) {
      await box.fill(text);
      await box.press(keys);
    }
    await view.delta({ kind: 'turn', turn: null });
    await box.fill('idle');
    await box.press('Control+Enter');
    await view.until('all are asked for', async () => (await view.requests('send')).length === 3);
    deepStrictEqual(
      (await view.requests('send')).map((request) => request.method === 'send' && [request.text, request.interrupts ?? false]),
      [
        ['wait', false],
        ['now', true],
        ['idle', false],
      ],
    );
  });

  it('saves the draft 300 ms after the last key and measures it later still', async () => {
    const view = await open({ snapshot: snapshot(), now: noon });
    await view.page.clock.pauseAt(noon + 600_000);
    await view.find('textarea').pressSequentially('dra');
    await view.page.clock.runFor(299);
    await view.find('textarea').pressSequentially('ft');
    await view.page.clock.runFor(299);
    const drafts = () =>
      view.page.evaluate(() => window.fake.requests.filter((r) => r.method === 'save_draft' || r.method === 'measure_draft'));
    deepStrictEqual(await drafts(), []);
    await view.page.clock.runFor(301);
    deepStrictEqual(await drafts(), [
      { method: 'save_draft', session: snapshot().session!.uuid, text: 'draft' },
      { method: 'measure_draft', text: 'draft' },
    ]);
    await view.page.clock.resume();
  });

  it('says before it is sent that a draft is too long to be sent whole', async () => {
    const view = await open({ snapshot: { ...snapshot(), draft: 'kept from before' } });
    const remark = view.find('.composer-remark');
    deepStrictEqual(await view.requested('measure_draft'), { method: 'measure_draft', text: 'kept from before' });
    await view.page.evaluate(() => (window.fake.answers['measure_draft'] = true));
    await view.find('textarea').fill('long '.repeat(60_000));
    await remark.waitFor();
    await view.until('it is announced', async () => (await view.text('tk-app > [role=status]')).startsWith('Very long'));
    await view.page.evaluate(() => (window.fake.answers['measure_draft'] = false));
    await view.find('textarea').fill('short');
    await remark.waitFor({ state: 'detached' });
  });

  it('saves what is not yet saved before another session is opened', async () => {
    const view = await open({ snapshot: snapshot() });
    await view.find('textarea').fill('for later');
    await view.button('New session').click();
    await view.requested('new_session');
    const methods = await view.page.evaluate(() =>
      window.fake.requests.map((r) => r.method).filter((method) => method !== 'measure_draft'),
    );
    deepStrictEqual(methods.slice(0, 2), ['save_draft', 'new_session']);
  });

  it('saves with its session what a key of VS Code leaves unfinished', async () => {
    const view = await open({ snapshot: snapshot() });
    const other = { ...snapshot(), session: { uuid: 'other', id: '20260101_009', title: 'Other' }, draft: '' };
    await view.page.evaluate((next) => {
      const area = document.querySelector<HTMLTextAreaElement>('tk-composer textarea')!;
      area.focus();
      area.value = 'a thought that nobody has saved';
      area.dispatchEvent(new InputEvent('input', { bubbles: true }));
      window.fake.show(next);
    }, other);
    deepStrictEqual(await view.requested('save_draft'), {
      method: 'save_draft',
      session: snapshot().session!.uuid,
      text: 'a thought that nobody has saved',
    });
    await view.until('the draft of the other one', async () => (await view.find('textarea').inputValue()) === '');
  });

  it('puts what comes back out of the queue in front of what the host has not heard of', async () => {
    const view = await open({ snapshot: { ...snapshot(), draft: 'typed' } });
    const area = view.find('textarea');
    // Before it is saved, 300 ms later.
    await view.page.evaluate(
      (delta) => {
        const field = document.querySelector<HTMLTextAreaElement>('tk-composer textarea')!;
        field.value += ' since';
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
        window.fake.delta(delta);
      },
      { kind: 'draft', text: 'queued before\n\ntyped' } as const,
    );
    await view.until('both', async () => (await area.inputValue()) === 'queued before\n\ntyped since');
    const saved = async () => (await view.requests('save_draft')).at(-1);
    await view.until('the whole to be saved', async () => {
      const last = await saved();
      return last?.method === 'save_draft' && last.text === 'queued before\n\ntyped since';
    });
    await view.delta({ kind: 'draft', text: 'another\n\nqueued before\n\ntyped since' });
    deepStrictEqual(await area.inputValue(), 'another\n\nqueued before\n\ntyped since');
  });

  it('does not keep a command that was carried out', async () => {
    const view = await open({ snapshot: snapshot() });
    await view.find('textarea').fill('/compact keep the ports');
    await view.requested('save_draft');
    await view.find('textarea').press('Enter');
    await view.requested('slash');
    deepStrictEqual((await view.requests('save_draft')).at(-1), { method: 'save_draft', session: snapshot().session!.uuid, text: '' });
  });

  it('saves when the focus leaves it, because what takes the focus may close the view', async () => {
    const view = await open({ snapshot: snapshot(), now: noon });
    await view.page.clock.pauseAt(noon + 600_000);
    await view.find('textarea').fill('unfinished');
    await view.find('textarea').blur();
    await view.requested('save_draft');
    await view.page.clock.resume();
  });

  it('does not save a draft that was just sent', async () => {
    const view = await open({ snapshot: snapshot(), now: noon });
    await view.page.clock.pauseAt(noon + 600_000);
    await view.find('textarea').fill('sent at once');
    await view.find('textarea').press('Enter');
    await view.page.clock.runFor(2000);
    deepStrictEqual(await view.page.evaluate(() => window.fake.requests.map((r) => r.method)), ['send']);
    await view.page.clock.resume();
  });

  it('gives the text back when it could not be sent, and says why', async () => {
    const view = await open({ snapshot: snapshot() });
    await view.page.evaluate(() => (window.fake.refuse['send'] = 'The disk is full.'));
    await view.find('textarea').fill('precious');
    await view.find('textarea').press('Enter');
    await view.find('.problem').waitFor();
    match(await view.text('.problem'), /The disk is full\./);
    strictEqual(await view.find('textarea').inputValue(), 'precious');
  });

  it('leaves with its session what could not be sent or done there, when another one has come on show', async () => {
    for (const [text, method] of [
      ['precious', 'send'],
      ['/rename Tides', 'slash'],
    ] as const) {
      const view = await open({ snapshot: snapshot() });
      await view.find('textarea').fill(text);
      await view.page.evaluate(
        ([method, other]) => {
          window.fake.refuse[method] = 'The disk is full.';
          document
            .querySelector('textarea')!
            .dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
          window.fake.show(other);
        },
        [method, snapshot({ session: { uuid: 'other', id: 'T-9', title: 'Other' }, draft: 'of the other' })] as const,
      );
      await view.find('.problem').waitFor();
      strictEqual(await view.text('.problem > span'), `In “${snapshot().session!.title}”: The disk is full.`);
      strictEqual(await view.find('textarea').inputValue(), 'of the other');
      const session = snapshot().session!.uuid;
      deepStrictEqual((await view.requests('give_back')).at(-1), { method: 'give_back', session, text, attachments: [] });
      if (method === 'send')
        deepStrictEqual(
          (await view.requests('send')).map((r) => r.method === 'send' && r.session),
          [session],
        );
    }
  });

  it('shows a draft from the host and takes the focus only when the host asks', async () => {
    const view = await open({ snapshot: snapshot({ draft: 'kept' }) });
    strictEqual(await view.find('textarea').inputValue(), 'kept');
    strictEqual(await view.page.evaluate(() => document.activeElement?.tagName), 'BODY');
    await view.delta({ kind: 'draft', text: 'suggested' }, { kind: 'focus_composer' });
    strictEqual(await view.find('textarea').inputValue(), 'suggested');
    strictEqual(await view.page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA');
  });

  it('takes what another window has made of the draft, and nothing over what is being typed', async () => {
    const view = await open({ snapshot: snapshot({ draft: 'kept' }) });
    await view.delta({ kind: 'draft', text: 'kept and more', replaces: 'kept' });
    strictEqual(await view.find('textarea').inputValue(), 'kept and more');
    await view.find('textarea').press('End');
    await view.page.keyboard.type('!');
    await view.delta({ kind: 'draft', text: '', replaces: 'kept and more' });
    strictEqual(await view.find('textarea').inputValue(), 'kept and more!');
    await view.delta({ kind: 'draft', text: '', replaces: 'kept and more!' });
    strictEqual(await view.find('textarea').inputValue(), '');
  });

  it('grows with its text to a third of the view and no further', async () => {
    const view = await open({ snapshot: snapshot(), height: 700 });
    const height = () => view.find('textarea').evaluate((e) => e.getBoundingClientRect().height);
    const one = await height();
    await view.find('textarea').fill('a\nb\nc\nd');
    const four = await height();
    ok(four > one * 1.5, `${four} > ${one}`);
    await view.find('textarea').fill('line\n'.repeat(200));
    strictEqual(Math.round(await height()), 233);
    await view.find('textarea').fill('');
    strictEqual(await height(), one);
  });

  it('takes 300 KB at once and sends them whole', async () => {
    const text = 'const value = compute(input); // 42\n'.repeat(8534);
    const view = await open({ snapshot: snapshot({ draft: text }) });
    for (const keys of ['Control+A', 'Control+X', 'Control+V']) await view.find('textarea').press(keys);
    await view.find('textarea').pressSequentially('end');
    await view.find('textarea').press('Enter');
    await view.requested('send');
    strictEqual((await sends(view))[0], `${text}end`);
  });

  it('can be used for nothing where the history can only be read, and says so', async () => {
    const view = await open({
      snapshot: snapshot({ rows: [user('u1', 'Hi')], banner: { kind: 'readonly', text: 'Another window owns it.' } }),
    });
    strictEqual(await view.find('textarea').isDisabled(), true);
    strictEqual(await view.find('textarea').getAttribute('placeholder'), 'Read-only in this window');
    match(await view.text('.banner'), /Another window owns it\./);
    await view.delta({ kind: 'banner', banner: null });
    strictEqual(await view.find('textarea').isDisabled(), false);
  });

  it('works without a key: what is typed on first run is sent', async () => {
    const view = await open({ snapshot: snapshot({ session: null, sessions: [], context: null, connection: missingKey }) });
    await view.find('textarea').fill('hello');
    await view.find('textarea').press('Enter');
    await view.requested('send');
    deepStrictEqual(await sends(view), ['hello']);
  });
});
