import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { axeViolations } from './support/axe';
import { assistant, running, snapshot, tool } from './support/fixtures';
import { useViews } from './support/openView';

const question = { title: 'Edit src/parser/tokens.ts', detail: null, everyTime: false, lasting: true, change: null };

describe('tool calls that ask', function () {
  this.timeout(60_000);
  const open = useViews();

  it('say what they would do, are announced, and are answered by the keyboard', async () => {
    const waiting = tool('c1', { name: 'edit_file', status: 'running', output: null, hasDiff: true, approval: question });
    const view = await open({
      snapshot: snapshot({ rows: [tool('c1', { name: 'edit_file', status: 'running', output: null })], turn: running('tools') }),
    });
    await view.delta({ kind: 'row_changed', row: waiting });
    match(await view.text('.tool-line'), /needs your permission$/);
    strictEqual(await view.text('.approval-title'), question.title);
    strictEqual(
      await view.text('tk-app > [role=status]'),
      'Permission needed: Edit src/parser/tokens.ts. Allow or deny it in the conversation.',
    );
    strictEqual(await view.page.evaluate(() => document.activeElement?.closest('.approval') ?? null), null, 'takes no focus');
    const names = ['Allow', 'Allow for this session', 'Always allow…', 'Deny', 'Deny with a reason…', 'Show diff'];
    deepStrictEqual(await view.find('.approval vscode-button, .approval .links button').allTextContents(), names);
    for (const name of [...names].reverse()) {
      await view.find('.approval').getByText(name, { exact: true }).focus();
      await view.page.keyboard.press('Enter');
    }
    await view.until('all are asked for', async () => (await view.requests()).length === names.length);
    const { title } = question;
    deepStrictEqual(await view.requests(), [
      { method: 'show_diff', id: 'c1' },
      { method: 'answer_tool', id: 'c1', title, answer: 'reason' },
      { method: 'answer_tool', id: 'c1', title, answer: 'deny' },
      { method: 'answer_tool', id: 'c1', title, answer: 'always' },
      { method: 'answer_tool', id: 'c1', title, answer: 'session' },
      { method: 'answer_tool', id: 'c1', title, answer: 'allow' },
    ]);
    await view.delta({ kind: 'row_changed', row: { ...waiting, approval: null } });
    strictEqual(await view.find('.approval').count(), 0);
  });

  it('offer no permission for the session where each call is asked about, and show the command', async () => {
    const view = await open({
      snapshot: snapshot({
        rows: [
          tool('c1', {
            name: 'run_command',
            status: 'running',
            output: null,
            approval: { title: 'Run a command', detail: 'npm test', everyTime: true, lasting: false, change: null },
          }),
        ],
        turn: running('tools'),
      }),
    });
    deepStrictEqual(await view.find('.approval vscode-button').allTextContents(), ['Allow', 'Deny']);
    strictEqual(await view.text('.approval-detail'), 'npm test');
  });

  it('show characters that cannot be seen, and what the command does not get', async () => {
    const approval = {
      title: 'Create a\u202etxt\nb',
      detail: 'ls \u200b#\rrm -rf ~\n\tdone',
      note: 'It does not get NPM_TOKEN.',
      everyTime: true,
      lasting: false,
      change: null,
    };
    const view = await open({
      snapshot: snapshot({
        rows: [
          tool('c1', {
            name: 'run\u2066',
            title: null,
            input: JSON.stringify({ command: approval.detail }),
            status: 'running',
            output: null,
            approval,
          }),
        ],
        turn: running('tools'),
      }),
    });
    strictEqual(await view.text('.approval-title'), 'Create a⟦U+202E⟧txt⟦U+000A⟧b');
    strictEqual(await view.find('.approval-detail').textContent(), 'ls ⟦U+200B⟧#⟦U+000D⟧rm -rf ~\n\tdone');
    strictEqual(await view.text('.tool-name'), 'run⟦U+2066⟧');
    strictEqual(await view.text('.tool-input'), 'ls ⟦U+200B⟧#⟦U+000D⟧rm -rf ~ done');
    strictEqual(await view.find('.approval').getAttribute('aria-label'), 'Permission needed: Create a⟦U+202E⟧txt⟦U+000A⟧b');
    match(await view.find('.approval').innerText(), /Characters that cannot be seen are shown as[\s\S]*It does not get NPM_TOKEN\./);
    await view.shot('approval-unseen');
  });

  it('show the lines of a change, and what became of it in words', async () => {
    const change = {
      added: 1,
      removed: 1,
      lines: [
        { mark: ' ' as const, text: 'const a = 1;' },
        { mark: '-' as const, text: 'const b = 2;' },
        { mark: '+' as const, text: 'const b = 3; \u202e' },
        { mark: 'gap' as const, text: '' },
      ],
      more: 4,
    };
    const waiting = tool('c1', { name: 'edit_file', title: 'Edit src/a.ts', status: 'running', output: null, hasDiff: true });
    const view = await open({ snapshot: snapshot({ rows: [{ ...waiting, approval: { ...question, change } }], turn: running('tools') }) });
    deepStrictEqual(await view.find('.change-lines > span').allTextContents(), [
      '  const a = 1;',
      '− const b = 2;',
      '+ const b = 3; ⟦U+202E⟧',
      '⋯',
      '… 4 more lines',
    ]);
    strictEqual(await view.find('.approval-title .line-counts').getAttribute('aria-label'), 'Lines added: 1, removed: 1');
    await view.shot('approval-change');
    const done = {
      ...waiting,
      title: 'Edited src/a.ts',
      status: 'ok' as const,
      output: 'Edited.',
      lines: { added: 1, removed: 1 },
      file: 'src/a b.ts',
    };
    await view.delta({ kind: 'row_changed', row: done });
    match(await view.text('.tool-line'), /^Edited src\/a\.ts \+1 −1/);
    await view.find('.tool-open').click();
    deepStrictEqual(await view.requested('open_link'), { method: 'open_link', href: 'src/a%20b.ts' });
  });

  it('show what they print while they run, and their diff when they have run', async () => {
    const view = await open({
      snapshot: snapshot({ rows: [tool('c1', { name: 'run_command', status: 'running', output: null })], turn: running('tools') }),
    });
    await view.find('.tool-line').click();
    await view.delta(
      { kind: 'tool_output', id: 'c1', text: 'one\n' },
      { kind: 'tool_output', id: 'c1', text: 'two\n' },
      { kind: 'tool_output', id: 'gone', text: 'x' },
    );
    strictEqual(await view.find('.tool-details pre').last().textContent(), 'one\ntwo\n');
    await view.find('.tool').getByRole('button', { name: 'Show terminal' }).click();
    deepStrictEqual(await view.requested('show_terminal'), { method: 'show_terminal', id: 'c1' });
    await view.delta({ kind: 'row_changed', row: tool('c1', { name: 'edit_file', output: 'Edited.', hasDiff: true }) });
    await view.find('.tool-details').getByRole('button', { name: 'Show diff' }).click();
    deepStrictEqual(await view.requested('show_diff'), { method: 'show_diff', id: 'c1' });
  });

  it('offer to continue where a turn has reached its number of rounds', async () => {
    const view = await open({
      snapshot: snapshot({
        rows: [{ kind: 'error', id: 'e1', at: 0, reason: 'rounds', text: 'The model has called tools in 50 rounds and is not done.' }],
      }),
    });
    await view.button('Continue').click();
    deepStrictEqual(await view.requested('retry'), { method: 'retry' });
  });

  it('let a turn go on that was stopped while they ran', async () => {
    const stopped = tool('c1', { name: 'run_command', status: 'running', output: null });
    const view = await open({ snapshot: snapshot({ rows: [stopped], turn: running('tools') }) });
    strictEqual(await view.find('.remark').count(), 0);
    await view.delta({ kind: 'row_changed', row: { ...stopped, status: 'interrupted', output: '' } }, { kind: 'turn', turn: null });
    strictEqual(await view.text('[data-id=c1] .remark'), 'No answer yet Continue');
    await view.button('Continue').click();
    deepStrictEqual(await view.requested('retry'), { method: 'retry' });
    await view.delta({ kind: 'row', row: assistant('a1', 'Done.') });
    strictEqual(await view.find('.remark').count(), 0);
  });

  it('show how much a side question has read, and open all of it', async () => {
    const aside = { id: 'm1', read: 42_300, requests: 3, cost: 0.12, outcome: 'answered' as const };
    const row = tool('c1', { name: 'ask_aside', title: 'Looked into: Where is the port set?', aside });
    const view = await open({
      snapshot: snapshot({ rows: [row, tool('c2', { ...row, aside: { ...aside, requests: 1, cost: null, outcome: 'stopped' } })] }),
    });
    deepStrictEqual(await view.find('.aside-line > span').allTextContents(), [
      '42.3k tokens read · 3 requests · $0.12',
      '42.3k tokens read · 1 request · stopped',
    ]);
    await view.find('.aside-line button').first().focus();
    await view.page.keyboard.press('Enter');
    await view.requested('show_aside');
    deepStrictEqual(await view.requests('show_aside'), [{ method: 'show_aside', id: 'm1' }]);
  });

  it('show the images that they returned, without being opened, and open one', async () => {
    const image = { kind: 'image', name: 'pier.png', hash: 'b'.repeat(64), mime: 'image/png', tokens: 90 } as const;
    const dot = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const view = await open({ snapshot: null });
    await view.page.evaluate((address) => Object.assign(window.fake.answers, { attachment_image: address }), dot);
    await view.show(
      snapshot({ rows: [tool('c1', { name: 'read_file', title: 'Read pier.png', status: 'ok', output: 'An image.', images: [image] })] }),
    );
    await view.find('.tool-image img').waitFor();
    await view.shot('tool-image');
    deepStrictEqual(await axeViolations(view), []);
    await view.button('Open pier.png').click();
    await view.until('it is asked for', async () => (await view.requests('open_attachment')).length === 1);
    deepStrictEqual(await view.requests('open_attachment'), [{ method: 'open_attachment', attachment: image }]);
  });

  it('show the name of a file where there is no room for its folders', async () => {
    const title = 'Read packages/very/deep/folders/of/a/large/repository/tokens.ts';
    const view = await open({ snapshot: snapshot({ rows: [tool('c1', { title, file: title.slice(5) }), tool('c2', { title })] }) });
    await view.page.setViewportSize({ width: 220, height: 640 });
    const isCut = (selector: string) => view.find(selector).evaluate((one) => one.scrollWidth > one.clientWidth);
    strictEqual(await view.text('[data-id=c1] .tool-title'), title);
    deepStrictEqual(
      [await isCut('[data-id=c1] .of-file > :first-child'), await isCut('[data-id=c1] .of-file > :last-child')],
      [true, false],
    );
    strictEqual(await isCut('[data-id=c2] .tool-title'), true, 'a line of other words is cut at its end');
  });
});
