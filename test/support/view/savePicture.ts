import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { artifacts } from '../paths';

/** Saves test/artifacts/<name>.png, with everything but letters, digits, `_`, `.` and `-` replaced, and resolves with its path. */
export async function savePicture(page: Page, name: string): Promise<string> {
  await mkdir(artifacts, { recursive: true });
  const path = join(artifacts, `${name.replaceAll(/[^\w.-]+/g, '-').slice(0, 150)}.png`);
  await page.screenshot({ path });
  return path;
}

/**
 * Whether pictures are kept of states that are as they should be: where somebody may look at them. Those of all windows take 40 s of
 * processor time, and those of all states of the view a sixth of its suite.
 */
export const keepsPictures = process.env['THREADKEEPER_PICTURES'] !== undefined;

export async function savePictureIfWanted(page: Page, name: string): Promise<void> {
  if (keepsPictures) await savePicture(page, name);
}
