import { createServer } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { launchProfile } from '../view/chromium';

/** Where the windows of one VS Code are: a browser profile, its first page, and the port of their server. */
export interface BrowserPlace {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly port: number;
  /** To be called when no server listens there any more. */
  giveBack(): Promise<void>;
}

const free: Omit<BrowserPlace, 'giveBack'>[] = [];

/**
 * An empty place, of an earlier VS Code of this process where there is one. A page that stays, at an address that stays, keeps what
 * Chromium has compiled of VS Code: that saves 4 s of the 15 s of processor time that a start takes. V8's cache on the disk saves nothing.
 */
export async function takeBrowserPlace(): Promise<BrowserPlace> {
  const place = free.pop() ?? (await newPlace());
  const giveBack = async () => {
    // A place that cannot be emptied is left alone: the next VS Code gets a new one.
    const emptied = await empty(place).catch(() => null);
    if (emptied) free.push(emptied);
  };
  return { ...place, giveBack };
}

async function newPlace() {
  const context = await launchProfile();
  // Closed by the end of a benchmark, or by itself: a VS Code that took it would not open.
  context.once('close', () => {
    const at = free.findIndex((place) => place.context === context);
    if (at >= 0) free.splice(at, 1);
  });
  return { context, page: context.pages()[0] ?? (await context.newPage()), port: await freePort() };
}

async function empty({ context, page: kept, port }: Omit<BrowserPlace, 'giveBack'>) {
  const page = kept.isClosed() ? await context.newPage() : kept;
  for (const other of context.pages()) if (other !== page) await other.close();
  page.removeAllListeners();
  // VS Code asks about files that are not saved.
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto('about:blank');
  page.removeAllListeners();
  const devtools = await context.newCDPSession(page);
  const storageTypes = 'cookies,local_storage,indexeddb,cache_storage,service_workers,file_systems';
  await devtools.send('Storage.clearDataForOrigin', { origin: `http://localhost:${port}`, storageTypes });
  await devtools.detach();
  await Promise.all([context.clearCookies(), context.clearPermissions()]);
  return { context, page, port };
}

/** A port that a system gives to nobody by itself: programs that leave the choice to it get one from 32768 on (Linux), or from 49152 on. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
