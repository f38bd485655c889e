export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const nothingRun: SuiteResult = { passed: 0, failed: 0, skipped: 0 };

export function testsIn(result: SuiteResult): number {
  return result.passed + result.failed + result.skipped;
}

export function sum(results: readonly SuiteResult[]): SuiteResult {
  return results.reduce(
    (total, result) => ({
      passed: total.passed + result.passed,
      failed: total.failed + result.failed,
      skipped: total.skipped + result.skipped,
    }),
    nothingRun,
  );
}

/** The runner's last line; CI reads it, so its form is fixed. */
export function totalLine({ passed, failed, skipped }: SuiteResult): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

export function parseResult(text: string): SuiteResult {
  const value = JSON.parse(text) as Partial<SuiteResult>;
  const { passed, failed, skipped } = value;
  if (typeof passed !== 'number' || typeof failed !== 'number' || typeof skipped !== 'number') {
    throw new Error(`Not a test result: ${text}`);
  }
  return { passed, failed, skipped };
}
