import type { Locator, Page } from 'playwright-core';
import { patience } from '../run/patience';
import { waitFor } from '../waitFor';

/** VS Code's quick input: the palette, quick picks and input boxes. */
export class QuickInput {
  private readonly widget: Locator;
  private readonly input: Locator;
  private readonly list: Locator;

  constructor(private readonly page: Page) {
    this.widget = page.locator('.quick-input-widget');
    this.input = this.widget.locator('.quick-input-box input');
    this.list = this.widget.locator('.quick-input-list .monaco-list-row');
  }

  /** Resolves when a quick input is on screen; with `prompt`, when its placeholder, title or message contains that. */
  async waitUntilOpen(prompt = ''): Promise<void> {
    await waitFor(`the quick input "${prompt}"`, () => this.asks(prompt));
  }

  /** Whether a quick input is on screen whose placeholder, title or message contains this. */
  async asks(prompt: string): Promise<boolean> {
    return (await this.isOpen()) && (await this.prompt()).includes(prompt);
  }

  async isOpen(): Promise<boolean> {
    return this.widget.isVisible();
  }

  /** Title, placeholder and message of the open quick input, one to a line. */
  async prompt(): Promise<string> {
    const texts = this.widget.locator('.quick-input-title, .quick-input-message, .quick-input-description');
    const placeholder = await this.input.getAttribute('placeholder');
    return [placeholder ?? '', ...(await texts.allInnerTexts())]
      .map((text) => text.trim())
      .filter(Boolean)
      .join('\n');
  }

  /** The labels of the rows on screen, without descriptions; a long list is virtual and gives its first part. */
  async labels(): Promise<string[]> {
    return (await this.list.locator('.quick-input-list-row:first-child .label-name').allInnerTexts()).map(plainSpaces);
  }

  /** Filters by `text`; what stands in the box is replaced. */
  async type(text: string): Promise<void> {
    await this.waitUntilOpen();
    await this.input.fill(text);
  }

  /** Types `text` when given, and presses Enter. */
  async accept(text?: string): Promise<void> {
    if (text !== undefined) await this.type(text);
    await this.input.press('Enter');
  }

  /** Waits for the row with exactly this label and takes it; filter with `type` first when the list is long. */
  async pick(label: string): Promise<void> {
    await waitFor(`the row "${label}"`, async () => {
      const row = await this.row(label);
      // A list that gets more rows meanwhile has another one in its place, or none.
      await row?.click({ timeout: 5_000 * patience() });
      return row;
    });
  }

  /**
   * Filters by a label and takes its row. Rejects within seconds, for its caller to open the list anew: it closes when something else takes
   * the focus, be that while it is typed into.
   */
  async choose(label: string): Promise<void> {
    // `waitFor` stretches its limit by itself.
    const soon = { timeout: 2_000 };
    const soonHere = { timeout: 2_000 * patience() };
    await this.input.fill(label, soonHere);
    const row = await waitFor(`the row "${label}"`, () => this.row(label), soon);
    await row.click(soonHere);
  }

  async close(): Promise<void> {
    await waitFor('the quick input to close', async () => {
      if (await this.isOpen()) await this.input.press('Escape', { timeout: 2_000 * patience() });
      return !(await this.isOpen());
    });
  }

  /** Opens the palette wherever the focus is, and runs the command with exactly this title. */
  async runCommand(title: string): Promise<void> {
    // An open palette keeps the commands that were offered when it was opened, and what takes the focus late closes it.
    await waitFor(`the command "${title}"`, async () => {
      await this.close();
      await this.page.keyboard.press('F1');
      await this.input.waitFor({ timeout: 2_000 * patience() });
      if (!(await this.input.inputValue()).startsWith('>')) return undefined;
      await this.input.fill(`>${title}`, { timeout: 2_000 * patience() });
      const row = await waitFor(`the row "${title}"`, () => this.row(title), { timeout: 2_000 });
      await row.click({ timeout: 5_000 * patience() });
      return true;
    });
  }

  private async row(label: string): Promise<Locator | undefined> {
    const index = (await this.labels()).indexOf(label);
    return index >= 0 ? this.list.nth(index) : undefined;
  }
}

/** Labels are drawn with no-break spaces. */
function plainSpaces(text: string): string {
  return text.replaceAll('\u00a0', ' ').trim();
}
