import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert';
import { unknownCache } from '../../../src/core/context/measure/snapshot';
import { context, noon, running, snapshot, user } from '../support/fixtures';
import { themes, type ThemeName } from '../support/themes';
import { useViews, type View } from '../support/openView';

const meter = (view: View) =>
  view
    .find('[role=meter]')
    .evaluate((e) => ({
      now: e.getAttribute('aria-valuenow'),
      max: e.getAttribute('aria-valuemax'),
      text: e.getAttribute('aria-valuetext'),
    }));

describe('gauge', function () {
  this.timeout(60_000);
  const open = useViews();
  const rows = [user('u1', 'Hi')];

  it('shows size, share and forecast, marked as estimated', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    strictEqual(await view.text('.gauge-label'), 'Context window, ~84.1k / 200k · 42% compacts in about 9 turns');
    deepStrictEqual(await meter(view), { now: '84100', max: '200000', text: '84 thousand of 200 thousand tokens, 42 percent, estimated' });
  });

  it('follows the snapshots of the host', async () => {
    const view = await open({ snapshot: snapshot({ rows, context: null }) });
    strictEqual(await view.find('[role=meter]').count(), 0);
    await view.delta({
      kind: 'context',
      context: context({ used: 950, provenance: 'exact', turnsLeft: null, effective: 8192, limit: 6192 }),
    });
    strictEqual(await view.text('.gauge-label'), 'Context window, 950 / 8.2k · 12%');
    deepStrictEqual(await meter(view), { now: '950', max: '8192', text: '950 of 8 thousand tokens, 12 percent' });
    await view.delta({
      kind: 'context',
      context: context({ used: 1_204_000, effective: 2_000_000, limit: 1_900_000, provenance: 'exact', turnsLeft: 1, thresholds: [] }),
    });
    strictEqual(await view.text('.gauge-label'), 'Context window, 1.2M / 2M · 60% full in about 1 turn');
    await view.delta({ kind: 'context', context: context({ used: 0, turnsLeft: null }) });
    strictEqual(await view.text('.gauge-label'), 'Context window, ~0 / 200k · 0%');
    await view.delta({ kind: 'context', context: null });
    strictEqual(await view.find('[role=meter]').count(), 0);
  });

  it('draws every part to scale, the reserve hatched at the far end, and a tick where each event is due', async () => {
    const view = await open({ snapshot: snapshot({ rows }), width: 440 });
    const drawn = await view.page.evaluate(() => {
      const bar = document.querySelector('.segments')!.getBoundingClientRect();
      const inBar = (e: Element) => {
        const r = e.getBoundingClientRect();
        return { left: (r.left - bar.left) / bar.width, right: (r.right - bar.left) / bar.width };
      };
      const parts = [...document.querySelectorAll('.segment')].map((e) => ({ title: (e as HTMLElement).title, ...inBar(e) }));
      const ticks = [...document.querySelectorAll('.tick')].map((e) => ({ title: (e as HTMLElement).title, ...inBar(e) }));
      const reserve = getComputedStyle(document.querySelector('.part-reserved')!).backgroundImage;
      return { parts, ticks, reserve };
    });
    deepStrictEqual(
      drawn.parts.map((p) => p.title),
      [
        'System prompt: 2.4k',
        'Tools: 6.1k',
        'Memory notes: 900',
        'Summary: 3.9k',
        'History: 52.3k',
        'Tool results: 18.3k',
        'Draft: 200',
        'Reserved for the answer: 10.2k',
      ],
    );
    const history = drawn.parts[4]!;
    near(history.right - history.left, 52_300 / 200_000);
    near(drawn.parts[7]!.right, 1);
    match(drawn.reserve, /repeating-linear-gradient/);
    deepStrictEqual(
      drawn.ticks.map((t) => t.title),
      ['Memory reminder at 50% (100k)', 'Memory reminder at 75% (150k)', 'Compaction at 85% (170k)', 'Limit at 95% (189.8k)'],
    );
    near((drawn.ticks[0]!.left + drawn.ticks[0]!.right) / 2, 0.5);
    near((drawn.ticks[2]!.left + drawn.ticks[2]!.right) / 2, 0.85);
  });

  it('leaves out what the policy has switched off', async () => {
    const thresholds = context().thresholds.map((t) => (t.kind === 'nudge' ? { ...t, state: 'off' as const } : t));
    const view = await open({ snapshot: snapshot({ rows, context: context({ thresholds }) }) });
    strictEqual(await view.find('.tick').count(), 2);
  });

  it('warns in words and by a sign, not by colour alone', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    const level = async (used: number) => {
      await view.delta({ kind: 'context', context: context({ used }) });
      return { level: await view.find('.gauge').getAttribute('class'), signs: await view.find('.gauge-size svg').count() };
    };
    deepStrictEqual(await level(120_000), { level: 'gauge normal', signs: 0 });
    deepStrictEqual(await level(150_000), { level: 'gauge warning', signs: 1 });
    deepStrictEqual(await level(170_000), { level: 'gauge full', signs: 1 });
    deepStrictEqual(await level(204_600), { level: 'gauge full', signs: 1 });
    strictEqual(await view.text('.gauge-label'), 'Context window, ~204.6k / 200k · 102% compacts with the next message');
    const off = context().thresholds.map((one) => (one.kind === 'compaction' ? { ...one, state: 'off' as const } : one));
    await view.delta({ kind: 'context', context: context({ used: 204_600, thresholds: off }) });
    strictEqual(await view.find('.gauge').getAttribute('class'), 'gauge over');
    strictEqual(await view.text('.gauge-label'), 'Context window, ~204.6k / 200k · 102% over the limit by 14.8k');
    deepStrictEqual(await meter(view), {
      now: '200000',
      max: '200000',
      text: '205 thousand of 200 thousand tokens, 102 percent, estimated, over the limit',
    });
  });

  it('opens its numbers by keyboard, closes them with Escape and stops nothing by it', async () => {
    const view = await open({ snapshot: snapshot({ rows, turn: running('streaming') }) });
    await view.find('textarea').focus();
    await view.page.keyboard.press('Shift+Tab');
    const rowsOfTable = await view.find('.gauge-card tr').allTextContents();
    deepStrictEqual(
      rowsOfTable.map((row) => row.replace(/\s+/g, ' ').trim()),
      [
        'PartTokensShare',
        'System prompt 2.4k 1%',
        'Tools 6.1k 3%',
        'Memory notes 900 <1%',
        'Summary 3.9k 2%',
        'History 52.3k 26%',
        'Tool results 18.3k 9%',
        'Draft 200 <1%',
        'In use~84.1k42%',
        'Reserved for the answer 10.2k 5%',
      ],
    );
    match(await view.text('.gauge-note'), /^Next: memory reminder at 100k\. Compacted once\. Estimated until/);
    await view.page.keyboard.press('Escape');
    strictEqual(await view.find('.gauge-card').count(), 0);
    strictEqual(await view.page.evaluate(() => document.activeElement?.className), 'gauge-label');
    deepStrictEqual(await view.requests(), []);
  });

  it('leads the keyboard from its numbers to what can be done, and closes when it goes on', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.find('textarea').focus();
    const reached: (string | null | undefined)[] = [];
    for (let i = 0; i < 5; i++) {
      await view.page.keyboard.press('Shift+Tab');
      await view.settled();
      reached.push(
        await view.page.evaluate(() =>
          document.querySelector('tk-gauge')!.contains(document.activeElement)
            ? document.activeElement!.textContent?.trim().split(/\s/)[0]
            : null,
        ),
      );
    }
    deepStrictEqual([reached, await view.find('.gauge-card').count()], [['Context', 'Breakdown', 'Save', 'Compact', null], 0]);
  });

  it('says that what is due comes next, not what lies behind it', async () => {
    const thresholds = context().thresholds.map((one, at) => (at === 0 ? { ...one, state: 'due' as const } : one));
    const view = await open({
      snapshot: snapshot({ rows, context: context({ used: 104_000, thresholds, nextEvent: { kind: 'nudge', inTokens: 46_000 } }) }),
    });
    await view.find('[role=meter]').hover();
    match(await view.text('.gauge-note'), /^Next: memory reminder with the next message\. /);
    await view.delta({ kind: 'context', context: context({ used: 84_100 }) });
    match(await view.text('.gauge-note'), /^Next: memory reminder at 100k\. /);
  });

  it('opens on hover and compacts on request', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.find('[role=meter]').hover();
    await view.button('Compact now').click();
    deepStrictEqual(await view.requested('compact'), { method: 'compact' });
    strictEqual(await view.find('.gauge-card').count(), 0);
    strictEqual(await view.page.evaluate(() => document.activeElement?.className), 'gauge-label');
  });

  it('says calmly why nothing was compacted', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.page.evaluate(() => (window.fake.answers['compact'] = 'There is nothing to compact.'));
    await view.find('[role=meter]').hover();
    await view.button('Compact now').click();
    await view.until('it is told', async () => (await view.text('tk-app > [role=status]')) === 'There is nothing to compact.');
    strictEqual(await view.text('.problem.calm span'), 'There is nothing to compact.');
    await view.button('Dismiss').click();
    strictEqual(await view.find('.problem').count(), 0);
  });

  it('stays closed when the page moves it below a pointer that rests, and opens when that moves', async () => {
    const view = await open({ snapshot: snapshot({ rows }), now: noon });
    const { y, height } = (await view.find('tk-gauge').boundingBox())!;
    await view.page.mouse.move(100, y - 20);
    await view.find('textarea').fill('One\nmore\nline\n');
    await view.until('the gauge to be below the pointer', () =>
      view.page.evaluate(() => document.querySelector('tk-gauge:hover') !== null),
    );
    ok((await view.find('tk-gauge').boundingBox())!.y < y - height / 2);
    await view.page.clock.runFor(1_000);
    await view.settled();
    strictEqual(await view.find('.gauge-card').count(), 0);
    await view.page.mouse.move(102, y - 20);
    await view.page.clock.runFor(1_000);
    await view.find('.gauge-card').waitFor();
  });

  it('paints every part in every theme, also where the theme lacks a colour', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    for (const theme of Object.keys(themes) as ThemeName[]) {
      await view.setTheme(theme);
      const unpainted = await view
        .find('.segment')
        .evaluateAll((all) =>
          all
            .filter((e) => getComputedStyle(e).backgroundImage === 'none' && getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)')
            .map((e) => `${e.className}`),
        );
      deepStrictEqual([theme, unpainted], [theme, []]);
    }
  });

  it('offers a checkpoint and the breakdown as well', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    for (const name of ['Save Snapshot', 'Breakdown']) {
      await view.find('.gauge-label').click();
      await view.button(name).click();
    }
    deepStrictEqual(await view.requests(), [{ method: 'checkpoint' }, { method: 'show_breakdown' }]);
  });

  it('does not offer to compact while a turn runs', async () => {
    const view = await open({ snapshot: snapshot({ rows, turn: running('streaming', { startedAt: noon }) }) });
    await view.find('.gauge-label').click();
    deepStrictEqual(
      await view.find('.gauge-card vscode-button').evaluateAll((all) => all.map((e) => `${e.textContent} ${e.hasAttribute('disabled')}`)),
      ['Compact now true', 'Save Snapshot false', 'Breakdown false'],
    );
  });

  it('says in its card what the next message costs, and above the composer when the prompt cache has expired', async () => {
    const price = (written: number, cost: number) => ({ read: 0, written, fresh: 0, cost });
    const next = { expects: 'warm', warm: price(2_100, 0.01), cold: price(50_100, 0.19), folded: price(9_000, 0.03), full: null } as const;
    const warm = { ...unknownCache, state: 'warm', until: noon, time: '5m', held: 48_000, next } as const;
    const view = await open({ snapshot: snapshot({ rows, context: context({ cache: warm }) }) });
    strictEqual(await view.find('.cold-line').count(), 0);
    strictEqual(await view.find('.gauge-cold').count(), 0);
    await view.find('.gauge-label').click();
    match(await view.text('.gauge-card'), /Prompt cache: warm until .*\. The next message writes about 2\.1k tokens \(\$0\.01\)/);
    doesNotMatch(await view.text('.gauge-card'), /background/);
    await view.delta({ kind: 'context', context: context({ cache: warm, summarizing: true }) });
    match(await view.text('.gauge-card'), /A summary is being written in the background\./);
    await view.shot('gauge-summarizing');
    await view.page.keyboard.press('Escape');
    // A pointer that rests on the gauge would open the card again when the page moves.
    await view.page.mouse.move(1, 1);
    await view.find('.gauge-card').waitFor({ state: 'detached' });
    const cold = { ...warm, state: 'cold', held: 0, rewrites: 48_000, matters: true, whenCold: 'ask' } as const;
    await view.delta({ kind: 'context', context: context({ cache: { ...cold, next: { ...next, expects: 'cold' } } }) });
    strictEqual(
      await view.text('.cold-line'),
      'The prompt cache has expired. This message sends 50.1k tokens again ($0.19). Compact First ($0.03)',
    );
    strictEqual(await view.text('.gauge-cold'), 'cache expired');
    await view.find('.cold-line button').click();
    deepStrictEqual((await view.requests()).at(-1), { method: 'compact' });
    await view.delta({ kind: 'context', context: context({ cache: { ...cold, whenCold: 'fold', next: { ...next, expects: 'folded' } } }) });
    strictEqual(
      await view.text('.cold-line'),
      'The prompt cache has expired. This message is compacted first: it sends 9k tokens ($0.03), not 50.1k ($0.19).',
    );
  });
});

function near(actual: number, expected: number): void {
  ok(Math.abs(actual - expected) < 0.012, `${actual} is not about ${expected}`);
}
