import type { View } from './openView';

/** What sticks out to the right and neither scrolls by itself nor ends in an ellipsis. */
export function cutOff(view: View): Promise<string[]> {
  return view.page.evaluate(() => {
    const allowed = (e: Element) => e.closest('pre, .table-box, .sr-only') !== null || getComputedStyle(e).textOverflow === 'ellipsis';
    const wide = (e: Element) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' && e instanceof HTMLElement;
    return [...document.querySelectorAll('tk-app *')]
      .filter((e) => e.getClientRects().length > 0 && !allowed(e) && !allowed(e.parentElement!))
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5 || wide(e))
      .map((e) => `${e.tagName}.${e.getAttribute('class')}: ${e.textContent?.trim().slice(0, 40)}`);
  });
}
