/** For a suite that tells one story: after a step has failed, the steps that build on it are skipped. */
export function inOrder(suite: Mocha.Suite): void {
  suite.beforeEach(function () {
    if (suite.tests.some((test) => test.state === 'failed')) this.skip();
  });
}
