import { deepStrictEqual } from 'node:assert';
import { axeViolations } from './support/axe';
import { useViews } from './support/openView';
import { states } from './support/states';
import { themes, type ThemeName } from './support/themes';

/** Every state in every theme: kept as a picture, and held against the accessibility rules. */
describe('states', function () {
  this.timeout(120_000);
  const open = useViews();

  for (const { name, options, act } of states) {
    it(`${name}: no accessibility violations in any theme`, async () => {
      const view = await open(options);
      await act?.(view);
      await view.settled();
      await view.shot(`${name}-dark`);
      const violations: Record<string, string[]> = { dark: await axeViolations(view) };
      for (const theme of (Object.keys(themes) as ThemeName[]).filter((t) => t !== 'dark')) {
        await view.setTheme(theme);
        await view.shot(`${name}-${theme}`);
        violations[theme] = await axeViolations(view, ['color-contrast', 'link-in-text-block']);
      }
      deepStrictEqual(violations, { dark: [], light: [], hc: [], hcLight: [] });
    });
  }
});
