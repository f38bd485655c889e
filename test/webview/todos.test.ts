import { deepStrictEqual, strictEqual } from 'node:assert';
import { axeViolations } from './support/axe';
import { snapshot, user } from './support/fixtures';
import { useViews } from './support/openView';

const todos = [
  { text: 'Read the parser', status: 'done' as const },
  { text: 'Intern the names', status: 'in_progress' as const },
  { text: 'Measure again', status: 'pending' as const },
];

describe('the to-do list above the composer', function () {
  this.timeout(60_000);
  const open = useViews();

  it('says how far it is and what is being done, and opens by the keyboard', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Speed it up')], todos }) });
    const head = view.find('.todos-head');
    strictEqual((await head.innerText()).replace(/\s+/g, ' '), '1 of 3 done Intern the names');
    strictEqual(await head.getAttribute('aria-expanded'), 'false');
    strictEqual(await view.find('.todo').first().isVisible(), false);
    await head.focus();
    await view.page.keyboard.press('Enter');
    strictEqual(await head.getAttribute('aria-expanded'), 'true');
    strictEqual(await head.innerText(), '1 of 3 done');
    deepStrictEqual(
      (await view.find('.todo').allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim()),
      ['Done: Read the parser', 'In progress: Intern the names', 'Not started: Measure again'],
    );
    deepStrictEqual(await axeViolations(view), []);
  });

  it('follows the model, stays open, and goes', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Speed it up')] }) });
    strictEqual(await view.find('.todos').count(), 0);
    await view.delta({ kind: 'todos', todos });
    await view.find('.todos-head').click();
    await view.delta({ kind: 'todos', todos: todos.map(({ text }) => ({ text, status: 'done' })) });
    strictEqual(await view.text('.todos-head'), '3 of 3 done');
    strictEqual(await view.find('.todo.done').count(), 3);
    await view.delta({ kind: 'todos', todos: [] });
    strictEqual(await view.find('.todos').count(), 0);
  });
});
