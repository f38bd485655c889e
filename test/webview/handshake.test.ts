import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { assistant, liveText, snapshot, user } from './support/fixtures';
import { useViews } from './support/openView';

describe('handshake', function () {
  this.timeout(60_000);
  const open = useViews();
  const rows = [user('u1', 'Hello'), assistant('a1', 'Hello yourself.')];

  it('asks for a snapshot once and shows it', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    strictEqual(await view.page.evaluate(() => window.fake.ready), 1);
    deepStrictEqual(
      (await view.find('tk-row').allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim().split(' Pin this')[0]),
      ['You Hello', 'Claude Sonnet 4.5 Hello yourself.'],
    );
  });

  it('says that the history is being opened until the snapshot comes', async () => {
    const view = await open({ snapshot: null });
    match(await view.text('main'), /Opening your history/);
    await view.show(snapshot({ rows }));
    strictEqual(await view.find('tk-row').count(), 2);
  });

  it('asks again after a lost delta and ends with what the host holds', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.page.evaluate(() => (window.fake.lose = 1));
    await view.delta(liveText('l1', 'lost'), liveText('l1', ' arrives'));
    await view.until('the second ready', () => view.page.evaluate(() => window.fake.ready === 2));
    await view.settled();
    strictEqual(await view.find('tk-row').count(), 2);
    await view.delta(liveText('l2', 'After the gap'));
    match(await view.text('tk-row:last-of-type'), /After the gap/);
  });

  it('reports a message that it cannot read, asks again and works on', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.page.evaluate(() => window.fake.raw({ type: 'delta', seq: 2, delta: { kind: 'row', row: { kind: 'hologram' } } }));
    await view.until('the second ready', () => view.page.evaluate(() => window.fake.ready === 2));
    const log = await view.page.evaluate(() => window.fake.log);
    ok(log.some((entry) => entry.includes('Malformed message from the host')));
    view.expectedFaults = 1;
    strictEqual(await view.find('tk-row').count(), 2);
  });

  it('keeps what is being written when it resynchronises', async () => {
    const view = await open({ snapshot: snapshot({ rows, draft: 'old draft' }) });
    await view.find('textarea').fill('Not sent yet');
    await view.show(snapshot({ rows, draft: 'old draft' }));
    strictEqual(await view.find('textarea').inputValue(), 'Not sent yet');
    await view.show(snapshot({ session: { uuid: 's2', id: '20261121_002', title: 'Other' }, draft: 'its draft' }));
    strictEqual(await view.find('textarea').inputValue(), 'its draft');
  });

  it('shows the draft of the session that is opened, whatever is written for one that has not begun', async () => {
    const none = snapshot({ session: null, context: null });
    const view = await open({ snapshot: none });
    for (const draft of ['saved earlier', '']) {
      await view.find('textarea').fill('for a new session');
      await view.show(snapshot({ draft }));
      strictEqual(await view.find('textarea').inputValue(), draft);
      await view.show({ ...none, draft: 'for a new session' });
      strictEqual(await view.find('textarea').inputValue(), 'for a new session');
    }
  });

  it('keeps what is written on while the first message makes a session', async () => {
    const none = snapshot({ session: null, context: null });
    const view = await open({ snapshot: none });
    await view.find('textarea').fill('The first message');
    await view.find('textarea').press('Enter');
    await view.requested('send');
    await view.find('textarea').fill('and one more thing');
    await view.show(snapshot({ rows: [user('u1', 'The first message')] }));
    strictEqual(await view.find('textarea').inputValue(), 'and one more thing');

    // Opened just before, and shown just after.
    const other = await open({ snapshot: none });
    await other.find('textarea').fill('The first message');
    await other.find('textarea').press('Enter');
    await other.requested('send');
    await other.find('textarea').fill('and one more thing');
    await other.show(snapshot({ rows, draft: 'of the other' }));
    strictEqual(await other.find('textarea').inputValue(), 'of the other');
    deepStrictEqual(
      (await other.requests('save_draft')).map((r) => r.method === 'save_draft' && [r.session, r.text]),
      [[null, 'and one more thing']],
    );

    const refused = await open({ snapshot: none });
    await refused.page.evaluate(() => (window.fake.refuse.send = 'The disk is full.'));
    await refused.find('textarea').fill('The first message');
    await refused.find('textarea').press('Enter');
    await refused.find('footer .problem').waitFor();
    strictEqual(await refused.find('textarea').inputValue(), 'The first message');
    await refused.show(snapshot({ draft: 'saved earlier' }));
    strictEqual(await refused.find('textarea').inputValue(), 'saved earlier', 'it has begun no session');
  });

  it('shows what is streaming when it opens in the middle of an answer', async () => {
    const view = await open({
      snapshot: snapshot({ rows: rows.slice(0, 1), live: [{ id: 'l1', kind: 'assistant', model: 'Claude', text: 'Half an ans' }] }),
    });
    await view.delta(liveText('l1', 'wer'));
    match(await view.text('tk-row:last-of-type tk-markdown'), /^Half an answer$/);
  });

  it('takes the view apart and builds it anew after a fault', async () => {
    const view = await open({ snapshot: snapshot({ rows, draft: 'kept' }) });
    await view.page.evaluate(() => {
      const row = document.querySelector('tk-row') as HTMLElement & { render(): unknown; requestUpdate(): void };
      row.render = () => {
        throw new Error('provoked');
      };
      row.requestUpdate();
    });
    await view.find('.fault').waitFor();
    strictEqual(await view.find('tk-row .answer').count(), 1, 'the other row stays');
    await view.button('Reload view').click();
    await view.until('the fault is gone', async () => (await view.find('.fault').count()) === 0);
    await view.find('tk-row .user-message').waitFor();
    strictEqual(await view.find('textarea').inputValue(), 'kept');
    const log = await view.page.evaluate(() => window.fake.log);
    ok(log.some((entry) => /Fault in the view: tk-row: Error: provoked/.test(entry)));
    view.expectedFaults = 1;
  });
});
