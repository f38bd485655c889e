import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { axeViolations } from './support/axe';
import { useViews } from './support/openView';
import { states } from './support/states';

describe('the banner', function () {
  this.timeout(60_000);
  const open = useViews();
  const stateOf = (name: string) => states.find((one) => one.name === name)!.options;

  it('says in a sentence what happened, more on demand, and is closed by keyboard', async () => {
    const view = await open(stateOf('recovered'));
    strictEqual(await view.find('.banner-text > span').innerText(), 'Your history was damaged. What could be read of it is here.');
    const short = await view.find('.banner').evaluate((banner) => banner.clientHeight);
    await view.find('.title-button').focus();
    const reached = async (label: string) => {
      for (let i = 0; i < 10; i++) {
        await view.page.keyboard.press('Tab');
        if (
          (await view.page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent)) ===
          label
        )
          return;
      }
      throw new Error(`${label} is not reached`);
    };
    await reached('Details');
    await view.page.keyboard.press('Enter');
    match(await view.find('.banner details').innerText(), /The damaged file was kept as/);
    strictEqual(
      await view
        .find('.banner')
        .evaluate((banner, height) => banner.clientHeight > height && banner.scrollWidth <= banner.clientWidth, short),
      true,
    );
    deepStrictEqual(await axeViolations(view), []);
    await view.shot('banner-details');
    await reached('Dismiss');
    await view.page.keyboard.press('Enter');
    deepStrictEqual(await view.requested('dismiss_banner'), { method: 'dismiss_banner', banner: 'recovered: 1' });
    strictEqual(
      await view.page.evaluate(() => document.activeElement?.closest('tk-composer') !== null),
      true,
      'the focus is where one writes',
    );
    await view.delta({ kind: 'banner', banner: null });
    strictEqual(await view.find('.banner').count(), 0);
  });

  it('stays while there is something to do, and offers to do it', async () => {
    const view = await open(stateOf('damaged'));
    strictEqual(await view.find('.banner .icon-button').count(), 0);
    await view.button('Verify and repair').click();
    deepStrictEqual(await view.requested('verify_history'), { method: 'verify_history' });
  });

  it('leads to where a workspace is trusted', async () => {
    const view = await open(stateOf('untrusted'));
    await view.button('Manage workspace trust').click();
    deepStrictEqual(await view.requested('manage_trust'), { method: 'manage_trust' });
  });

  it('waits for who reads the question about the repair', async () => {
    const view = await open({ ...stateOf('damaged'), now: Date.UTC(2026, 10, 22) });
    await view.page.evaluate(() => window.fake.silent.add('verify_history'));
    await view.button('Verify and repair').click();
    await view.requested('verify_history');
    await view.page.clock.runFor(120_000);
    strictEqual(await view.find('.problem').count(), 0);
  });
});
