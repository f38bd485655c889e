import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { assistant, compaction, conversation, liveText, running, snapshot, user } from './support/fixtures';
import { useViews, type View } from './support/openView';

const atEnd = (view: View) => view.find('.scroller').evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight < 2);
const rowTop = (view: View, id: string) => view.find(`tk-row[data-id="${id}"]`).evaluate((e) => Math.round(e.getBoundingClientRect().top));
const visible = (view: View) =>
  view.page.evaluate(() => {
    const box = document.querySelector('.scroller')!.getBoundingClientRect();
    const row = [...document.querySelectorAll<HTMLElement>('tk-row')].find((r) => r.getBoundingClientRect().bottom > box.top + 1)!;
    return { id: row.dataset['id']!, top: Math.round(row.getBoundingClientRect().top) };
  });
const wheel = async (view: View, by: number) => {
  await view.find('.scroller').hover();
  await view.page.mouse.wheel(0, by);
};

describe('scrolling', function () {
  this.timeout(120_000);
  const open = useViews();

  it('follows a streaming answer at the end, and lets go of it as soon as the reader scrolls up', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(20), turn: running('streaming') }) });
    ok(await atEnd(view));
    await view.delta(liveText('l1', 'A line.\n\n'.repeat(30)));
    await view.until('the end is in sight', () => atEnd(view));
    await wheel(view, -300);
    await view.find('.jump').waitFor();
    const before = await visible(view);
    await view.delta(liveText('l1', 'Another line.\n\n'.repeat(30)), { kind: 'row', row: user('u9', 'Later') });
    deepStrictEqual(await visible(view), before);
    await view.button('Jump to latest').click();
    await view.until('the end is in sight', () => atEnd(view));
    await view.delta(liveText('l1', 'More.\n\n'.repeat(30)));
    await view.until('it follows again', () => atEnd(view));
    strictEqual(await view.find('.jump').isVisible(), false);
  });

  it('stays at the beginning of what offline mode has found, with the question above it', async () => {
    const connection = { provider: 'offline', modelName: 'Offline', key: 'missing', offlineChosen: true } as const;
    const view = await open({ snapshot: snapshot({ rows: conversation(20), connection }) });
    ok(await atEnd(view));
    await view.delta({ kind: 'turn', turn: running('streaming') });
    ok(await atEnd(view), 'the question before it is none of this answer');
    await view.delta({ kind: 'row', row: user('u9', 'Where is the tide?') }, liveText('l1', 'The first line.\n\n'));
    await view.until('the end is in sight', () => atEnd(view));
    for (let part = 0; part < 4; part++) await view.delta(liveText('l1', 'Another line.\n\n'.repeat(20)));
    const top = await view.find('.scroller').evaluate((scroller) => Math.round(scroller.getBoundingClientRect().top));
    await view.until('the question is at the top', async () => (await rowTop(view, 'u9')) === top);
    await view.delta(
      { kind: 'row', row: assistant('l1', `The first line.\n\n${'Another line.\n\n'.repeat(80)}`) },
      { kind: 'turn', turn: null },
    );
    strictEqual(await rowTop(view, 'u9'), top);
    ok(!(await atEnd(view)));
  });

  it('keeps the end in sight when the composer grows or the view gets narrower', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(20) }) });
    await view.find('textarea').fill('line\n'.repeat(8));
    await view.until('the end is in sight', () => atEnd(view));
    await view.page.setViewportSize({ width: 240, height: 500 });
    await view.until('the end is in sight', () => atEnd(view));
  });

  it('shows what is opened at the end from its beginning, and follows on when all of it fits', async () => {
    const summary = `The first line.\n\n${'Another line.\n\n'.repeat(60)}`;
    const view = await open({
      snapshot: snapshot({
        rows: [
          ...conversation(20),
          compaction('x1', { summary }),
          { kind: 'thinking', id: 't1', at: 0, text: 'A short thought.\n\nOf two lines.', durationMs: 2_000, folded: false },
        ],
      }),
    });
    const inView = (selector: string) =>
      view.page.evaluate((selector) => {
        const { top, bottom } = document.querySelector('.scroller')!.getBoundingClientRect();
        const box = document.querySelector(selector)!.getBoundingClientRect();
        return box.top >= top && box.top + 10 < bottom;
      }, selector);
    await view.button('Thought for 2 s').click();
    await view.settled();
    ok(await atEnd(view));
    await view.delta(liveText('l1', 'A line.\n\n'.repeat(5)));
    await view.until('it follows on', () => atEnd(view));
    await view.delta({ kind: 'live_dropped', id: 'l1' });
    await view.button('Show summary').click();
    await view.settled();
    deepStrictEqual([await inView('tk-row[data-id=x1] .compaction-head'), await inView('.summary p')], [true, true]);
    strictEqual(await atEnd(view), false);
    await view.find('.jump').waitFor();
  });

  it('fetches older pages on the way up and keeps the row being read where it is', async () => {
    const all = conversation(230);
    const view = await open({ snapshot: snapshot({ rows: all.slice(180), hasMore: true }), earlier: all.slice(0, 180) });
    for (const first of ['r130', 'r80', 'r30', 'r0']) {
      const moved = await view.page.evaluate(async () => {
        const scroller = document.querySelector('.scroller')!;
        scroller.scrollTop = Math.min(scroller.scrollTop, 600);
        const box = scroller.getBoundingClientRect();
        await new Promise(requestAnimationFrame);
        const row = [...document.querySelectorAll<HTMLElement>('tk-row')].find((r) => r.getBoundingClientRect().bottom > box.top + 1)!;
        return { id: row.dataset['id']!, top: Math.round(row.getBoundingClientRect().top) };
      });
      await view.until(`row ${first}`, async () => (await view.find(`tk-row[data-id=${first}]`).count()) === 1);
      await view.settled();
      strictEqual(await rowTop(view, moved.id), moved.top);
    }
    await view.page.evaluate(() => (document.querySelector('.scroller')!.scrollTop = 0));
    await view.settled();
    strictEqual((await visible(view)).id, 'r0');
    const asked = (await view.requests('older')).map((r) => (r.method === 'older' ? r.before : ''));
    deepStrictEqual(asked, ['r180', 'r130', 'r80', 'r30']);
  });

  it('goes to a row far up, marks it, moves the focus there and says so', async () => {
    const all = conversation(3_000);
    const view = await open({ snapshot: snapshot({ rows: all.slice(2_950), hasMore: true }), earlier: all.slice(0, 2_950) });
    const row = view.find('tk-row[data-id=r40]');
    // It is marked for 4 s only.
    await view.page.evaluate(() => {
      const look = () => {
        if (document.querySelector('tk-row.marked[data-id=r40]')) document.body.dataset['sawMark'] = 'yes';
      };
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributeFilter: ['class'] });
    });
    await view.delta({ kind: 'reveal', id: 'r40' });
    await view.until('the row is marked', async () => (await view.find('body[data-saw-mark]').count()) === 1);
    await view.settled();
    const top = await view.find('.scroller').evaluate((e) => Math.round(e.getBoundingClientRect().top));
    ok(Math.abs((await rowTop(view, 'r40')) - top - 48) <= 2, `${await rowTop(view, 'r40')} below ${top}`);
    deepStrictEqual(
      await view.page.evaluate(() => [
        (document.activeElement as HTMLElement).dataset['id'],
        document.querySelector('[role=status]')!.textContent,
        document.querySelectorAll('tk-row').length <= 300,
      ]),
      ['r40', 'Moved to the message that was found.', true],
    );
    await view.until('the mark goes', async () => !((await row.getAttribute('class')) ?? '').includes('marked'));
    await view.delta({ kind: 'reveal', id: 'gone' });
    await view.until(
      'it is said',
      async () => (await view.find('[role=status]').textContent()) === 'This message is not in the transcript any more.',
    );
  });

  it('fetches older pages by itself while the first one does not fill the view', async () => {
    const all = conversation(60);
    const view = await open({ snapshot: snapshot({ rows: all.slice(58), hasMore: true }), earlier: all.slice(0, 58), pageSize: 4 });
    await view.until('the view is filled', () => view.find('.scroller').evaluate((e) => e.scrollHeight > 2 * e.clientHeight));
    ok(await atEnd(view));
    strictEqual(await view.find('.jump').isVisible(), false);
  });

  it('says so once when older pages cannot be fetched', async () => {
    const all = conversation(60);
    const view = await open({ snapshot: snapshot({ rows: all.slice(40), hasMore: true }) });
    await view.page.evaluate(() => (window.fake.refuse['older'] = 'The file is gone.'));
    await view.page.evaluate(() => (document.querySelector('.scroller')!.scrollTop = 0));
    await view.find('.problem').waitFor();
    await view.settled();
    ok((await view.requests('older')).length <= 1);
  });

  it('has at most 300 of 10,000 rows in the document, wherever the reader goes', async () => {
    const rows = conversation(10_000);
    const view = await open({ snapshot: snapshot({ rows }) });
    const most = await view.page.evaluate(async () => {
      let seen = 0;
      const count = () => (seen = Math.max(seen, document.querySelectorAll('tk-row').length));
      new MutationObserver(count).observe(document.querySelector('.rows')!, { childList: true });
      const scroller = document.querySelector('.scroller')!;
      const frames = async (n: number) => {
        for (let i = 0; i < n; i++) await new Promise(requestAnimationFrame);
      };
      for (let i = 0; i < 12; i++) {
        scroller.scrollTop = 0;
        await frames(3);
      }
      for (let i = 0; i < 6; i++) {
        scroller.scrollTop = scroller.scrollHeight;
        await frames(3);
      }
      count();
      return seen;
    });
    ok(most <= 300, `${most} rows`);
    ok(most > 200, `the window has moved: ${most} rows`);
    await view.button('Jump to latest').click();
    await view.until(
      'the last row is in sight',
      async () => (await view.find('tk-row[data-id=r9999]').count()) === 1 && (await atEnd(view)),
    );
    await view.delta(...Array.from({ length: 400 }, (_, i) => ({ kind: 'row' as const, row: assistant(`n${i}`, `New ${i}`) })));
    ok((await view.find('tk-row').count()) <= 300);
    ok(await atEnd(view));
    ok((await view.find('*').count()) < 8000);
  });

  it('returns to the place where the reader was before the view was hidden', async () => {
    const rows = conversation(300);
    const first = await open({ snapshot: snapshot({ rows: rows.slice(100), hasMore: true }) });
    await wheel(first, -1500);
    await first.find('.jump').waitFor();
    await first.until('it is remembered', () =>
      first.page.evaluate(() => Boolean((window.fake.state as { anchor?: unknown } | undefined)?.anchor)),
    );
    await first.settled();
    const state = await first.page.evaluate(() => window.fake.state);
    const place = await visible(first);
    const second = await open({ snapshot: snapshot({ rows: rows.slice(100), hasMore: true }), state });
    await second.until(
      'the place is found',
      async () => (await second.find(`tk-row[data-id=${place.id}]`).count()) === 1 && !(await atEnd(second)),
    );
    await second.settled();
    deepStrictEqual((await visible(second)).id, place.id);
  });

  it('looks for that place in older pages too', async () => {
    const rows = conversation(300);
    const view = await open({
      snapshot: snapshot({ rows: rows.slice(250), hasMore: true }),
      earlier: rows.slice(0, 250),
      state: { session: 's1', anchor: { id: 'r111', offset: 20 }, expanded: [] },
    });
    await view.until('the row is there', async () => (await view.find('tk-row[data-id=r111]').count()) === 1);
    await view.settled();
    strictEqual(await rowTop(view, 'r111'), 20 + (await view.find('.scroller').evaluate((e) => Math.round(e.getBoundingClientRect().top))));
  });

  it('keeps the place through a resynchronisation', async () => {
    const rows = conversation(100);
    const view = await open({ snapshot: snapshot({ rows }) });
    await wheel(view, -1200);
    await view.find('.jump').waitFor();
    await view.settled();
    const before = await visible(view);
    await view.show(snapshot({ rows: [...rows, user('u9', 'New')] }));
    await view.until('the place is kept', async () => (await visible(view)).id === before.id);
    strictEqual((await visible(view)).top, before.top);
  });

  it('never moves the focus while an answer streams', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(4), turn: running('streaming') }) });
    await view.find('textarea').focus();
    await view.delta(
      liveText('l1', '```ts\nlet a;\n```\n\ntext'),
      { kind: 'row', row: assistant('l1', 'done') },
      { kind: 'turn', turn: null },
    );
    strictEqual(await view.page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA');
  });
});
