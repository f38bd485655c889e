import { deepStrictEqual } from 'node:assert';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { BrowserContext, Disposable, Locator, Page } from 'playwright-core';
import type { Delta, TranscriptRow, ViewRequest, ViewSnapshot } from '../../../src/protocol/messages';
import { sharedBrowser } from '../../support/view/chromium';
import { countScripts, reportScripts } from '../../support/view/pageCoverage';
import { keepsPictures } from '../../support/view/savePicture';
import { artifacts, builtTests } from '../../support/paths';
import { patience } from '../../support/run/patience';
import { waitFor } from '../../support/waitFor';
import type {} from './fakeHost';
import { textsOf, type Language } from './languages';
import { themes, type ThemeName } from './themes';
import { viewOrigin } from './viewServer';

export interface ViewOptions {
  snapshot: ViewSnapshot | null;
  earlier?: TranscriptRow[];
  pageSize?: number;
  /** What the view had put into `setState` before. */
  state?: unknown;
  theme?: ThemeName;
  language?: Language;
  width?: number;
  height?: number;
  reduceMotion?: boolean;
  /** Freezes the view's clock; `view.page.clock` moves it. */
  now?: number;
}

/**
 * Call in a `describe`: one browser profile for its tests. Opens a page for each view, and checks after each test that nothing was blocked
 * or thrown in them. The first view of a test has the page of the test before, as a reload would: a new page takes three times as much of
 * the processor, most of it for a process that reads and compiles the view anew.
 */
export function usePages(): <V extends View>(viewOf: (page: Page) => V) => Promise<V> {
  let context: BrowserContext;
  let kept: Page | null = null;
  let open: View[] = [];
  before(async function () {
    this.timeout(60_000);
    const browser = await sharedBrowser();
    context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', baseURL: await viewOrigin() });
    context.setDefaultTimeout(20_000 * patience());
  });
  after(async () => context?.close());
  afterEach(async function () {
    const views = open;
    open = [];
    try {
      for (const view of views) await view.check();
      const first = views[0];
      if (first && this.currentTest?.state === 'passed') kept = await first.release();
    } finally {
      for (const { page } of views) {
        await reportScripts(page);
        if (page !== kept) await page.close();
      }
    }
  });
  return async (viewOf) => {
    const view = viewOf(kept ?? (await context.newPage()));
    kept = null;
    open.push(view);
    await countScripts(view.page);
    return view;
  };
}

/** The Chat view, with what `usePages` does. */
export function useViews(): (options: ViewOptions) => Promise<View> {
  const newPage = usePages();
  return async (options) => {
    const view = await newPage((page) => new View(page, textsOf(options.language ?? 'en')));
    await load(view, options);
    return view;
  };
}

export class View {
  /** Faults the test has provoked and takes as its result. */
  expectedFaults = 0;
  readonly pageErrors: string[] = [];
  /** Nothing brings back the clock of a page that was frozen. */
  isFrozen = false;
  private readonly scripts: Disposable[] = [];

  constructor(
    readonly page: Page,
    private readonly texts: Readonly<Record<string, string>> = {},
  ) {
    page.on('pageerror', (error) => this.pageErrors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.pageErrors.push(message.text());
    });
  }

  /** Runs in the page before anything of the view does. */
  async prepare(script: string): Promise<void> {
    this.scripts.push(await this.page.addInitScript(script));
  }

  /** The page as a new one would be, for another view; null when it cannot be that. */
  async release(): Promise<Page | null> {
    const { page } = this;
    if (this.isFrozen) return null;
    for (const script of this.scripts) await script.dispose();
    for (const event of ['pageerror', 'console', 'request'] as const) page.removeAllListeners(event);
    await page.mouse.move(-1, -1);
    return page;
  }

  /** Text of a CSS selector, spaces collapsed. */
  async text(selector: string): Promise<string> {
    return ((await this.page.locator(selector).first().textContent()) ?? '').replace(/\s+/g, ' ').trim();
  }

  find(selector: string): Locator {
    return this.page.locator(selector);
  }

  /** By its English name, whatever the language. */
  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', {
      name: typeof name === 'string' ? (this.texts[name] ?? name) : name,
      exact: typeof name === 'string',
    });
  }

  async delta(...deltas: Delta[]): Promise<void> {
    await this.page.evaluate((all) => all.forEach((delta) => window.fake.delta(delta)), deltas);
    await this.settled();
  }

  async show(snapshot: ViewSnapshot): Promise<void> {
    await this.page.evaluate((s) => window.fake.show(s), snapshot);
    await this.settled();
  }

  /** Resolves when everything posted so far has been received and painted. */
  settled(): Promise<void> {
    return this.page.evaluate(async () => {
      await new Promise((resolve) => setTimeout(resolve));
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    });
  }

  /** The requests so far, without the background noise of drafts. */
  async requests(method?: ViewRequest['method']): Promise<ViewRequest[]> {
    const all = await this.page.evaluate(() => window.fake.requests);
    return all.filter((r) =>
      method ? r.method === method : r.method !== 'save_draft' && r.method !== 'measure_draft' && r.method !== 'find_files',
    );
  }

  async requested(method: ViewRequest['method']): Promise<ViewRequest> {
    return waitFor(`the request ${method}`, async () => (await this.requests(method)).at(-1), { timeout: 20_000, interval: 20 });
  }

  /** Resolves when this is the last that was asked of its kind: on a slow machine, what is typed is looked for in parts. */
  async lastAsked(request: ViewRequest): Promise<void> {
    await this.until(JSON.stringify(request), async () => isDeepStrictEqual((await this.requests(request.method)).at(-1), request));
  }

  async until(what: string, probe: () => boolean | Promise<boolean>): Promise<void> {
    await waitFor(what, probe, { timeout: 20_000, interval: 20 });
  }

  /** As when the user changes the theme while the view is open. Resolves when it has been painted. */
  async setTheme(name: ThemeName): Promise<void> {
    await this.page.evaluate(applyTheme, themes[name]);
    await this.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  }

  /** As test/artifacts/webview/<name>.png, in runs of which pictures are kept. */
  async shot(name: string): Promise<void> {
    if (!keepsPictures) return;
    const folder = join(artifacts, 'webview');
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled', caret: 'initial' });
  }

  async check(): Promise<void> {
    const { violations, log } = await this.page.evaluate(() => ({ violations: window.fake.violations, log: window.fake.log }));
    const faults = log.filter((entry) => entry.startsWith('Fault'));
    deepStrictEqual(
      { violations, faults: faults.slice(this.expectedFaults), errors: this.pageErrors },
      { violations: [], faults: [], errors: [] },
    );
  }
}

/** Into a page of a context whose `baseURL` serves the view. At another path stands a page with chats in frames: it has none of its own. */
export async function load(view: View, options: ViewOptions, path?: string): Promise<void> {
  const { page } = view;
  await page.setViewportSize({ width: options.width ?? 380, height: options.height ?? 720 });
  await page.emulateMedia({ reducedMotion: options.reduceMotion ? 'reduce' : 'no-preference' });
  view.isFrozen = options.now !== undefined;
  if (options.now !== undefined) await page.clock.install({ time: options.now });
  const { snapshot, earlier, pageSize, state } = options;
  const setup = JSON.stringify({
    snapshot,
    ...(earlier && { earlier }),
    ...(pageSize && { pageSize }),
    ...(state !== undefined && { state }),
  });
  await view.prepare(`window.fakeSetup = ${setup};\n((module) => {\n${fakeHost('fakeHost')}\n})({});`);
  await view.prepare(`(${applyTheme.toString()})(${JSON.stringify(themes[options.theme ?? 'dark'])});`);
  await page.goto(path ?? `/?${options.language ?? 'en'}`);
  const chats = path === undefined ? [page.mainFrame()] : page.frames().filter((frame) => frame.parentFrame() !== null);
  if (options.snapshot) for (const chat of chats) await chat.locator('tk-composer textarea').waitFor();
  await view.settled();
}

const hosts = new Map<string, string>();

/** A built script of a fake host, without its source map: every page gets it anew. */
export function fakeHost(name: 'fakeHost' | 'fakePanelHost'): string {
  const script =
    hosts.get(name) ?? readFileSync(join(builtTests, `webview/support/${name}.js`), 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, '');
  hosts.set(name, script);
  return script;
}

/** Runs in the page; as VS Code does it, variables go onto the document element and the theme's name onto the body. */
export function applyTheme(theme: (typeof themes)[ThemeName]): void {
  const apply = () => {
    const { style } = document.documentElement;
    for (const name of [...style]) if (name.startsWith('--vscode-')) style.removeProperty(name);
    for (const [name, value] of Object.entries(theme.variables)) style.setProperty(`--vscode-${name}`, value);
    style.background = theme.variables['sideBar-background']!;
    document.body.dataset['vscodeThemeKind'] = theme.bodyClass.split(' ').at(-1)!;
    document.body.className = theme.bodyClass;
  };
  // Some of what VS Code styles in every webview, in the lowest layer as there.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`@layer vscode-default {
    body { padding: 0 20px; color: var(--vscode-editor-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); }
    textarea:focus { outline: 1px solid -webkit-focus-ring-color; }
    code { padding: 1px 3px; color: var(--vscode-textPreformat-foreground); background-color: var(--vscode-textPreformat-background); }
    blockquote { background: var(--vscode-textBlockQuote-background); }
    kbd { box-shadow: inset 0 -1px 0 var(--vscode-widget-shadow); }
  }`);
  document.adoptedStyleSheets = [sheet, ...document.adoptedStyleSheets.slice(1)];
  if (document.body) apply();
  else document.addEventListener('DOMContentLoaded', apply);
}
