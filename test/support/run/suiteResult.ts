export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What failed: the whole name of each test, or the file, and why. */
  readonly failures: readonly string[];
}

export const nothingRun: SuiteResult = { passed: 0, failed: 0, skipped: 0, failures: [] };

export function testsIn(result: SuiteResult): number {
  return result.passed + result.failed + result.skipped;
}

export function sum(results: readonly SuiteResult[]): SuiteResult {
  return results.reduce(
    (total, result) => ({
      passed: total.passed + result.passed,
      failed: total.failed + result.failed,
      skipped: total.skipped + result.skipped,
      failures: [...total.failures, ...result.failures],
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
  const { passed, failed, skipped, failures } = value;
  if (typeof passed !== 'number' || typeof failed !== 'number' || typeof skipped !== 'number' || !Array.isArray(failures)) {
    throw new Error(`Not a test result: ${text}`);
  }
  return { passed, failed, skipped, failures };
}
