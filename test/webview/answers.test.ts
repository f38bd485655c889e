import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { assistant, running, snapshot, tool, user } from './support/fixtures';
import { useViews } from './support/openView';

describe('answers', function () {
  this.timeout(60_000);
  const open = useViews();

  it('puts what can be done with an answer at its end and with a message above it: nothing is covered, nothing moves', async () => {
    for (const width of [200, 320, 600]) {
      const rows = [
        user('u1', 'How long is a piece of string, all things considered?'),
        assistant('a1', 'As long as it is.\n\nOr twice that.'),
      ];
      const view = await open({ snapshot: snapshot({ rows }), width });
      const measured = await view.page.evaluate(() => {
        const range = (selector: string) => {
          const text = document.createRange();
          text.selectNodeContents(document.querySelector(selector)!);
          return text.getBoundingClientRect();
        };
        const bar = (row: string) => document.querySelector(`[data-id=${row}] .row-actions`)!.getBoundingClientRect();
        const [message, answer] = [range('[data-id=u1] .user-text'), range('[data-id=a1] tk-markdown')];
        return {
          above: bar('u1').bottom - message.top,
          below: answer.bottom - bar('a1').top,
          right: innerWidth - bar('u1').right,
          left: bar('u1').left,
        };
      });
      ok(measured.above <= 3 && measured.below <= 0, `${width}: ${JSON.stringify(measured)}`);
      ok(measured.right >= 0 && measured.left >= 0, `${width}: ${JSON.stringify(measured)}`);
      strictEqual(await view.find('[data-id=a1] .row-actions').evaluate((bar) => getComputedStyle(bar).opacity), '1');
    }
  });

  it('an answer has its footer in sight at its end; what comes before a tool call has it on hover, and nothing moves', async () => {
    const rows = [user('u1', 'Look'), assistant('a1', 'I look.'), tool('t1'), assistant('a2', 'Seen.')];
    const view = await open({ snapshot: snapshot({ rows, turn: running('streaming') }) });
    const look = (row: string) =>
      view
        .find(`[data-id=${row}] .row-actions`)
        .evaluate((bar) => ({ opacity: getComputedStyle(bar).opacity, top: bar.getBoundingClientRect().top }));
    const before = [await look('a1'), await look('a2')];
    deepStrictEqual(
      before.map(({ opacity }) => opacity),
      ['0', '0'],
    );
    await view.delta({ kind: 'turn', turn: null });
    const after = [await look('a1'), await look('a2')];
    deepStrictEqual(after, [before[0], { ...before[1], opacity: '1' }]);
    await view.find('[data-id=a1]').hover();
    deepStrictEqual(await look('a1'), { ...before[0], opacity: '1' });
  });

  it('marks answers that were cut short, and goes on with the last one or asks again', async () => {
    const cut = (['stopped', 'disconnected', 'crashed'] as const).map((interrupted) => assistant(interrupted, 'Half', { interrupted }));
    const view = await open({ snapshot: snapshot({ rows: cut }) });
    deepStrictEqual(
      (await view.find('.interrupted').allTextContents()).map((t) => t.replace(/\s+/g, ' ').trim()),
      ['Stopped', 'Connection lost', 'Interrupted by a restart'],
    );
    await view.button('Continue').click();
    await view.button('Ask for another answer').last().click();
    deepStrictEqual(await view.requests(), [{ method: 'retry' }, { method: 'regenerate', entry: 'crashed' }]);
  });

  it('makes links of paths that the host knows as files, in text and in code, and of nothing else', async () => {
    const text = [
      'See src/a.ts:12, `src/my file.ts` and `src/b.ts#L3-L9`, not `src/none.ts` or and/or; e.g. 3.14 (src\\a.ts).',
      '',
      '- in a list: src/a.ts.',
      '',
      '```ts',
      "import a from 'src/a.ts';",
      '```',
    ].join('\n');
    const view = await open({ snapshot: snapshot() });
    await view.page.evaluate(
      () => void (window.fake.answers['find_files'] = ['src/a.ts:12', 'src/a.ts', 'src/my%20file.ts', 'src/b.ts:3']),
    );
    await view.delta({ kind: 'row', row: assistant('a1', text) });
    const before = await view.find('[data-id=a1]').boundingBox();
    const links = view.find('tk-markdown a');
    await view.until('the links', async () => (await links.count()) === 5);
    deepStrictEqual(await links.allTextContents(), ['src/a.ts:12', 'src/my file.ts', 'src/b.ts#L3-L9', 'src\\a.ts', 'src/a.ts']);
    deepStrictEqual((await view.find('[data-id=a1]').boundingBox())?.height, before?.height, 'nothing moves');
    for (const [at, key] of ['Enter', 'click', 'click', 'click', 'click'].entries()) {
      if (key === 'click') await links.nth(at).click();
      else await links.nth(at).press(key);
    }
    deepStrictEqual(
      (await view.requests('open_link')).map((request) => 'href' in request && request.href),
      ['src/a.ts:12', 'src/my%20file.ts', 'src/b.ts:3', 'src/a.ts', 'src/a.ts'],
    );
    const asked = await view.page.evaluate(() => window.fake.requests.filter(({ method }) => method === 'find_files'));
    deepStrictEqual(asked, [
      { method: 'find_files', hrefs: ['src/a.ts:12', 'src/my%20file.ts', 'src/b.ts:3', 'src/none.ts', 'e.g', 'src/a.ts'] },
    ]);
    await view.shot('answer-links');
  });

  it('offers Apply for code and Run in Terminal for what a shell runs', async () => {
    const blocks = ['```ts title="src/a.ts"\nlet a;\n```', '- here:\n  ```python\n  # b.py\n  ```', '```bash\nnpm test\n```'];
    const view = await open({ snapshot: snapshot({ rows: [assistant('a1', blocks.join('\n\n'))] }) });
    deepStrictEqual(
      await view
        .find('.code-block')
        .evaluateAll((all) =>
          all.map((block) => [...block.querySelectorAll<HTMLElement>('.code-buttons button')].map((button) => button.title)),
        ),
      [
        ['Copy', 'Insert at cursor', 'Apply to file…', 'Open as file'],
        ['Copy', 'Insert at cursor', 'Apply to file…', 'Open as file'],
        ['Copy', 'Insert at cursor', 'Run in Terminal', 'Open as file'],
      ],
    );
    for (const at of [0, 1]) await view.button('Apply to file…').nth(at).press('Enter');
    await view.button('Run in Terminal').click();
    await view.requested('run_code');
    deepStrictEqual(await view.requests(), [
      { method: 'apply_code', text: 'let a;', info: 'ts title="src/a.ts"' },
      { method: 'apply_code', text: '# b.py', info: 'python' },
      { method: 'run_code', text: 'npm test', language: 'bash' },
    ]);
  });

  it('shows the first 40 lines of a long block, also while it is written, and all of them on request without moving it', async () => {
    const code = (lines: number) => '```ts\n' + Array.from({ length: lines }, (_, at) => `const line${at} = ${at};`).join('\n');
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Go')], turn: running('streaming') }) });
    await view.delta({ kind: 'live_text', id: 'l1', block: 'assistant', model: 'm', text: code(40) });
    strictEqual(await view.find('.code-more').count(), 0);
    const height = () => view.find('.code-block pre').evaluate((pre) => Math.round(pre.getBoundingClientRect().height / 4));
    await view.delta({ kind: 'live_text', id: 'l1', block: 'assistant', model: 'm', text: code(60).slice(code(40).length) });
    const more = view.find('.code-more');
    strictEqual(await more.textContent(), 'Show all 60 lines');
    const shortened = await height();
    await view.delta({ kind: 'row', row: assistant('l1', `${code(60)}\n\`\`\`\n\nDone.`) }, { kind: 'turn', turn: null });
    strictEqual(await height(), shortened, 'nothing jumps at its end');
    await more.press('Enter');
    deepStrictEqual([await more.textContent(), await more.getAttribute('aria-expanded')], ['Show less', 'true']);
    ok((await height()) > shortened * 1.3);
    await view.shot('answer-long-code');
    await more.press('Enter');
    strictEqual(await height(), shortened);
  });

  it('says on the button that something was copied', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi'), assistant('a1', 'Hello.')] }) });
    const copy = view.find('[data-id=a1] [data-action=copy]');
    // For 1.5 s only.
    await copy.evaluate((button) => {
      new MutationObserver(() => (button.dataset['was'] ??= button.className)).observe(button, { attributeFilter: ['class'] });
    });
    await copy.click();
    deepStrictEqual(await view.requested('copy'), { method: 'copy', text: 'Hello.' });
    match((await copy.getAttribute('data-was')) ?? '', /copied/);
    await view.until('it is announced', async () => (await view.text('tk-app > [role=status]')) === 'Copied');
    await view.until('the icon is back', async () => !/copied/.test((await copy.getAttribute('class')) ?? ''));
  });
});
