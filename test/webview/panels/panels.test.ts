import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import type { PanelState } from '../../../src/protocol/panels';
import { axeViolations } from '../support/axe';
import { context } from '../support/fixtures';
import { usePanels, type Panel } from '../support/openPanel';
import { analytics, breakdown, noAnalytics, oneSession, yearOfSessions } from '../support/panelFixtures';
import { themes, type ThemeName } from '../support/themes';

const empty = breakdown({ session: null, context: null, largest: [], excluded: [], timeline: { points: [], marks: [] }, compactions: [] });
const states: Readonly<Record<string, PanelState>> = {
  breakdown: breakdown(),
  'breakdown-empty': empty,
  'breakdown-new': breakdown({
    context: context({ used: 9_400, compactions: 0 }),
    largest: [],
    excluded: [],
    timeline: { points: [], marks: [] },
    compactions: [],
  }),
  'breakdown-readonly': breakdown({ readonly: true, busy: true }),
  analytics: analytics(),
  'analytics-empty': noAnalytics,
  'analytics-month': analytics(
    {
      days: Array.from({ length: 30 }, (_, i) => ({
        ...analytics().report.days[i % 7]!,
        day: `2026-10-${String(i + 1).padStart(2, '0')}`,
      })),
    },
    { days: 30, tag: 'gone' },
  ),
  'analytics-one': oneSession,
  'analytics-year': yearOfSessions,
  failed: { panel: 'failed', message: 'The disk is full.' },
};

describe('panels', function () {
  this.timeout(120_000);
  const open = usePanels();

  for (const [name, state] of Object.entries(states)) {
    it(`${name}: accessible in every theme, whole at 320 pixels`, async () => {
      const panel = await open(state);
      if ((await panel.find('details').count()) > 0)
        await panel.page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
      const violations: Record<string, string[]> = {};
      for (const theme of Object.keys(themes) as ThemeName[]) {
        await panel.setTheme(theme);
        await panel.shot(`panel-${name}-${theme}`);
        violations[theme] = await axeViolations(panel, theme === 'dark' ? undefined : ['color-contrast', 'link-in-text-block']);
      }
      await panel.page.setViewportSize({ width: 320, height: 800 });
      await panel.settled();
      await panel.shot(`panel-${name}-narrow`);
      deepStrictEqual({ ...violations, cut: await cutOff(panel) }, { dark: [], light: [], hc: [], hcLight: [], cut: [] });
    });
  }

  it('asks for what its buttons say', async () => {
    const panel = await open(breakdown());
    for (const name of ['Compact now', 'Save Snapshot', 'Undo last compaction']) await panel.button(name).click();
    await panel.button(/^Jump to result of read_file/).click();
    await panel.button(/^Unpin user/).click();
    await panel.button(/^Pin assistant/).click();
    await panel.button(/^Jump to the compaction of 20 Nov/).click();
    await panel.button(/^Compare the prompt .* of 20 Nov/).click();
    await panel.button(/^Exclude result of read_file/).click();
    await panel.button(/^Include again: call of read_file/).click();
    strictEqual(await panel.button(/^Exclude user/).isDisabled(), true, 'what is pinned stays');
    deepStrictEqual(await panel.asked(), [
      { method: 'compact' },
      { method: 'checkpoint' },
      { method: 'undo_compaction' },
      { method: 'jump', id: 'e1' },
      { method: 'unpin', id: 'e2' },
      { method: 'pin', id: 'e4' },
      { method: 'jump', id: 'c1' },
      { method: 'compare', id: 'c1' },
      { method: 'exclude', id: 'e1' },
      { method: 'include', id: 'e9' },
    ]);
  });

  it('gives the text of an entry room in a panel of middle width', async () => {
    const panel = await open(breakdown());
    await panel.page.setViewportSize({ width: 760, height: 800 });
    await panel.settled();
    const widths = await panel.find('.excerpt').evaluateAll((all) => all.map((e) => e.clientWidth));
    const isCut = await panel.find('[aria-labelledby=largest]').evaluate((e) => e.scrollWidth > e.clientWidth);
    ok(widths.length > 0 && widths.every((width) => width >= 280), widths.join(' '));
    strictEqual(isCut, false);
  });

  it('says what could not be done, and takes it back', async () => {
    const panel = await open(breakdown());
    await panel.page.evaluate(() => (window.fakePanel.refuse['pin'] = 'There is no room for another pin.'));
    await panel.button(/^Pin assistant/).click();
    await panel.find('.problem').waitFor();
    strictEqual(await panel.text('.problem span'), 'There is no room for another pin.');
    await panel.button('Dismiss').click();
    strictEqual(await panel.find('.problem').count(), 0);
  });

  it('says calmly, and aloud, that there was nothing to do', async () => {
    const panel = await open(breakdown());
    await panel.page.evaluate(() => (window.fakePanel.replies['checkpoint'] = 'Nothing new since the last snapshot.'));
    await panel.button('Save Snapshot').click();
    await panel.find('.problem.calm').waitFor();
    strictEqual(await panel.find('[role=alert]').count(), 0);
    deepStrictEqual(
      [await panel.text('.problem span'), await panel.text('[aria-live]')],
      ['Nothing new since the last snapshot.', 'Nothing new since the last snapshot.'],
    );
    await panel.button('Compact now').click();
    await panel.find('.problem').waitFor({ state: 'detached' });
  });

  it('follows the numbers without losing the focus', async () => {
    const panel = await open(breakdown());
    await panel.button(/^Jump to user/).focus();
    await panel.showState(breakdown({ context: context({ used: 101_000, provenance: 'exact' }) }));
    strictEqual(await panel.text('.large'), '101k / 200k · 51%');
    match((await panel.page.evaluate(() => document.activeElement?.getAttribute('aria-label'))) ?? '', /^Jump to user/);
    strictEqual(await panel.find('[role=meter]').getAttribute('aria-valuetext'), '101 thousand of 200 thousand tokens, 51 percent');
  });

  it('draws no level that lies above the scale', async () => {
    const levels = async (share: number) => {
      const { timeline } = breakdown();
      const panel = await open(
        breakdown({
          timeline: { points: timeline.points.map((point) => ({ ...point, tokens: Math.round(point.tokens * share) })), marks: [] },
        }),
      );
      return panel.find('.plot-level-label').allTextContents();
    };
    deepStrictEqual([await levels(1), await levels(0.05)], [['window 200k', 'compaction at 170k'], []]);
  });

  it('keeps the labels of two levels apart', async () => {
    const panel = await open(
      breakdown({ context: context({ thresholds: [{ kind: 'compaction', percent: 97, tokens: 194_000, state: 'ahead' }] }) }),
    );
    const boxes = await panel
      .find('.plot-level-label')
      .evaluateAll((labels) => labels.map((label) => label.getBoundingClientRect().toJSON() as DOMRect));
    const [window, compaction] = boxes;
    ok(window && compaction && Math.abs(window.top - compaction.top) < window.height, 'the levels lie close to each other');
    ok(compaction.right < window.left, JSON.stringify(boxes));
  });

  it('draws one curve, and has the same in a table', async () => {
    const panel = await open(breakdown());
    const drawn = await panel.page.evaluate(() => ({
      lines: document.querySelectorAll('.plot-line').length,
      points: document.querySelector('.plot-line')!.getAttribute('d')!.split('L').length,
      colour: getComputedStyle(document.querySelector('.plot-line')!).stroke,
      wanted: getComputedStyle(document.documentElement).getPropertyValue('--vscode-charts-blue'),
      marks: [...document.querySelectorAll('.plot-mark')].map((mark) => mark.className.replace('plot-mark ', '')),
      label: document.querySelector('.plot svg')!.getAttribute('aria-label')!,
    }));
    deepStrictEqual(
      { lines: drawn.lines, points: drawn.points, marks: drawn.marks },
      { lines: 1, points: 120, marks: ['mark-checkpoint', 'mark-compaction', 'mark-exclusion', 'mark-undo'] },
    );
    ok(drawn.colour !== 'none' && drawn.wanted !== '', drawn.colour);
    match(drawn.label, /: 83\.7k now, 167\.7k at most\. Compactions: 1, snapshots: 1\./);
    await panel.find('summary').click();
    const cells = await panel.find('details tbody tr td:nth-child(2)').allTextContents();
    deepStrictEqual(
      cells.filter((cell) => !/^Re/.test(cell)),
      ['Snapshot', 'Compaction', 'Excluded', 'Compaction undone', 'Now'],
    );
    ok(cells.length <= 25, `${cells.length} rows`);
  });

  it('counts what was spent, says what is unknown, and asks for what is chosen', async () => {
    const panel = await open(analytics());
    deepStrictEqual(await panel.find('.facts dd').allTextContents(), [
      '6',
      '4',
      '1,204',
      '2.1M',
      '310',
      '$6.40 + 12 requests without a known price',
    ]);
    const cells = async (label: string) =>
      (await panel.find(`[aria-labelledby=${label}] tbody tr`).allTextContents()).map((row) => row.replace(/\s+/g, ' ').trim());
    deepStrictEqual(await cells('top'), [
      'Parser rewrite 20261122_001 · #work · #parser 612 140.3k 1.5M $4.90',
      'Untitled 20261121_002 40 9k 588.7k unknown',
      'Why is the cache cold after every deployment on Mondays? 20261104_001 2 300 0 none',
    ]);
    deepStrictEqual(await cells('folds'), ['Prepared in the background3450k', 'Passages word for word1129k']);
    await panel.page.getByRole('combobox', { name: /^Model/ }).selectOption('ollama/qwen3-coder:30b');
    await panel.page.getByRole('combobox', { name: /^Days/ }).selectOption('30');
    await panel.button('Parser rewrite').click();
    const all = { days: 7, workspace: null, model: null, tag: null };
    deepStrictEqual(await panel.asked(), [
      { method: 'filter', filter: { ...all, model: 'ollama/qwen3-coder:30b' } },
      { method: 'filter', filter: { ...all, days: 30 } },
      { method: 'open_session', uuid: 's1' },
    ]);
  });

  it('draws a bar for each day, and has the same in a table', async () => {
    const panel = await open(analytics());
    strictEqual((await panel.find('.plot-bars').nth(1).getAttribute('d'))?.split('M').length, 6);
    await panel.find('summary').nth(1).click();
    strictEqual(await panel.find('details').nth(1).locator('tbody tr').count(), 7);
    strictEqual((await panel.find('details').nth(1).locator('tbody tr').nth(5).textContent())?.trim(), '21 Nov 20261.2M');
  });

  it('can be used with the keyboard alone', async () => {
    const panel = await open(breakdown());
    const reached = new Set<string>();
    for (let i = 0; i < 25; i++) {
      await panel.page.keyboard.press('Tab');
      reached.add(
        await panel.page.evaluate(
          () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? '',
        ),
      );
    }
    for (const name of ['Compact now', 'Save Snapshot', 'Undo last compaction', 'Sizes as a table'])
      ok(reached.has(name), `${name} in ${[...reached].join(' | ')}`);
  });
});

/** What makes the page scroll sideways. */
function cutOff(panel: Panel): Promise<string[]> {
  return panel.page.evaluate(() =>
    [...document.querySelectorAll('tk-panel *')]
      .filter((e) => e.getClientRects().length > 0 && e.closest('.table-box, .sr-only, .plot-area') === null)
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5)
      .map((e) => `${e.tagName}.${e.getAttribute('class')}: ${e.textContent?.trim().slice(0, 40)}`),
  );
}
