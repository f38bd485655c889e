import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openVscode } from '../support/openVscode';
import { packExtension } from '../support/packedExtension';
import { builtTests } from '../support/paths';
import { canRunServer } from '../support/vscodeInstall';
import { waitFor } from '../support/waitFor';
import type { Workbench } from '../support/workbench';

export interface ActivationRow {
  readonly what: string;
  readonly measured: number | string;
  readonly target: string;
}

const windows = 5;

/**
 * What a window pays for the installed extension while nobody looks at its views: VS Code's own figures of *Show Running Extensions*
 * (milliseconds of extension-host time to load its code and to run `activate`), the median of five windows.
 */
export async function run(): Promise<ActivationRow[]> {
  if (!canRunServer()) return [{ what: 'activation', measured: 'VS Code cannot be run here', target: '' }];
  process.env['THREADKEEPER_VSIX'] ??= await packExtension(join(builtTests, 'threadkeeper.vsix'));
  const session = await openVscode();
  try {
    const times: number[] = [];
    for (let i = 0; i < windows; i++) {
      const workbench = await session.workbench.openTab();
      times.push(await activationTime(workbench));
      await workbench.close();
    }
    const stores = (await readdir(session.server.dataFolder, { recursive: true })).filter((path) => path.endsWith('.db'));
    return [
      { what: 'activation with the view closed, ms of extension-host time (median)', measured: times.sort((a, b) => a - b)[windows >> 1] ?? NaN, target: '≤ 50' },
      { what: 'the slowest of five windows, ms', measured: Math.max(...times), target: '' },
      { what: 'stores opened by it', measured: stores.length, target: '0' },
    ];
  } finally {
    await session.close();
  }
}

async function activationTime(workbench: Workbench): Promise<number> {
  await workbench.runCommand('Developer: Show Running Extensions');
  const row = workbench.page.locator('.runtime-extensions-editor .monaco-list-row').filter({ hasText: 'threadkeeper' }).first();
  const text = await waitFor('the extension to be listed as active', async () => /Activation: (\d+)ms/.exec(await row.innerText())?.[1]);
  return Number(text);
}
