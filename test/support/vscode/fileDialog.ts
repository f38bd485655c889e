import { waitFor } from '../waitFor';
import type { Workbench } from './workbench';

/** Gives a path to VS Code's own file dialog, which a server shows as a quick input. */
export async function chooseFile({ quickInput, page }: Workbench, path: string): Promise<void> {
  const box = page.locator('.quick-input-widget .quick-input-box input');
  await waitFor('the file dialog', async () => (await quickInput.isOpen()) && (await box.inputValue()).startsWith('/'));
  // The dialog sets its box once more when it has read the folder that it opened with, be that after Enter.
  await waitFor(
    `the dialog to take ${path}`,
    async () => {
      // What is asked next may stand in its place already, with an empty box.
      if (!(await quickInput.isOpen()) || !(await box.inputValue()).startsWith('/')) return true;
      // Of a folder, the first Enter goes into it, and the next one takes it.
      await ((await box.inputValue()).replace(/\/$/, '') === path
        ? box.press('Enter', { timeout: 1_000 })
        : box.fill(path, { timeout: 1_000 })
      ).catch(() => undefined);
      return undefined;
    },
    { interval: 500 },
  );
}
