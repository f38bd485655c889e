import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { projectRoot } from '../paths';
import type { CoverageReport } from '../source/lineCoverage';

/** Set by `npm run coverage`. Node writes there what its processes have run; pages have to be asked. */
const reports = process.env['NODE_V8_COVERAGE'];

/** From before its first script on, a page counts what it runs. */
export async function countScripts(page: Page): Promise<void> {
  if (reports !== undefined) await page.coverage.startJSCoverage({ resetOnNavigation: false });
}

/** Writes what the view's scripts in an open page have run. */
export async function reportScripts(page: Page): Promise<void> {
  if (reports === undefined || page.isClosed()) return;
  const scripts = await page.coverage.stopJSCoverage();
  const report: CoverageReport = {
    result: scripts.map(({ url, functions }) => ({
      url: pathToFileURL(join(projectRoot, 'dist', 'webview', basename(new URL(url).pathname))).href,
      functions,
    })),
  };
  writeFileSync(join(reports, `page-${randomUUID()}.json`), JSON.stringify(report));
}
