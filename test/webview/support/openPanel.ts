import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import type { PanelRequest, PanelState } from '../../../src/protocol/panels';
import { launchChromium } from '../../support/chromium';
import { builtTests } from '../../support/paths';
import type {} from './fakePanelHost';
import type { Language } from './languages';
import { applyTheme, origin, serve, View } from './openView';
import { themes } from './themes';

/** A panel in a page of its own. */
export class Panel extends View {
  async showState(state: PanelState): Promise<void> {
    await this.page.evaluate((s) => window.fakePanel.show(s), state);
    await this.settled();
  }

  asked(): Promise<PanelRequest[]> {
    return this.page.evaluate(() => window.fakePanel.requests);
  }

  override async check(): Promise<void> {
    const { violations, log } = await this.page.evaluate(() => ({ violations: window.fakePanel.violations, log: window.fakePanel.log }));
    deepStrictEqual({ violations, faults: log.filter((entry) => entry.startsWith('Fault') || entry.startsWith('Malformed')), errors: this.pageErrors }, { violations: [], faults: [], errors: [] });
  }
}

/** Call in a `describe`: one browser for its tests, and after each test a check that nothing was blocked or thrown. */
export function usePanels(): (state: PanelState, size?: { width: number; height: number }, language?: Language) => Promise<Panel> {
  let browser: Browser;
  let context: BrowserContext;
  let open: Panel[] = [];
  before(async function () {
    this.timeout(60_000);
    browser = await launchChromium();
    context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' });
    context.setDefaultTimeout(20_000);
    await context.route(`${origin}/**`, serve);
  });
  after(async () => browser?.close());
  afterEach(async () => {
    const panels = open;
    open = [];
    try {
      for (const panel of panels) await panel.check();
    } finally {
      for (const panel of panels) await panel.page.close();
    }
  });
  return async (state, size = { width: 900, height: 1200 }, language = 'en') => {
    const panel = new Panel(await context.newPage());
    open.push(panel);
    const { page } = panel;
    await page.setViewportSize(size);
    const host = readFileSync(join(builtTests, 'webview/support/fakePanelHost.js'), 'utf8');
    await page.addInitScript(`window.fakePanelState = ${JSON.stringify(state)};\n((module) => {\n${host}\n})({});`);
    await page.addInitScript(applyTheme, themes.dark);
    await page.goto(`${origin}/panel?${language}`);
    await page.locator('tk-panel main').waitFor();
    await panel.settled();
    return panel;
  };
}
