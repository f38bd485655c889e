import type { BrowserContext } from 'playwright-core';
import { takeBrowserPlace } from './browserPlaces';
import { packedExtension } from './packedExtension';
import { projectRoot } from '../paths';
import { patience } from '../run/patience';
import { savePicture } from '../view/savePicture';
import { temporaryWorkspace } from '../pictures/sampleWorkspace';
import { startVscodeServer, type ServerOptions, type VscodeServer } from './vscodeServer';
import { chosenVersion } from './vscodeInstall';
import { Workbench } from './workbench';

export interface VscodeOptions extends Omit<ServerOptions, 'development' | 'inPlace' | 'vsix' | 'fewBuiltins'> {
  /** Opened in the first window; a copy of the sample workspace by default. */
  folder?: string;
  /** The packed .vsix (default), what is built in this checkout, or nothing. */
  extension?: 'packed' | 'checkout' | 'none';
  /** Packed extensions beside Threadkeeper. */
  vsix?: readonly string[];
  viewport?: { width: number; height: number };
  /** What the windows take for their language, and tell their extensions; VS Code's own texts stay English without its language pack. */
  language?: string;
}

/** A VS Code of its own, with a fresh profile and Threadkeeper in it. */
export interface VscodeSession {
  readonly server: VscodeServer;
  /** The browser profile of the windows. */
  readonly context: BrowserContext;
  readonly folder: string;
  /** The first window. */
  readonly workbench: Workbench;
  /** Seconds since the first window was asked for, to be printed. */
  sinceOpened(): string;
  /** For `afterEach`: a picture of every open window, named after the test, when it failed; limits go by how busy the machine is now. */
  keepPictures(test: Mocha.Test | undefined): Promise<void>;
  close(): Promise<void>;
}

/** Starts server, browser and first window; whatever was started is ended again when a later part fails. */
export async function openVscode(options: VscodeOptions = {}): Promise<VscodeSession> {
  const { folder: given, extension = 'packed', vsix = [], viewport = { width: 1280, height: 800 }, language, ...serverOptions } = options;
  const ends: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const workspace = given === undefined ? await temporaryWorkspace() : undefined;
    if (workspace) ends.push(workspace.remove);
    const folder = given ?? workspace?.folder ?? '';
    const install = {
      packed: async () => ({ vsix: [...vsix, await packedExtension()] }),
      checkout: () => ({ vsix, inPlace: projectRoot }),
      none: () => ({ vsix }),
    };
    const place = await takeBrowserPlace();
    const { context, page, port } = place;
    ends.push(language === undefined ? place.giveBack : () => context.close());
    const server = await startVscodeServer({
      port,
      ...serverOptions,
      ...(await install[extension]()),
      fewBuiltins: chosenVersion() !== '1.100',
    });
    ends.push(server.stop);
    const setLimit = () => context.setDefaultTimeout(60_000 * patience());
    setLimit();
    // A page does not forget it: such a place is not given back.
    if (language) await context.addInitScript((name) => Object.assign(globalThis, { _VSCODE_NLS_LANGUAGE: name }), language);
    const openedAt = performance.now();
    const workbench = await Workbench.open({ server, context, folder, viewport }, page);
    const sinceOpened = () => ((performance.now() - openedAt) / 1_000).toFixed(1);
    const keepPictures = async (test: Mocha.Test | undefined) => {
      await picturesOfFailure(context, test);
      setLimit();
    };
    return { server, context, folder, workbench, sinceOpened, keepPictures, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function picturesOfFailure(context: BrowserContext, test: Mocha.Test | undefined): Promise<void> {
  if (test?.state !== 'failed') return;
  for (const [i, page] of context.pages().entries()) await savePicture(page, `failed-${test.fullTitle()}-${i + 1}`);
}
