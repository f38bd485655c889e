import type { Frame } from 'playwright-core';

/**
 * What stands out of the page at its sides, one line per element; nothing that stands in a box of its own that scrolls, as code and
 * tables do. What is cut at the edge of a box without an ellipsis is named too.
 */
export async function overflowing(frame: Frame): Promise<string[]> {
  return frame.evaluate(look);
}

/** Runs in the view, whose types these tests do not have. */
const look = `(() => {
  const width = document.documentElement.clientWidth;
  const found = [];
  const name = (element) => element.localName + [...element.classList].map((one) => '.' + one).join('');
  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const held = (element) => {
    for (let box = element.parentElement; box && box !== document.body; box = box.parentElement) {
      if (!box.matches('.scroller') && getComputedStyle(box).overflowX !== 'visible') return true;
    }
    return false;
  };
  for (const box of [document.documentElement, ...document.querySelectorAll('.scroller')]) {
    if (box.scrollWidth > box.clientWidth + 1) found.push(name(box) + ' scrolls to the side: ' + box.scrollWidth + ' of ' + box.clientWidth);
  }
  for (const element of document.querySelectorAll('body *')) {
    const { left, right, height } = element.getBoundingClientRect();
    if (height <= 1 || right - left <= 1 || !seen(element)) continue;
    if ((right > width + 1 || left < -1) && !held(element)) found.push(name(element) + ' from ' + Math.round(left) + ' to ' + Math.round(right) + ' of ' + width);
    const { overflowX, textOverflow } = getComputedStyle(element);
    if (overflowX === 'hidden' && textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1)
      found.push(name(element) + ' is cut: ' + element.scrollWidth + ' of ' + element.clientWidth);
  }
  return found;
})()`;
