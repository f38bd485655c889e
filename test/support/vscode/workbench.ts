import type { BrowserContext, Frame, Page } from 'playwright-core';
import { Messages } from '../chat/messages';
import { savePictureIfWanted } from '../view/savePicture';
import { isAlive } from '../run/processes';
import { QuickInput } from './quickInput';
import type { VscodeServer } from './vscodeServer';
import { waitFor } from '../waitFor';

export interface WorkbenchTarget {
  server: VscodeServer;
  /** A browser profile: tabs of one context share storage, as two windows of a user do. */
  context: BrowserContext;
  folder: string;
  viewport: { width: number; height: number };
}

/** One VS Code window in a browser tab. */
export class Workbench {
  readonly quickInput: QuickInput;
  readonly messages: Messages;
  /** Warnings and errors of the page and its webviews, oldest first. */
  readonly consoleProblems: string[] = [];
  private hostPid = 0;

  private constructor(
    readonly page: Page,
    private readonly target: WorkbenchTarget,
  ) {
    this.quickInput = new QuickInput(page);
    this.messages = new Messages(page);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.consoleProblems.push(message.text());
    });
  }

  /** Opens a folder, or a workspace by its file, in a tab, a new one by default; resolves when it is drawn and its extension host runs. */
  static async open(target: WorkbenchTarget, tab?: Page): Promise<Workbench> {
    const page = tab ?? (await target.context.newPage());
    await page.setViewportSize(target.viewport);
    const workbench = new Workbench(page, target);
    await workbench.withNewExtensionHost(() => workbench.page.goto(addressOf(target.server, target.folder)));
    await workbench.drawn();
    return workbench;
  }

  /** Runs a command by its palette title, e.g. "Threadkeeper: Compact Conversation"; waits until it is offered. */
  async runCommand(title: string): Promise<void> {
    await this.quickInput.runCommand(title);
  }

  /** Opens a file of the workspace by its name in the list of files. */
  async openFile(name: string): Promise<void> {
    // One that was written just now may not be in the list yet, and is not put into one that is open.
    await waitFor(`${name} in the list of files`, async () => {
      await this.quickInput.close();
      await this.page.keyboard.press('Control+P');
      await this.quickInput.choose(name);
      return true;
    });
    await this.focusIn(name);
  }

  /**
   * Waits until the editor has the keyboard whose file has `name` in its address. Its tab is there before, and as a list or a dialog
   * closes, VS Code gives the keyboard to whichever editor is in front.
   */
  async focusIn(name: string): Promise<void> {
    await this.page.locator(`.editor-group-container .monaco-editor.focused[data-uri*="${encodeURIComponent(name)}"]`).waitFor();
  }

  /** Shows the view container with this title through its activity bar icon; does nothing when it is open. */
  async openView(title = 'Threadkeeper'): Promise<void> {
    const icon = this.page.locator('.activitybar .action-item').filter({ has: this.page.locator(`a[aria-label^="${title}"]`) });
    await waitFor(`the view container ${title} to open`, async () => {
      if ((await icon.getAttribute('aria-expanded')) === 'true') return true;
      await icon.click();
      // Otherwise the icon's tooltip covers a part of the view.
      await this.page.locator('.editor-group-container').first().hover();
      return undefined;
    });
  }

  /** Hides the side bar. A built-in command that is run for the first time waits for the extension host. */
  async hideSideBar(): Promise<void> {
    await this.runCommand('View: Toggle Primary Side Bar Visibility');
    await this.page.locator('.part.sidebar').waitFor({ state: 'hidden' });
  }

  /** The innermost frame of the webview whose content has a visible match for `selector`; look it up again after a reload. */
  async webview(selector: string, options: { timeout?: number } = {}): Promise<Frame> {
    return waitFor(`a webview that shows ${selector}`, () => this.findWebview(selector), options);
  }

  /** Text of a status bar item by the id given to `createStatusBarItem`, without icons; empty while it is not shown. */
  async statusText(id: string, extension = 'threadkeeper.threadkeeper'): Promise<string> {
    const texts = await this.page.locator(`.statusbar-item[id="${extension}.${id}"]`).allInnerTexts();
    return texts.join(' ').replaceAll('\u00a0', ' ').trim();
  }

  /** Clicks a status bar item by the id given to `createStatusBarItem`. */
  async clickStatus(id: string, extension = 'threadkeeper.threadkeeper'): Promise<void> {
    await this.page.locator(`.statusbar-item[id="${extension}.${id}"] a`).click();
  }

  /** "Developer: Reload Window": the window says goodbye to its extension host first. */
  async reload(): Promise<void> {
    const reloaded = this.page.waitForEvent('load');
    await this.withNewExtensionHost(() => Promise.all([reloaded, this.runCommand('Developer: Reload Window')]));
    await this.drawn();
  }

  /** The browser's reload: the old extension host may live on beside the new one for a while. */
  async reloadPage(): Promise<void> {
    await this.withNewExtensionHost(() => this.page.reload());
    await this.drawn();
  }

  /** The process id of this window's extension host. */
  extensionHostPid(): number {
    return this.hostPid;
  }

  /** kill -9 for this window's extension host; resolves with the pid of the one VS Code starts in its place. */
  async crashExtensionHost(): Promise<number> {
    const victim = this.hostPid;
    await this.withNewExtensionHost(async () => {
      process.kill(victim, 'SIGKILL');
      await waitFor(`process ${victim} to end`, () => !isAlive(victim));
    });
    return this.hostPid;
  }

  /** As test/artifacts/<name>.png, in runs of which pictures are kept. */
  screenshot(name: string): Promise<void> {
    return savePictureIfWanted(this.page, name);
  }

  /** Another window in the same browser profile, on the same folder or another one. */
  openTab(folder = this.target.folder): Promise<Workbench> {
    return Workbench.open({ ...this.target, folder });
  }

  async close(): Promise<void> {
    await this.page.close();
  }

  private async findWebview(selector: string): Promise<Frame | undefined> {
    for (const frame of this.page.frames()) {
      if (!frame.url().includes('/fake.html?')) continue;
      if ((await frame.locator(selector).first().isVisible()) && (await isOnScreen(frame))) return frame;
    }
    return undefined;
  }

  private async withNewExtensionHost(action: () => Promise<unknown>): Promise<void> {
    const pids = () => this.target.server.extensionHosts().map((info) => info.pid);
    const before = new Set(pids());
    await action();
    this.hostPid = await waitFor('a new extension host', () => pids().find((pid) => !before.has(pid)));
  }

  private async drawn(): Promise<void> {
    await this.page.locator('.monaco-workbench .statusbar').waitFor();
  }
}

/** A webview's content is two frames deep; hidden views and the document being replaced keep theirs, invisible. */
async function isOnScreen(frame: Frame): Promise<boolean> {
  for (let inner: Frame | null = frame; inner?.parentFrame(); inner = inner.parentFrame()) {
    if (!(await (await inner.frameElement()).isVisible())) return false;
  }
  return true;
}

/** The page of a folder, or of a workspace by its file; the payload names what a development server shall load. */
export function addressOf(server: VscodeServer, folder: string, payload: Record<string, string> = {}): string {
  const query = new URLSearchParams({ [folder.endsWith('.code-workspace') ? 'workspace' : 'folder']: folder });
  const remote = (path: string) => `vscode-remote://localhost:${server.port}${path}`;
  const pairs = Object.entries(payload).map(([name, path]) => [name, remote(path)]);
  if (pairs.length > 0) query.set('payload', JSON.stringify(pairs));
  return `http://localhost:${server.port}/?${query}`;
}
