import type { Locator } from 'playwright-core';
import { waitFor } from '../waitFor';
import type { Workbench } from '../vscode/workbench';
import { clickUntilHeard } from './clickUntilHeard';

/** The Sessions view as its user sees it. */
export class SessionsPage {
  constructor(
    private readonly workbench: Workbench,
    private readonly title = 'Sessions',
  ) {}

  /** Shows the view, and opens it where it is collapsed. */
  async open(): Promise<void> {
    await this.workbench.openView();
    const header = this.pane().locator('.pane-header');
    await header.waitFor();
    await waitFor('the Sessions view to be open', async () => {
      if ((await header.getAttribute('aria-expanded')) === 'true') return true;
      await header.click();
      return undefined;
    });
  }

  /** What stands beside the title of the view. */
  async description(): Promise<string | undefined> {
    await this.open();
    const [text] = await this.pane().locator('.pane-header .description').allInnerTexts();
    return text?.replaceAll('\u00a0', ' ').trim() || undefined;
  }

  /** Label and description of every row on screen, from the top. */
  async rows(): Promise<string[]> {
    await this.open();
    // All at once: one by one they change under the eyes.
    const rows = await this.pane()
      .locator('.monaco-list-row')
      .evaluateAll((elements) =>
        elements.map((row) => ({
          index: Number(row.getAttribute('data-index')),
          parts: ['.label-name', '.label-description'].map((selector) =>
            (row.querySelector(selector)?.textContent ?? '').replaceAll('\u00a0', ' ').trim(),
          ),
        })),
      );
    return rows.sort((a, b) => a.index - b.index).map(({ parts }) => parts.filter((part) => part !== '').join(' · '));
  }

  /** Without what is said of them beside. */
  async labels(): Promise<string[]> {
    return (await this.rows()).map((row) => row.split(' · ')[0]!);
  }

  /** Waits until the view shows exactly these labels. */
  async see(...labels: readonly string[]): Promise<void> {
    let seen: string[] = [];
    await waitFor('rows', async () => (seen = await this.labels()).join('\n') === labels.join('\n')).catch((error: unknown) => {
      throw new Error(`Expected rows:\n${labels.join('\n')}\nbut saw:\n${seen.join('\n')}`, { cause: error });
    });
  }

  row(label: string): Locator {
    return this.pane()
      .locator('.monaco-list-row')
      .filter({ has: this.workbench.page.locator('.label-name', { hasText: new RegExp(`^${escaped(label)}$`) }) });
  }

  /** Clicks a row, and again where nothing comes of it. */
  async click(label: string, came: () => Promise<boolean>): Promise<void> {
    await waitFor(`what "${label}" stands for`, async () => {
      if (!(await came())) await clickUntilHeard(this.row(label));
      return waitFor('it', came, { timeout: 5_000 });
    });
  }

  /** Adds a row to what is selected. */
  async select(label: string): Promise<void> {
    await clickUntilHeard(this.row(label), { modifiers: ['Control'] });
  }

  /** Opens a group. */
  async expand(label: string): Promise<void> {
    await this.click(label, async () => (await this.row(label).getAttribute('aria-expanded')) === 'true');
  }

  /** In a list of few rows the first may lie below the heading of its group, and the last below the end. */
  async scrollTo(where: 'top' | 'end'): Promise<void> {
    const { mouse } = this.workbench.page;
    await this.pane().locator('.monaco-list').hover({ force: true });
    await mouse.wheel(0, where === 'top' ? -10_000 : 10_000);
    // Where the pointer rests on a row, VS Code shows its details over the rows beside it.
    await mouse.move(0, 0);
  }

  /** Opens a session by its row, and waits until the list has the keyboard: a key that follows means this row. */
  async choose(label: string): Promise<void> {
    // The chat that has been opened may ask for the keyboard after the click: the row is clicked again then.
    await this.click(
      label,
      async () =>
        (await this.rows()).some((text) => text.startsWith(`${label} · open`)) &&
        /\bfocused\b/.test((await this.row(label).getAttribute('class')) ?? '') &&
        (await this.pane().locator('.monaco-list:focus-within').count()) > 0,
    );
  }

  /** Presses a button that a row shows while the pointer is on it. */
  async pressInline(label: string, button: string): Promise<void> {
    const row = this.row(label);
    await clickUntilHeard(row.getByRole('button', { name: button }), {}, () => row.hover());
  }

  /**
   * Presses a button of a row until it has done its work: while VS Code reads the list anew it does not know which row is meant, and the
   * user is asked to try again.
   */
  async pressUntil(label: string, button: string, came: () => Promise<boolean>): Promise<void> {
    await waitFor(`what "${button}" of "${label}" does`, async () => {
      if (!(await came())) await this.pressInline(label, button);
      return waitFor('it', came, { timeout: 5_000 });
    });
  }

  /**
   * Chooses from the menu of a row and waits for what comes of it. Nothing does while VS Code reads the list anew: the user is asked to
   * try again then, in the status bar or in a notification.
   */
  async chooseFromMenu(label: string, item: string, came: () => Promise<boolean>): Promise<void> {
    const lost = this.workbench.page
      .locator('.statusbar-item, .notification-list-item-message')
      .filter({ hasText: 'The list was just being updated' })
      .first();
    for (let isThere = false; !isThere; ) {
      await this.pickFromMenu(label, item);
      await waitFor(`what "${item}" of "${label}" does`, async () => (isThere = await came()) || (await lost.isVisible()));
      // Else the next look takes it for an answer to the next choice.
      if (!isThere) await lost.waitFor({ state: 'hidden' });
    }
  }

  private async pickFromMenu(label: string, item: string): Promise<void> {
    await clickUntilHeard(this.row(label), { button: 'right' });
    const entry = this.workbench.page
      .locator('.monaco-menu .action-item')
      .filter({ hasText: new RegExp(`^${item}`) })
      .first();
    // A click right after the menu has opened is taken for the one that opened it.
    await entry.hover();
    await waitFor(`"${item}" in the menu`, async () => (await entry.getAttribute('class'))?.includes('focused'));
    await this.workbench.page.keyboard.press('Enter');
  }

  /** A button in the view's title. */
  async pressTitle(button: string): Promise<void> {
    const header = this.pane().locator('.pane-header');
    await clickUntilHeard(header.getByRole('button', { name: button }), {}, () => header.hover());
  }

  async message(): Promise<string> {
    return (await this.pane().locator('.message').innerText()).replaceAll('\u00a0', ' ').trim();
  }

  pane(): Locator {
    return this.workbench.page
      .locator('.sidebar .pane')
      .filter({ has: this.workbench.page.locator(`.pane-header[aria-label^="${this.title}"]`) });
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
