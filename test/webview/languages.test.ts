import { deepStrictEqual, strictEqual } from 'node:assert';
import { snapshot, user } from './support/fixtures';
import { cutOff } from './support/cutOff';
import { useViews } from './support/openView';
import { states } from './support/states';

describe('in another language', function () {
  this.timeout(60_000);
  const open = useViews();

  it('shows the gauge in Chinese, and says so to a screen reader', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', '你好')] }), language: 'zh-cn', width: 300 });
    strictEqual(await view.page.locator('html').getAttribute('lang'), 'zh-cn');
    deepStrictEqual(
      [await view.text('.gauge-label'), await view.find('[role=meter]').getAttribute('aria-valuetext')],
      ['上下文窗口， ~84.1k / 200k · 42% 约 9 轮后压缩', '200 千 个 token 中的 84 千 个，百分之 42，估计值'],
    );
  });

  for (const { name, options, act } of states) {
    it(`${name}: whole at 300 pixels where words are long`, async () => {
      const view = await open({ ...options, language: 'long', width: 300 });
      await act?.(view);
      await view.settled();
      await view.shot(`${name}-long`);
      deepStrictEqual(await cutOff(view), []);
    });
  }
});
