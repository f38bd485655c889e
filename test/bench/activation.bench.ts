import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openVscode } from '../support/vscode/openVscode';
import { packExtension } from '../support/vscode/packedExtension';
import { builtTests } from '../support/paths';
import { closeBrowsers } from '../support/view/chromium';
import { canRunServer } from '../support/vscode/vscodeInstall';
import { waitFor } from '../support/waitFor';
import type { Workbench } from '../support/vscode/workbench';

export interface ActivationRow {
  readonly what: string;
  readonly measured: number | string;
  readonly target: string;
}

const windows = 5;

/**
 * What a window pays for the installed extension while nobody looks at its views: VS Code's own figures of *Show Running Extensions*
 * (milliseconds of extension-host time to load its code and to run `activate`), the median of five windows. An extension of one line in
 * the same windows says what of it is this machine's.
 */
export async function run(): Promise<ActivationRow[]> {
  if (!canRunServer()) return [{ what: 'activation', measured: 'VS Code cannot be run here', target: '' }];
  process.env['THREADKEEPER_VSIX'] ??= await packExtension(join(builtTests, 'threadkeeper.vsix'));
  const session = await openVscode({ vsix: [await packEmpty()] });
  try {
    const times: number[] = [];
    const empty: number[] = [];
    for (let i = 0; i < windows; i++) {
      const workbench = await session.workbench.openTab();
      await workbench.runCommand('Developer: Show Running Extensions');
      times.push(await activationTime(workbench, 'threadkeeper'));
      empty.push(await activationTime(workbench, 'tk-empty'));
      await workbench.close();
    }
    const stores = (await readdir(session.server.dataFolder, { recursive: true })).filter((path) => path.endsWith('.db'));
    return [
      { what: 'activation with the view closed, ms of extension-host time (median)', measured: median(times), target: '≤ 50' },
      { what: 'the slowest of five windows, ms', measured: Math.max(...times), target: '' },
      { what: 'an extension of one line in the same windows (median)', measured: median(empty), target: '' },
      { what: 'stores opened by it', measured: stores.length, target: '0' },
    ];
  } finally {
    await session.close();
    await closeBrowsers();
  }
}

async function activationTime({ page }: Workbench, name: string): Promise<number> {
  const row = page.locator('.runtime-extensions-editor .monaco-list-row').filter({ hasText: name }).first();
  const text = await waitFor(`${name} to be listed as active`, async () => /Activation: (\d+)ms/.exec(await row.innerText())?.[1]);
  return Number(text);
}

async function packEmpty(): Promise<string> {
  const folder = join(builtTests, 'empty');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'extension.js'), 'exports.activate = () => undefined;\n');
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({
      name: 'tk-empty',
      publisher: 'bench',
      displayName: 'tk-empty',
      version: '1.0.0',
      engines: { vscode: '^1.100.0' },
      main: './extension.js',
      activationEvents: ['onStartupFinished'],
    }),
  );
  await writeFile(join(folder, 'README.md'), 'Nothing, for comparison.\n');
  return packExtension(join(builtTests, 'empty.vsix'), folder);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}
