import type { Frame, Locator } from 'playwright-core';
import { waitFor } from '../waitFor';
import type { Workbench } from '../vscode/workbench';

/** A chat as its user sees it, in the side bar or the editor in front. */
export class ChatPage {
  private lastFrame: Frame | undefined;

  constructor(
    private readonly workbench: Workbench,
    private readonly where: 'side bar' | 'editor' = 'side bar',
  ) {}

  /** The page's frame; shows the view in the side bar first when it is closed. */
  async frame(): Promise<Frame> {
    if (this.where === 'editor') return this.workbench.webview('body[data-place] tk-composer textarea');
    await this.workbench.openView();
    // Reloads replace it, but every step asks for it, and to search all frames costs more than most steps.
    const { lastFrame } = this;
    if (lastFrame && !lastFrame.isDetached() && (await isReady(lastFrame))) return lastFrame;
    return (this.lastFrame = await this.workbench.webview('body:not([data-place]) tk-composer textarea'));
  }

  async locator(selector: string): Promise<Locator> {
    return (await this.frame()).locator(selector);
  }

  async type(text: string): Promise<void> {
    await (await this.locator('tk-composer textarea')).fill(text);
  }

  /** Types and presses Enter. */
  async send(text: string): Promise<void> {
    const box = await this.locator('tk-composer textarea');
    await box.fill(text);
    await box.press('Enter');
  }

  async draft(): Promise<string> {
    return (await this.locator('tk-composer textarea')).inputValue();
  }

  /** Sends, and waits until the turn has ended, or until what `orSees` selects asks for something. */
  async ask(text: string, orSees?: string): Promise<void> {
    const before = await this.count('article.user-message');
    await this.send(text);
    await waitFor(
      'the message in the transcript',
      async () => (await this.count('article.user-message')) > before || (await this.count('article.user-message')) >= 50,
    );
    await this.idle(orSees);
  }

  /** Waits until nothing runs, or until what `orSees` selects is there. */
  async idle(orSees?: string): Promise<void> {
    await waitFor(
      'the turn to end',
      async () => (await this.count('tk-composer .stop')) === 0 || (orSees !== undefined && (await this.count(orSees)) > 0),
    );
  }

  async count(selector: string): Promise<number> {
    return (await this.locator(selector)).count();
  }

  /** Waits until a visible element that matches has this text. */
  see(selector: string, text: string | RegExp): Promise<Locator> {
    return waitFor(`${selector} with ${String(text)}`, async () => {
      const found = (await this.locator(selector)).filter({ hasText: text });
      return (await found.count()) > 0 && (await found.first().isVisible()) && found.first();
    });
  }

  async texts(selector: string): Promise<string[]> {
    return (await (await this.locator(selector)).allInnerTexts()).map((text) => text.replaceAll('\u00a0', ' ').trim());
  }

  /** Clicks a button of the view by its accessible name. */
  async press(name: string | RegExp): Promise<void> {
    await (await this.frame()).getByRole('button', { name }).first().click();
  }

  /** Label of the gauge, e.g. `~1.2k / 12k · 10 %`. */
  async gauge(): Promise<string> {
    const [text] = await this.texts('tk-gauge .gauge-size');
    return text ?? '';
  }

  /** The percentage that the gauge shows. */
  async percent(): Promise<number> {
    return percentIn(await this.gauge());
  }

  /** Tokens in use as assistive technology reads them. */
  async used(): Promise<number> {
    return Number(await (await this.locator('tk-gauge [role=meter]')).getAttribute('aria-valuenow'));
  }
}

function isReady(frame: Frame): Promise<boolean> {
  return frame
    .locator('tk-composer textarea')
    .isVisible()
    .catch(() => false);
}

/** `$(dashboard) ~42 %` → 42. NaN when there is none. */
export function percentIn(text: string): number {
  return Number(/(\d+(?:\.\d+)?)\s*%/.exec(text)?.[1] ?? Number.NaN);
}
