import type { Locator, Page } from 'playwright-core';
import { patience } from '../run/patience';
import { clickUntilHeard } from '../view/clickUntilHeard';
import { waitFor } from '../waitFor';

/** A toast goes after 10 s, and its notification into the list behind the bell. */
const toastMs = 10_000;

/** What VS Code tells the user: notification toasts and modal dialogs. */
export class Messages {
  private readonly toasts: Locator;
  /** Notifications on screen: as toasts, or in the list. */
  private readonly shown: Locator;
  private readonly list: Locator;
  private readonly bell: Locator;
  private readonly dialog: Locator;

  constructor(page: Page) {
    this.toasts = page.locator('.notifications-toasts .notification-list-item');
    this.list = page.locator('.notifications-center');
    this.shown = page.locator(':is(.notifications-toasts, .notifications-center) .notification-list-item:visible');
    this.bell = page.locator('.statusbar-item[id="status.notifications"] a');
    this.dialog = page.locator('.monaco-dialog-box');
  }

  /** The texts of the toasts on screen. A `development` server of 1.139 shows none. */
  async notifications(): Promise<string[]> {
    return this.toasts.locator('.notification-list-item-message').allInnerTexts();
  }

  /** Resolves with the whole text of the notification that contains `text`. */
  async waitForNotification(text: string): Promise<string> {
    const began = Date.now();
    return waitFor(`the notification "${text}"`, async () => {
      const texts = await this.shown.locator('.notification-list-item-message').allInnerTexts();
      const found = texts.find((one) => one.includes(text));
      // On a busy machine it may have come and gone before.
      if (found === undefined && Date.now() - began > toastMs && !(await this.list.isVisible())) await this.bell.click();
      return found;
    });
  }

  /** Presses a button of the notification that contains `text`. */
  async answerNotification(text: string, button: string): Promise<void> {
    // The buttons appear beside the message only while the pointer is over it or the notification is expanded, and are drawn anew then.
    const notification = this.shown.filter({ hasText: text });
    const pressed = notification.locator('.notification-list-item-buttons-container').getByText(button, { exact: true });
    await clickUntilHeard(pressed, {}, async () => {
      await this.waitForNotification(text);
      await notification.hover({ timeout: 5_000 * patience() });
    });
  }

  /** Whether a modal dialog is on screen. */
  hasDialog(): Promise<boolean> {
    return this.dialog.isVisible();
  }

  /** Resolves with message and detail of the modal dialog. */
  async waitForDialog(): Promise<string> {
    await this.dialog.waitFor();
    return this.dialog.locator('.dialog-message-container').innerText();
  }

  /** Presses a button of the modal dialog and waits until the dialog is gone; another one may stand in its place at once. */
  async answerDialog(button: string): Promise<void> {
    const texts = () => this.dialog.locator('.dialog-message-container').allInnerTexts();
    await this.dialog.waitFor();
    const asked = (await texts()).join();
    await this.dialog.getByText(button, { exact: true }).click();
    await waitFor('the dialog to go', async () => !(await this.dialog.isVisible()) || (await texts()).join() !== asked);
  }
}
