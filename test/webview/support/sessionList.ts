import type { View } from './openView';

/** Opens the list of sessions, and waits until the keyboard is in it: its rows come after the popover. */
export async function openSessions(view: View): Promise<void> {
  await view.button('Sessions').click();
  await view.until('the list has the focus', () => view.page.evaluate(() => document.activeElement?.closest('#sessions') !== null));
}
