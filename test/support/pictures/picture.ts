import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatSession } from '../chat/chatSession';
import { projectRoot } from '../paths';
import { savePicture } from '../view/savePicture';
import type { Scene } from './pictureStory';

export const pictureModel = 'claude-sonnet-5-5';

/** The window of a picture, with a key that looks like one. */
export const plainWindow = {
  viewport: { width: 1_180, height: 860 },
  key: 'sk-ant-double-0123456789',
  settings: { 'threadkeeper.model': pictureModel, 'workbench.colorTheme': 'Default Dark Modern', 'window.commandCenter': false },
} as const;

export async function play({ api, chat }: ChatSession, { says, answers }: Scene): Promise<void> {
  api.enqueue(...answers);
  await chat.ask(says);
}

/** `keepOpen`: what is open over the window, such as a list, is in the picture. */
export async function take({ workbench }: ChatSession, name: string, { keepOpen = false } = {}): Promise<void> {
  if (!keepOpen) await workbench.runCommand('Notifications: Clear All Notifications');
  // What VS Code has to say of its other extensions comes when it likes.
  await workbench.page.addStyleTag({ content: '.notifications-toasts { display: none !important }' });
  if (!keepOpen) await workbench.page.locator('.statusbar').hover();
  copyFileSync(await savePicture(workbench.page, `readme-${name}`), join(projectRoot, 'media', 'screenshots', `${name}.png`));
}

/** Drags the border between side bar and editor `by` pixels to the right. */
export async function widenSideBar({ workbench: { page } }: ChatSession, by: number): Promise<void> {
  const box = await page.locator('.part.sidebar').boundingBox();
  if (!box) throw new Error('The side bar is not shown.');
  const [x, y] = [box.x + box.width, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + by, y, { steps: 5 });
  await page.mouse.up();
}
