import { fromEnv, runMocha } from './mochaRun';

/** How long a finished suite may keep its process alive before that is called a leak. */
const patience = 10_000;

runMocha(fromEnv(process.env)).then(
  () => {
    setTimeout(() => {
      console.log(`Something the tests started is still open: ${process.getActiveResourcesInfo().join(', ')}`);
      process.exit(0);
    }, patience).unref();
    // The channel to the runner is no leak.
    process.disconnect?.();
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
