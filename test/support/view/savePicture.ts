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
