import { deepStrictEqual } from 'node:assert';
import { axeViolations } from './support/axe';
import { cutOff } from './support/cutOff';
import { useViews } from './support/openView';
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
      await view.settled();
      await view.shot(`${name}-narrow`);
      deepStrictEqual({ ...violations, cut: await cutOff(view) }, { dark: [], light: [], hc: [], hcLight: [], cut: [] });
    });
  }
});
