import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { axeViolations } from '../support/axe';
import { conversation, running, snapshot } from '../support/fixtures';
import { useViews } from '../support/openView';

describe('what the view asks of its user', function () {
  this.timeout(60_000);
  const open = useViews();
  const full = { used: 172_000, effective: 200_000, fits: true };

  it('is put on a card when the context is full, in reach of the keyboard, without taking the focus', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(4) }) });
    await view.find('textarea').focus();
    await view.delta({ kind: 'turn', turn: running('preparing') }, { kind: 'full', full });
    strictEqual(await view.text('.full-card .approval-title'), 'The context is 86% full: 172k of 200k tokens');
    strictEqual(await view.page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA');
    strictEqual(await view.text('.sr-only[role=status]'), 'The context is 86% full: 172k of 200k tokens');
    deepStrictEqual(await axeViolations(view), []);
    await view.shot('ask-card');
    for (const [label, answer] of [
      ['Compact now', 'summarize'],
      ['Compact with instructions…', 'instructions'],
      ['Leave out the older part', 'truncate'],
      ['Go on as it is', 'continue'],
    ] as const) {
      await view.find('.full-card vscode-button').filter({ hasText: label }).focus();
      await view.page.keyboard.press('Enter');
      await view.until(
        answer,
        async () => JSON.stringify((await view.requests('answer_full')).at(-1)) === JSON.stringify({ method: 'answer_full', answer }),
      );
    }
    await view.delta({ kind: 'full', full: null });
    strictEqual(await view.find('.full-card').count(), 0);
    strictEqual(await view.text('tk-turn-status'), 'Preparing…');
  });

  it('is there in a view that opens while the turn waits: nothing is said to run meanwhile, and the gauge can fold as well', async () => {
    const view = await open({ snapshot: snapshot({ rows: conversation(4), turn: running('preparing'), full: { ...full, fits: false } }) });
    match(await view.text('.full-card'), /going on will not send your message/);
    strictEqual(await view.find('tk-turn-status').count(), 0);
    await view.find('.gauge-label').click();
    await view.button('Compact now').last().click();
    deepStrictEqual(await view.requested('compact'), { method: 'compact' });
    await view.page.setViewportSize({ width: 260, height: 420 });
    const bottom = await view.find('tk-composer').evaluate((composer) => innerHeight - composer.getBoundingClientRect().bottom);
    deepStrictEqual([bottom >= 0, await view.find('.full-card').evaluate((card) => card.clientHeight <= innerHeight / 2)], [true, true]);
    await view.find('.full-card vscode-button').last().scrollIntoViewIfNeeded();
    await view.shot('ask-card-low');
  });

  it('is to choose another policy where that of the session cannot be used', async () => {
    const text =
      'The policy of this session cannot be used as it is; the policy balanced is in use. threadkeeper.context.policy: "goosey" (of this session) is not a policy.';
    const view = await open({ snapshot: snapshot({ rows: conversation(4), banner: { kind: 'policy', text } }) });
    deepStrictEqual(await axeViolations(view), []);
    await view.shot('policy-banner');
    await view.button('Select Policy…').click();
    deepStrictEqual(await view.requested('select_policy'), { method: 'select_policy' });
  });
});
