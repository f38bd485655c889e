import type { Locator } from 'playwright-core';
import { patience } from '../run/patience';
import { waitFor } from '../waitFor';

interface ClickOptions {
  readonly button?: 'left' | 'right';
  readonly modifiers?: 'Control'[];
}

/**
 * Clicks what the locator finds, and again while the click is not heard there: where VS Code draws a list anew between the two halves
 * of a click, it goes to what lies behind. `before` brings the element into sight, as a pointer does that rests on its row.
 */
export async function clickUntilHeard(target: Locator, options: ClickOptions = {}, before?: () => Promise<void>): Promise<void> {
  const timeout = 5_000 * patience();
  await waitFor(`a click on ${String(target)} to be heard`, async () => {
    await before?.();
    const element = (await target.elementHandle({ timeout }))!;
    const heard = await element.evaluateHandle(
      (one, name) => {
        const state = { is: false };
        // On its way down: VS Code may stop the event on its way up.
        one.addEventListener(name, () => (state.is = true), { capture: true, once: true });
        return state;
      },
      options.button === 'right' ? 'contextmenu' : 'click',
    );
    await element.click({ ...options, timeout });
    return heard.evaluate(({ is }) => is);
  });
}
