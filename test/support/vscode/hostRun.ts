import { appendFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchChromium } from '../view/chromium';
import { testLines } from './hostLines';
import { toEnv, type RemoteRun } from '../run/mochaRun';
import { artifacts, builtTests, projectRoot } from '../paths';
import { temporaryWorkspace } from '../pictures/sampleWorkspace';
import { startVscodeServer } from './vscodeServer';
import { addressOf } from './workbench';

/** Compiled test module that VS Code loads inside the extension host. */
export const hostMain = join(builtTests, 'support', 'vscode', 'hostMain.js');

/**
 * Runs a suite with mocha inside the extension host of a VS Code server, on the sample workspace.
 * What the workbench logged meanwhile is in test/artifacts/extension-host.log.
 */
export async function runInExtensionHost(run: RemoteRun, signal: AbortSignal): Promise<void> {
  const workspace = await temporaryWorkspace();
  const server = await startVscodeServer({ development: true, env: toEnv(run) });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const ended = endOfRun(page, signal);
    await page.goto(addressOf(server, workspace.folder, { extensionDevelopmentPath: projectRoot, extensionTestsPath: hostMain }));
    await ended;
  } finally {
    await browser.close();
    await server.stop();
    await workspace.remove();
  }
}

/** The workbench calls these two functions when the page has them. */
async function endOfRun(page: Page, signal: AbortSignal): Promise<void> {
  const log = join(artifacts, 'extension-host.log');
  await mkdir(artifacts, { recursive: true });
  await rm(log, { force: true });
  let written = Promise.resolve();
  await page.exposeFunction('codeAutomationLog', (type: string, args: unknown[]) => {
    const text = args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' ');
    for (const line of testLines(text)) console.log(line);
    written = written.then(() => appendFile(log, `${type} ${text}\n`));
  });
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
    page.once('crash', () => reject(new Error('The browser page crashed.')));
    page.exposeFunction('codeAutomationExit', () => resolve()).catch(reject);
  });
  await written;
}
