import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { assistant, conversation, liveText, running, snapshot } from './support/fixtures';
import { useViews, type View } from './support/openView';

const rows = (view: View) => view.find('tk-row').count();
const setReader = (view: View, on: boolean) =>
  view.page.evaluate((value) => document.body.classList.toggle('vscode-using-screen-reader', value), on);

describe('with a screen reader', function () {
  this.timeout(60_000);
  const open = useViews();

  it('has every loaded row in the document, older ones still page by page', async () => {
    const all = conversation(500);
    const view = await open({ snapshot: snapshot({ rows: all.slice(100), hasMore: true }), earlier: all.slice(0, 100) });
    ok((await rows(view)) <= 300);
    await setReader(view, true);
    await view.until('all rows', async () => (await rows(view)) === 400);
    await view.delta({ kind: 'row', row: assistant('n1', 'New') });
    strictEqual(await rows(view), 401);
    await view.page.evaluate(() => (document.querySelector('.scroller')!.scrollTop = 0));
    await view.until('an older page', async () => (await rows(view)) > 401);
    deepStrictEqual((await view.requests('older'))[0], { method: 'older', before: 'r100' });
  });

  it('keeps the place, and a bounded document, when it is switched off', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(600) }) });
    await setReader(view, true);
    await view.until('all rows', async () => (await rows(view)) === 600);
    await view.find('tk-row[data-id=r200]').evaluate((row) => row.scrollIntoView());
    await view.settled();
    await setReader(view, false);
    await view.until('a window of them', async () => (await rows(view)) <= 300);
    await view.settled();
    const top = await view.find('.scroller').evaluate((scroller) => scroller.getBoundingClientRect().top);
    const at = await view.find('tk-row[data-id=r200]').evaluate((row) => row.getBoundingClientRect().top);
    ok(Math.abs(at - top) < 4, `${at} is not at ${top}`);
  });

  it('says an answer once, when it is complete', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(4), turn: running('streaming') }) });
    await setReader(view, true);
    const said = () => view.find('[role=status]').textContent();
    for (const text of ['One ', 'two ', 'three.']) {
      await view.delta(liveText('l1', text));
      strictEqual(await said(), '');
    }
    await view.delta({ kind: 'row', row: assistant('l1', 'One two three.') }, { kind: 'turn', turn: null });
    ok((await said())!.includes('One two three.'), (await said()) ?? '');
  });
});
