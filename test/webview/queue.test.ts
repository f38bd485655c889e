import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { running, snapshot } from './support/fixtures';
import { useViews, type View } from './support/openView';

const three = [
  { id: 'a', text: 'first' },
  { id: 'b', text: 'second' },
  { id: 'c', text: 'third' },
];
const inOrder = (...ids: readonly string[]) => ({ kind: 'queue' as const, queue: ids.map((id) => three.find((one) => one.id === id)!) });
const focused = (view: View) =>
  view.page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.tagName);

describe('the queue', function () {
  this.timeout(60_000);
  const open = useViews();
  const opened = () => open({ snapshot: snapshot({ turn: running('streaming'), queue: three }) });

  it('is moved through by buttons that keep the focus, and says where a message has gone', async () => {
    const view = await opened();
    const up = view.button('Move up queued message: third');
    await up.focus();
    await up.press('Enter');
    await view.delta(inOrder('a', 'c', 'b'));
    await view.until(
      'the place is said',
      async () => (await view.find('[aria-live="polite"]').textContent())?.includes('Moved to place 2 of 3') === true,
    );
    strictEqual(await focused(view), 'Move up queued message: third');
    await view.page.keyboard.press('Enter');
    await view.delta(inOrder('c', 'a', 'b'));
    await view.until('the other button has it', async () => (await focused(view)) === 'Move down queued message: third');
    await view.page.keyboard.press('Enter');
    await view.settled();
    deepStrictEqual(await view.requests('move_queued'), [
      { method: 'move_queued', id: 'c', before: 'b' },
      { method: 'move_queued', id: 'c', before: 'a' },
      { method: 'move_queued', id: 'c', before: 'b' },
    ]);
  });

  it('is put in order by dragging, also to its end; where it was is no move', async () => {
    const view = await opened();
    const row = (id: string) => view.find(`.queue li[data-id="${id}"]`);
    await row('c').dragTo(row('a'), { targetPosition: { x: 40, y: 2 } });
    const height = (await row('c').boundingBox())!.height;
    await row('a').dragTo(row('c'), { targetPosition: { x: 40, y: height - 2 } });
    await row('a').dragTo(row('b'), { targetPosition: { x: 40, y: 2 } });
    await view.settled();
    deepStrictEqual(await view.requests('move_queued'), [
      { method: 'move_queued', id: 'c', before: 'a' },
      { method: 'move_queued', id: 'a', before: null },
    ]);
    strictEqual(await view.find('.drop-before, .drop-behind').count(), 0);
  });

  it('has its messages edited where they stand; Escape leaves them, and stops no answer', async () => {
    const view = await opened();
    const box = view.find('.queue textarea');
    await view.button('Edit queued message: second').click();
    strictEqual(await box.inputValue(), 'second');
    await box.fill('something else');
    await box.press('Escape');
    await view.until('the button has the focus', async () => (await focused(view)) === 'Edit queued message: second');
    await view.page.keyboard.press('Enter');
    await box.fill('the second');
    await box.press('Enter');
    await view.until('it is closed', async () => (await box.count()) === 0);
    deepStrictEqual(
      [await view.requests('edit_queued'), await view.requests('stop')],
      [[{ method: 'edit_queued', id: 'b', text: 'the second' }], []],
    );
  });

  it('gives a text to the message box whose message was sent while it was edited', async () => {
    const view = await opened();
    await view.button('Edit queued message: first').click();
    await view.find('.queue textarea').fill('the first, better');
    await view.delta(inOrder('b', 'c'));
    const box = view.find('tk-composer textarea');
    await view.until('it is there', async () => (await box.inputValue()) === 'the first, better');
  });

  it('gives a text to the message box that came too late for its message', async () => {
    const view = await opened();
    await view.page.evaluate(() => (window.fake.refuse['edit_queued'] = 'This message has been sent already.'));
    await view.button('Edit queued message: first').click();
    await view.find('.queue textarea').fill('the first, better');
    await view.find('.queue textarea').press('Enter');
    const box = view.find('tk-composer textarea');
    await view.until('it is there', async () => (await box.inputValue()) === 'the first, better');
    strictEqual(await view.text('footer .problem'), 'This message has been sent already.');
    await view.button('Edit queued message: second').click();
    await view.find('.queue textarea').press('Enter');
    await view.until('it is closed', async () => (await view.find('.queue textarea').count()) === 0);
    deepStrictEqual(await view.requests('edit_queued'), [{ method: 'edit_queued', id: 'a', text: 'the first, better' }]);
  });

  it('sends a message at once', async () => {
    const view = await opened();
    await view.button('Stop the answer and send now: third').click();
    await view.settled();
    deepStrictEqual(await view.requests('send_queued'), [{ method: 'send_queued', id: 'c' }]);
  });

  it('keeps another text for a message while another one is edited', async () => {
    const view = await opened();
    const area = view.find('.queue textarea');
    await view.button('Edit queued message: second').click();
    await area.fill('better words');
    await view.button('Edit queued message: first').click();
    await view.until('the text of the other one', async () => (await area.inputValue()) === 'first');
    await area.fill('other words');
    await view.button('Edit queued message: second').click();
    await view.until('its own text', async () => (await area.inputValue()) === 'better words');
    await view.until('the focus', async () => (await focused(view)) === 'Edit queued message');
    await area.press('Escape');
    await view.button('Edit queued message: second').click();
    strictEqual(await area.inputValue(), 'second');
  });

  it('keeps another text for a message with its session, also when the view was hidden', async () => {
    const chat = snapshot({ turn: running('streaming'), queue: three });
    const other = { ...snapshot(), session: { uuid: 'other', id: '20260101_009', title: 'Other' } };
    const view = await open({ snapshot: chat });
    await view.button('Edit queued message: second').click();
    await view.find('.queue textarea').fill('better words');
    await view.show(other);
    deepStrictEqual([await view.find('tk-composer textarea').inputValue(), await view.text('tk-app > [role=status]')], ['', '']);
    await view.show(chat);
    strictEqual(await view.find('.queue textarea').inputValue(), 'better words');
    await view.until('it is remembered', () =>
      view.page.evaluate(() => JSON.stringify(window.fake.state ?? null).includes('better words')),
    );
    const state: unknown = await view.page.evaluate(() => window.fake.state);
    const again = await open({ snapshot: chat, state });
    strictEqual(await again.find('.queue textarea').inputValue(), 'better words');
    // It was sent in the meantime.
    const late = await open({ snapshot: { ...chat, queue: [three[0]!, three[2]!] }, state });
    await late.until('it is in the message box', async () => (await late.find('tk-composer textarea').inputValue()) === 'better words');
    strictEqual(await late.text('tk-app > [role=status]'), 'This message has been sent already. Your new text is in the message box.');
  });

  it('comes back once when it is stopped while another text is written for it, and not at all when it is sent unchanged', async () => {
    const view = await opened();
    const box = view.find('tk-composer textarea');
    const said = () => view.text('tk-app > [role=status]');
    await view.button('Edit queued message: second').click();
    await view.delta(inOrder('a', 'c'));
    await view.until('the editor to be gone', async () => (await view.find('.queue textarea').count()) === 0);
    deepStrictEqual([await box.inputValue(), await said()], ['', '']);
    await view.button('Edit queued message: third').click();
    await view.find('.queue textarea').fill('a better third');
    await view.delta({ kind: 'draft', text: 'first\n\nthird' });
    await view.delta({ kind: 'queue', queue: [] });
    await view.until('the new text', async () => (await box.inputValue()).includes('better'));
    deepStrictEqual([await box.inputValue(), await said()], ['a better third\n\nfirst', '']);
  });
});
