import type { Locator, Page } from 'playwright-core';
import { waitFor } from '../waitFor';

/** What VS Code tells the user: notification toasts and modal dialogs. */
export class Messages {
  private readonly toasts: Locator;
  private readonly dialog: Locator;

  constructor(page: Page) {
    this.toasts = page.locator('.notifications-toasts .notification-toast');
    this.dialog = page.locator('.monaco-dialog-box');
  }

  /** The texts of the toasts on screen. A `development` server of 1.139 shows none. */
  async notifications(): Promise<string[]> {
    return this.toasts.locator('.notification-list-item-message').allInnerTexts();
  }

  /** Resolves with the whole text of the toast that contains `text`. */
  async waitForNotification(text: string): Promise<string> {
    return waitFor(`the notification "${text}"`, async () => (await this.notifications()).find((found) => found.includes(text)));
  }

  /** Presses a button of the toast that contains `text`. */
  async answerNotification(text: string, button: string): Promise<void> {
    await this.waitForNotification(text);
    // The toast's buttons appear beside its message only while the pointer is over it or the toast is expanded.
    const toast = this.toasts.filter({ hasText: text });
    await toast.hover();
    await toast.locator('.notification-list-item-buttons-container').getByText(button, { exact: true }).click();
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
