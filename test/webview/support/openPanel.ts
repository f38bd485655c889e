import { deepStrictEqual } from 'node:assert';
import type { PanelRequest, PanelState } from '../../../src/protocol/panels';
import type {} from './fakePanelHost';
import type { Language } from './languages';
import { applyTheme, fakeHost, usePages, View } from './openView';
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
    deepStrictEqual(
      { violations, faults: log.filter((entry) => entry.startsWith('Fault') || entry.startsWith('Malformed')), errors: this.pageErrors },
      { violations: [], faults: [], errors: [] },
    );
  }
}

/** The panels, with what `usePages` does. */
export function usePanels(): (state: PanelState, size?: { width: number; height: number }, language?: Language) => Promise<Panel> {
  const newPage = usePages();
  return async (state, size = { width: 900, height: 1200 }, language = 'en') => {
    const panel = await newPage((page) => new Panel(page));
    const { page } = panel;
    await page.setViewportSize(size);
    await panel.prepare(`window.fakePanelState = ${JSON.stringify(state)};\n((module) => {\n${fakeHost('fakePanelHost')}\n})({});`);
    await panel.prepare(`(${applyTheme.toString()})(${JSON.stringify(themes.dark)});`);
    await page.goto(`/panel?${language}`);
    await page.locator('tk-panel main').waitFor();
    await panel.settled();
    return panel;
  };
}
