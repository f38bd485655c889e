// Before any test: which of two files that several tests share is loaded first, the bundler decides.
import '../vscode/windowDouble';
import { closeBrowsers } from '../view/chromium';
import { runMocha, type MochaRun } from './mochaRun';
import type { SuiteResult } from './suiteResult';

/** How long a process that has run its last file may live before something counts as left open. */
const patience = 10_000;

/** What the process that hands out the files hears. */
export type ChildAnswer = { readonly result: SuiteResult } | { readonly failure: string };

/** Runs what it is told to, one message at a time, until the channel to the runner is closed. */
process.on('message', (run: MochaRun) => {
  runMocha(run).then(
    (result) => process.send?.({ result } satisfies ChildAnswer),
    (error: unknown) =>
      process.send?.({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) } satisfies ChildAnswer),
  );
});

process.once('disconnect', () => {
  void closeBrowsers();
  setTimeout(() => {
    console.log(`Something the tests started is still open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(0);
  }, patience).unref();
});
