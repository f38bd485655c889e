import { accessSync, constants, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type BrowserContext } from 'playwright-core';
import { TestError } from '../testError';

const names = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser', 'msedge', 'microsoft-edge'];

const appFolders: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].flatMap((variable) => {
    const folder = process.env[variable];
    if (!folder) return [];
    return [join(folder, 'Google/Chrome/Application/chrome.exe'), join(folder, 'Microsoft/Edge/Application/msedge.exe')];
  }),
};

/**
 * Chromium takes the last list of these only: those of Playwright's own that concern a page of this machine are in it. A script that is
 * read while it comes is read anew at every start of VS Code, 19 MB, although what has been compiled of it is still there: that was 5 s of
 * the 153 s of processor time that two stories with three starts took.
 */
const withoutFeatures = [
  'ScriptStreaming',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${withoutFeatures.join(',')}`,
];

/** The first Chromium-based browser of this machine; CHROME_PATH wins. Throws a TestError that says what to install. */
function findChromium(env: NodeJS.ProcessEnv = process.env): string {
  const chosen = env['CHROME_PATH'];
  if (chosen) {
    if (isExecutable(chosen)) return chosen;
    throw new TestError(`CHROME_PATH is "${chosen}", which is not an executable file.`);
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = [...onPath, ...(appFolders[process.platform] ?? [])].find(isExecutable);
  if (found) return found;
  throw new TestError(
    'No Chromium-based browser found. Install Google Chrome, Chromium or Microsoft Edge ' +
      '(Debian and Ubuntu: apt-get install chromium), or set CHROME_PATH to the executable of one.',
  );
}

/** A headless browser with the flags the tests need; close it yourself. */
export function launchChromium({ args = [] }: { args?: readonly string[] } = {}): Promise<Browser> {
  return chromium.launch(launchOptions(args));
}

const profiles = new Map<string, BrowserContext>();

/**
 * A headless browser with a profile on the disk, which `closeBrowsers` ends: the cache of one that is only in memory has no room for a
 * script of 19 MB, as VS Code's is.
 */
export async function launchProfile(): Promise<BrowserContext> {
  const folder = await mkdtemp(join(tmpdir(), 'threadkeeper-profile-'));
  // The processor draws: a third of the 1,358 pictures that a story drew in a minute were of progress bars, and of what fades.
  const context = await chromium.launchPersistentContext(folder, { ...launchOptions(), reducedMotion: 'reduce' });
  profiles.set(folder, context);
  return context;
}

function launchOptions(args: readonly string[] = []) {
  return {
    executablePath: findChromium(),
    headless: true,
    args: [...flags, ...args],
    // The runner decides how an interrupted run ends.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  };
}

let shared: Promise<Browser> | null = null;

/** One browser for all tests of a process; each takes a context of its own, and nobody closes the browser. */
export async function sharedBrowser(): Promise<Browser> {
  const browser = await shared?.catch(() => null);
  if (browser?.isConnected()) return browser;
  return (shared = launchChromium());
}

/** For the end of the process, or of what must not run beside them any longer; who asks for one after it gets a new one. */
export async function closeBrowsers(): Promise<void> {
  await (await shared?.catch(() => null))?.close();
  for (const [folder, context] of profiles) {
    profiles.delete(folder);
    await context.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
