import { deepStrictEqual } from 'node:assert';
import { axeViolations } from './support/axe';
import { useViews, type View } from './support/openView';
import { states } from './support/states';
import { themes, type ThemeName } from './support/themes';

/** Every state in every theme: kept as a picture, held against the accessibility rules, and squeezed into the narrowest side bar. */
describe('states', function () {
  this.timeout(120_000);
  const open = useViews();

  for (const { name, options, act } of states) {
    it(`${name}: accessible in every theme, whole at 220 pixels`, async () => {
      const view = await open(options);
      await act?.(view);
      await view.settled();
      await view.shot(`${name}-dark`);
      const violations: Record<string, string[]> = { dark: await axeViolations(view) };
      for (const theme of (Object.keys(themes) as ThemeName[]).filter((t) => t !== 'dark')) {
        await view.setTheme(theme);
        if (theme !== 'hcLight') await view.shot(`${name}-${theme}`);
        violations[theme] = await axeViolations(view, ['color-contrast', 'link-in-text-block']);
      }
      await view.page.setViewportSize({ width: 220, height: 640 });
      await view.setTheme('dark');
      await view.shot(`${name}-narrow`);
      deepStrictEqual({ ...violations, cut: await cutOff(view) }, { dark: [], light: [], hc: [], hcLight: [], cut: [] });
    });
  }
});

/** What sticks out to the right and neither scrolls by itself nor ends in an ellipsis. */
function cutOff(view: View): Promise<string[]> {
  return view.page.evaluate(() => {
    const allowed = (e: Element) => e.closest('pre, .table-box, .sr-only') !== null || getComputedStyle(e).textOverflow === 'ellipsis';
    const wide = (e: Element) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' && e instanceof HTMLElement;
    return [...document.querySelectorAll('tk-app *')]
      .filter((e) => e.getClientRects().length > 0 && !allowed(e) && !allowed(e.parentElement!))
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5 || wide(e))
      .map((e) => `${e.tagName}.${e.getAttribute('class')}: ${e.textContent?.trim().slice(0, 40)}`);
  });
}
