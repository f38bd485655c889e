import { deepStrictEqual, strictEqual } from 'node:assert';
import { axeViolations } from './support/axe';
import { assistant, running, snapshot, user } from './support/fixtures';
import { useViews } from './support/openView';

describe('Plan mode', function () {
  this.timeout(60_000);
  const open = useViews();
  const answer = assistant('a1', 'I looked.\n\n## Plan\n\n1. Do it');

  it('is switched by the keyboard, and says which one it is', async () => {
    const view = await open({ snapshot: snapshot() });
    const button = view.find('.mode-button');
    deepStrictEqual([(await button.innerText()).trim(), await button.getAttribute('aria-label')], ['Chat', 'Mode: Chat. Switch to Plan']);
    await button.focus();
    await view.page.keyboard.press('Enter');
    await view.delta({ kind: 'mode', mode: 'plan' });
    deepStrictEqual([(await button.innerText()).trim(), await button.getAttribute('aria-label')], ['Plan', 'Mode: Plan. Switch to Chat']);
    await view.page.keyboard.press('Space');
    await view.until('both are asked for', async () => (await view.requests('set_mode')).length === 2);
    deepStrictEqual(await view.requests('set_mode'), [
      { method: 'set_mode', mode: 'plan' },
      { method: 'set_mode', mode: 'chat' },
    ]);
    deepStrictEqual(await axeViolations(view), []);
  });

  it('offers to start or edit the plan that the newest answer ends in', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Plan it')], mode: 'plan', turn: running('streaming') }) });
    strictEqual(await view.find('.plan-card').count(), 0);
    await view.delta({ kind: 'row', row: answer });
    strictEqual(await view.find('.plan-card').count(), 0, 'not while it is being answered');
    await view.delta({ kind: 'turn', turn: null });
    strictEqual(await view.text('.plan-card .approval-title'), 'The plan is ready');
    await view.until('it is said', async () => (await view.text('tk-app > [role=status]')).endsWith('The plan is ready.'));
    for (const name of ['Edit Plan', 'Start Plan']) {
      await view.find('.plan-card').getByText(name, { exact: true }).focus();
      await view.page.keyboard.press('Enter');
    }
    await view.requested('start_plan');
    deepStrictEqual(
      [await view.requests('edit_plan'), await view.requests('start_plan')],
      [[{ method: 'edit_plan', entry: 'a1' }], [{ method: 'start_plan', entry: 'a1' }]],
    );
    await view.delta({ kind: 'mode', mode: 'chat' });
    strictEqual(await view.find('.plan-card').count(), 0);
  });

  it('offers nothing for an answer without a plan, in Chat, and when the conversation has gone on', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Plan it'), assistant('a1', 'Which one?')], mode: 'plan' }) });
    strictEqual(await view.find('.plan-card').count(), 0);
    await view.delta({ kind: 'row', row: { ...answer, id: 'a2' } });
    strictEqual(await view.find('.plan-card').count(), 1);
    await view.delta({ kind: 'row', row: user('u2', 'Wait') });
    strictEqual(await view.find('.plan-card').count(), 0);
  });
});
