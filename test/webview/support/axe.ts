import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import type { Frame, Page } from 'playwright-core';

/** What axe-core holds against the view, one line per element: by all its rules, or by those that a change of theme can break. */
export async function axeViolations(view: { readonly page: Pick<Page | Frame, 'evaluate'> }, rules?: readonly string[]): Promise<string[]> {
  if (!(await view.page.evaluate('typeof axe !== "undefined"'))) {
    await view.page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  }
  // What it would fetch and parse beforehand, all style sheets, is for a rule about sound: a third of its time.
  const options = JSON.stringify({ resultTypes: ['violations'], preload: false, ...(rules && { runOnly: rules }) });
  const results: AxeResults = await view.page.evaluate(`axe.run(document, ${options})`);
  return results.violations.flatMap((v) => v.nodes.map((node) => `${v.id}: ${node.target.join(' ')}: ${node.failureSummary ?? ''}`));
}
