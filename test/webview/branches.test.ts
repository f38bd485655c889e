import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { noRow } from '../../src/protocol/messages';
import { axeViolations } from './support/axe';
import { cutOff } from './support/cutOff';
import { assistant, running, snapshot, user } from './support/fixtures';
import { useViews } from './support/openView';

const rows = [
  user('u1', 'What moves the tides?'),
  assistant('a1', 'The moon.'),
  user('u2', 'And the harbours?'),
  assistant('a2', 'They silt up.'),
];
const mark = (id: string, over: object = {}) => ({ id, label: null, fork: null, beyond: [], ...over });

describe('branches in the view', function () {
  this.timeout(60_000);
  const open = useViews();

  it('a fork says which branch is shown, and the others are a step away', async () => {
    const view = await open({
      snapshot: snapshot({
        rows,
        marks: [mark('u2', { fork: { at: 1, branches: ['x1', 'u2', 'x3'] } }), mark('a2', { fork: { at: 0, branches: ['a2', 'y2'] } })],
      }),
    });
    deepStrictEqual(
      (await view.find('.fork-switch').allTextContents()).map((text) => text.trim()),
      ['2/3', '1/2'],
    );
    strictEqual(await view.find('.fork-switch').first().getAttribute('aria-label'), 'Branch 2 of 3');
    await view.find('[data-id=u2] .fork-switch button').first().focus();
    await view.page.keyboard.press('Enter');
    await view.find('[data-id=u2] .fork-switch button').last().click();
    await view.find('[data-id=a2] .fork-switch button').last().click();
    deepStrictEqual(
      await view.requests(),
      ['x1', 'x3', 'y2'].map((entry) => ({ method: 'switch_branch', entry })),
    );
    strictEqual(await view.find('[data-id=a2] .fork-switch button').first().isDisabled(), true);
    await view.delta({ kind: 'turn', turn: running('streaming') });
    strictEqual(await view.find('.fork-switch button:enabled').count(), 0, 'nothing moves under a running answer');
  });

  it('an answer says what it has changed, and what became of that; a press opens it', async () => {
    const changes = { text: '3 files, +41 −7', files: 3, left: 3, undone: 0 };
    const view = await open({
      snapshot: snapshot({ rows, marks: [mark('a1', { changes: { ...changes, left: 0 } }), mark('a2', { changes })] }),
    });
    const line = async (id: string) => (await view.text(`[data-id=${id}] .changes`)).replace(/\s+/g, ' ').trim();
    deepStrictEqual([await line('a1'), await line('a2')], ['Review changes: 3 files, +41 −7 Kept', 'Review changes: 3 files, +41 −7']);
    await view.delta({
      kind: 'marks',
      marks: [mark('a2', { changes: { ...changes, files: 0, left: 0, text: '', uncovered: 'No restore covers: out/ (ignored)' } })],
    });
    deepStrictEqual(
      [await view.find('[data-id=a2] .changes').count(), (await view.text('[data-id=a2] .uncovered')).trim()],
      [0, 'No restore covers: out/ (ignored)'],
    );
    await view.delta({ kind: 'marks', marks: [mark('a2', { changes })] });
    await view.find('[data-id=a2] .changes button').focus();
    await view.page.keyboard.press('Enter');
    deepStrictEqual(await view.requests(), [{ method: 'review', entry: 'a2' }]);
    for (const [left, undone, said] of [
      [1, 1, '1 left to review'],
      [0, 1, 'Reviewed'],
      [0, 3, 'Undone'],
    ] as const) {
      await view.delta({ kind: 'marks', marks: [mark('a2', { changes: { ...changes, left, undone } })] });
      strictEqual(await view.text('[data-id=a2] .changes-state'), said);
    }
  });

  it('a message is edited in its row by the keyboard; Escape leaves it as it was', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.button('Edit your message').last().focus();
    await view.page.keyboard.press('Enter');
    const editor = view.find('tk-message-editor textarea');
    strictEqual(await editor.inputValue(), 'And the harbours?');
    strictEqual(await editor.evaluate((area) => area === document.activeElement), true);
    await view.page.keyboard.type(' Quickly');
    await view.page.keyboard.press('Escape');
    strictEqual(await editor.count(), 0);
    strictEqual(await view.text('[data-id=u2] .user-text'), 'And the harbours?');
    strictEqual(
      await view
        .button('Edit your message')
        .last()
        .evaluate((button) => button === document.activeElement),
      true,
    );
    await view.page.keyboard.press('Enter');
    await editor.fill('And the estuaries?');
    await view.page.keyboard.press('Shift+Enter');
    await view.page.keyboard.press('Enter');
    const request = await view.requested('edit');
    deepStrictEqual(request, { ...request, method: 'edit', entry: 'u2', text: 'And the estuaries?\n' });
    await editor.waitFor({ state: 'detached' });
  });

  it('a refused edit stays in its row, and the reason is said', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.page.evaluate(() => void (window.fake.refuse['edit'] = 'Another window is answering.'));
    await view.button('Edit your message').last().click();
    await view.find('tk-message-editor textarea').fill('Better');
    await view.find('tk-message-editor vscode-button').first().click();
    match(await view.find('.problem').textContent().then(String), /Another window is answering/);
    strictEqual(await view.find('tk-message-editor textarea').inputValue(), 'Better');
    strictEqual(await view.find('tk-message-editor textarea').isEnabled(), true);
    await view.find('tk-message-editor textarea').press('Escape');
  });

  it('another text for a message is there again when the view was hidden', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.button('Edit your message').last().click();
    await view.find('tk-message-editor textarea').fill('Written anew, at length');
    await view.until('it is remembered', () => view.page.evaluate(() => JSON.stringify(window.fake.state ?? null).includes('at length')));
    const state: unknown = await view.page.evaluate(() => window.fake.state);
    const again = await open({ snapshot: snapshot({ rows }), state });
    strictEqual(await again.find('tk-message-editor textarea').inputValue(), 'Written anew, at length');
    await again.find('tk-message-editor textarea').press('Escape');
    await again.until('it is closed', async () => (await again.find('tk-message-editor').count()) === 0);
    await again.until('one goes on from its button', () =>
      again.page.evaluate(() => document.activeElement?.getAttribute('data-action') === 'edit'),
    );
  });

  it('the actions of a row are one stop of the Tab key, and the arrow keys go through them', async () => {
    const view = await open({ snapshot: snapshot({ rows }) });
    await view.button('Copy this answer').last().focus();
    const names: (string | null)[] = [];
    for (let i = 0; i < 5; i++) {
      names.push(await view.page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? null));
      await view.page.keyboard.press('ArrowRight');
    }
    deepStrictEqual(names, [
      'Copy this answer',
      'Ask for another answer',
      'Fork the session from this answer',
      'More about this answer',
      'Copy this answer',
    ]);
    strictEqual(await view.find('[data-id=a2] .row-actions button[tabindex="0"]').count(), 1);
    for (const name of ['Ask for another answer', 'Copy this answer', 'Fork the session from this answer'])
      await view.button(name).last().click();
    const items = view.find('[data-id=a2] [role=menuitem]');
    deepStrictEqual(await items.allTextContents(), [
      'Pin this answer',
      'Exclude this answer',
      'Label this answer',
      'Restore to before this turn…',
    ]);
    for (const name of ['Label this answer', 'Restore to before this turn…']) {
      await view.button('More about this answer').last().press('Enter');
      await items.filter({ hasText: name }).click();
    }
    deepStrictEqual(await view.requests(), [
      { method: 'regenerate', entry: 'a2' },
      { method: 'copy', text: 'They silt up.' },
      { method: 'fork', entry: 'a2' },
      { method: 'label', entry: 'a2', label: '' },
      { method: 'restore', entry: 'u2' },
    ]);
  });

  it('a label stands at its turn and is changed from there', async () => {
    const view = await open({ snapshot: snapshot({ rows, marks: [mark('a1', { label: 'moon theory' })] }) });
    strictEqual(await view.text('[data-id=a1] .label-chip'), 'Label: moon theory');
    await view.button('More about this answer').first().click();
    await view.find('[role=menuitem]').filter({ hasText: 'Change the label of this answer' }).click();
    deepStrictEqual(await view.requests(), [{ method: 'label', entry: 'a1', label: 'moon theory' }]);
    await view.delta({ kind: 'marks', marks: [mark('a1'), mark('u2', { label: 'harbours' })] });
    deepStrictEqual(await view.find('.label-chip').count(), 1);
    strictEqual(await view.text('[data-id=u2] .label-chip'), 'Label: harbours');
  });

  it('where a branch ends and another does not, the other is a click away, until something follows', async () => {
    const view = await open({ snapshot: snapshot({ rows: rows.slice(0, 3), marks: [mark('u2', { beyond: ['a2'] })] }) });
    await view.button(/Back to what followed here \(1 branch\)/).click();
    deepStrictEqual(await view.requests(), [{ method: 'switch_branch', entry: 'a2' }]);
    await view.delta(
      { kind: 'row', row: assistant('a3', 'New.') },
      { kind: 'marks', marks: [mark('a3', { fork: { at: 1, branches: ['a2', 'a3'] } })] },
    );
    deepStrictEqual(
      (await view.find('.fork-switch').allTextContents()).map((text) => text.trim()),
      ['2/2'],
    );
  });

  it('back before the first message, what followed is a click away', async () => {
    const view = await open({ snapshot: snapshot({ marks: [mark(noRow, { beyond: ['u1'] })] }) });
    await view.button(/Back to what followed here \(1 branch\)/).click();
    deepStrictEqual(await view.requests(), [{ method: 'switch_branch', entry: 'u1' }]);
    await view.delta({ kind: 'row', row: user('u9', 'Another way') });
    strictEqual(await view.find('.fork-switch').count(), 0);
  });

  it('says where another device went on, aloud, and goes there by the keyboard', async () => {
    const elsewhere = { device: 'Laptop', messages: 2, entry: 'e9', dismissAs: 'elsewhere: e9' };
    const view = await open({ snapshot: snapshot({ rows }) });
    strictEqual(await view.find('.elsewhere').count(), 0);
    await view.delta({ kind: 'elsewhere', elsewhere });
    deepStrictEqual(
      [await view.text('footer .elsewhere > span'), await view.text('.sr-only[role=status]')],
      ['Continued on Laptop, 2 messages', 'Continued on Laptop, 2 messages'],
    );
    await view.shot('elsewhere-dark');
    const violations: Record<string, string[]> = { dark: await axeViolations(view) };
    for (const theme of ['light', 'hc', 'hcLight'] as const) {
      await view.setTheme(theme);
      await view.shot(`elsewhere-${theme}`);
      violations[theme] = await axeViolations(view, ['color-contrast', 'link-in-text-block']);
    }
    await view.page.setViewportSize({ width: 220, height: 640 });
    deepStrictEqual({ ...violations, cut: await cutOff(view) }, { dark: [], light: [], hc: [], hcLight: [], cut: [] });

    await view.delta({ kind: 'turn', turn: running('streaming') });
    strictEqual(await view.find('.elsewhere .link-button').isDisabled(), true, 'nothing moves under a running answer');
    await view.delta({ kind: 'turn', turn: null });
    await view.find('.elsewhere .link-button').focus();
    await view.page.keyboard.press('Enter');
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('Enter');
    deepStrictEqual(await view.requests(), [
      { method: 'switch_branch', entry: 'e9' },
      { method: 'dismiss_banner', banner: 'elsewhere: e9' },
    ]);
    await view.delta({ kind: 'elsewhere', elsewhere: null });
    strictEqual(await view.find('.elsewhere').count(), 0);
  });

  it('say what was brought along from the branch that was left, and show it on request', async () => {
    const brought = { kind: 'branch_summary', id: 'b1', at: 0, summary: 'The *ebb* comes first.' } as const;
    const view = await open({ snapshot: snapshot({ rows: [...rows, brought] }) });
    strictEqual(await view.text('[data-id=b1]'), 'Brought along from the branch you left');
    await view.button('Brought along from the branch you left').click();
    strictEqual(await view.text('[data-id=b1] em'), 'ebb');
  });
});
