import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { assistant, liveText, running, snapshot, user } from '../support/fixtures';
import { useViews } from '../support/openView';

const fence = '```';
const long = [
  '# Plan',
  '',
  'First a paragraph with **bold**, `code` and a [link](https://example.org/a?b=1&c=2).',
  '',
  `${fence}ts`,
  'const answer: number = 42; // the answer',
  `console.log("${'x'.repeat(40)}");`,
  fence,
  '',
  '- one',
  '- two',
  '',
  '  still two',
  '- three:',
  '',
  `  ${fence}js`,
  '  nested();',
  `  ${fence}`,
  '',
  '| a | b |',
  '|---|--:|',
  '| 1 | 2 |',
  '',
  'The end.',
].join('\n');

describe('Markdown', function () {
  this.timeout(60_000);
  const open = useViews();

  it('streams block by block: a finished block keeps its nodes, and the result is what rendering at once gives', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Go')], turn: running('streaming') }) });
    const kept = await view.page.evaluate(async (text) => {
      const frame = () => new Promise(requestAnimationFrame);
      const seen: Element[] = [];
      let replaced = 0;
      for (let at = 0; at < text.length; at += 7) {
        window.fake.delta({ kind: 'live_text', id: 'l1', block: 'assistant', model: 'm', text: text.slice(at, at + 7) });
        await new Promise((resolve) => setTimeout(resolve));
        await frame();
        const blocks = [...document.querySelectorAll('tk-row:last-of-type tk-markdown > *')];
        // All but the last are finished: the same elements with the same children as before.
        replaced += seen.filter((element, index) => index < blocks.length - 1 && element !== blocks[index]).length;
        for (const block of blocks.slice(seen.length, -1)) seen.push(block);
      }
      return { seen: seen.length, replaced };
    }, long);
    deepStrictEqual(kept, { seen: 5, replaced: 0 });
    const code = await view.page.evaluateHandle(() => document.querySelector('tk-row:last-of-type .code-block'));
    await view.delta({ kind: 'row', row: assistant('l1', long) }, { kind: 'turn', turn: null });
    ok(await code.evaluate((element) => element?.isConnected), 'the finished row keeps the streamed nodes');
    await view.delta({ kind: 'row', row: assistant('a2', long) });
    const html = () => view.page.evaluate(() => [...document.querySelectorAll('tk-markdown')].map((m) => m.innerHTML));
    await view.until('both are highlighted', async () => (await view.find('code.hljs').count()) === 4);
    const [streamed, whole] = await html();
    strictEqual(streamed, whole);
  });

  it('ends as rendering at once gives it, wherever a stream was cut', async () => {
    const streams = [
      ['a fence within a fence', `${fence}markdown\n# T\n\n${fence}`, `bash\nnpm i\n${fence}\n`],
      ['code in a list, whole before the end is told', `3. Run:\n   ${fence}bash\n   npm test\n   ${fence}`],
      ['code in a quote', `> Run:\n> ${fence}\n> npm test\n> ${fence}`],
    ] as const;
    for (const [what, ...pieces] of streams) {
      const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Go')], turn: running('streaming') }) });
      for (const piece of pieces) await view.delta(liveText('l1', piece));
      await view.delta({ kind: 'row', row: assistant('l1', pieces.join('')) }, { kind: 'turn', turn: null });
      await view.delta({ kind: 'row', row: assistant('a2', pieces.join('')) });
      const html = () => view.page.evaluate(() => [...document.querySelectorAll('tk-markdown')].map((one) => one.innerHTML));
      await view.until(`${what} is shown twice`, async () => (await html()).length === 2);
      await view.until(`${what} ends as if at once`, async () => new Set(await html()).size === 1);
    }
  });

  it('colours code when its fence closes, with classes only', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Go')], turn: running('streaming') }) });
    await view.delta(liveText('l1', `${fence}ts\nconst answer = "42";`));
    strictEqual(await view.find('.code-block code span').count(), 0);
    await view.delta(liveText('l1', `\n${fence}\n`));
    await view.until('it is highlighted', async () => (await view.find('.hljs-keyword').count()) === 1);
    strictEqual(await view.find('.code-block code').textContent(), 'const answer = "42";');
    strictEqual(await view.find('tk-markdown [style]').count(), 0);
  });

  it('leaves code without a known language, and very long code, plain', async () => {
    const huge = `const x = 1;\n`.repeat(4000);
    const view = await open({
      snapshot: snapshot({
        rows: [assistant('a1', `${fence}klingon\nqapla\n${fence}\n\n${fence}ts\n${huge}${fence}\n\n${fence}ts\nlet y;\n${fence}`)],
      }),
    });
    await view.until('the short block is highlighted', async () => (await view.find('code.hljs').count()) === 1);
    deepStrictEqual(await view.find('.code-language').allTextContents(), ['klingon', 'ts', 'ts']);
  });

  it('completes what is half written while it streams', async () => {
    const view = await open({ snapshot: snapshot({ turn: running('streaming') }) });
    await view.delta(liveText('l1', 'This is **important'));
    strictEqual(await view.text('tk-markdown strong'), 'important');
    await view.delta(liveText('l1', '** and `co'));
    strictEqual(await view.text('tk-markdown code'), 'co');
    await view.delta(liveText('l1', 'de` and [a link](https://exam'));
    strictEqual(await view.text('tk-markdown'), 'This is important and code and a link');
  });

  it('hands code to the host: copy, insert at cursor, open as file', async () => {
    const view = await open({ snapshot: snapshot({ rows: [assistant('a1', `${fence}ts\nconst a = 1;\nconst b = 2;\n${fence}`)] }) });
    for (const name of ['Copy', 'Insert at cursor', 'Open as file']) await view.button(name).click();
    const text = 'const a = 1;\nconst b = 2;';
    await view.requested('open_code');
    deepStrictEqual(await view.requests(), [
      { method: 'copy', text },
      { method: 'insert_code', text },
      { method: 'open_code', text, language: 'ts' },
    ]);
    await view.until('it is announced', async () => (await view.text('tk-app > [role=status]')) === 'Copied');
  });

  it('opens links through the host, by mouse and by key, and goes nowhere itself', async () => {
    const view = await open({
      snapshot: snapshot({
        rows: [
          assistant(
            'a1',
            '[one](https://example.org/1) <https://example.org/2> [file](src/a.ts#L3) [line](package.json:12) [windows](C:/tides/a.ts:4) [command](command:x) [host](//example.org/x) [drive](x:1)',
          ),
        ],
      }),
    });
    const here = view.page.url();
    await view.page.getByRole('link', { name: 'one' }).click();
    await view.page.getByRole('link', { name: 'https://example.org/2' }).press('Enter');
    for (const name of ['file', 'line', 'windows']) await view.page.getByRole('link', { name }).click();
    await view.until('all were asked for', async () => (await view.requests('open_link')).length === 5);
    deepStrictEqual(await view.requests(), [
      { method: 'open_link', href: 'https://example.org/1' },
      { method: 'open_link', href: 'https://example.org/2' },
      { method: 'open_link', href: 'src/a.ts#L3' },
      { method: 'open_link', href: 'package.json:12' },
      { method: 'open_link', href: 'C:/tides/a.ts:4' },
    ]);
    strictEqual(await view.find('tk-markdown a').count(), 5, 'what is neither an address nor a file is text');
    strictEqual(view.page.url(), here);
  });

  it('shows an image as a link to it and fetches nothing', async () => {
    const view = await open({ snapshot: snapshot({ rows: [assistant('a1', '![a chart](https://example.org/chart.png)')] }) });
    strictEqual(await view.find('img').count(), 0);
    match(await view.text('tk-markdown a'), /a chart/);
  });

  it('lets each paragraph run in the direction of its own text', async () => {
    const hebrew = 'מתי הגאות?';
    const view = await open({
      snapshot: snapshot({ rows: [user('u1', `${hebrew}\nIn English?`), assistant('a1', `${hebrew}\n\nAt noon.\n\n- ${hebrew}`)] }),
    });
    const sides = await view.page.evaluate(() => {
      const found: string[] = [];
      const texts = document.createTreeWalker(document.querySelector('.rows')!, NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        const box = node.parentElement!.closest('.user-text, p, li')?.getBoundingClientRect();
        if (!box || !node.textContent?.trim()) continue;
        range.selectNodeContents(node);
        for (const line of range.getClientRects())
          if (line.width > 1) found.push(line.left - box.left < box.right - line.right ? 'left' : 'right');
      }
      return found;
    });
    deepStrictEqual(sides, ['right', 'left', 'right', 'left', 'right']);
    await view.find('textarea').fill(`${hebrew}\nIn English?`);
    await view.shot('directions');
  });

  it('renders text that no grammar expects', async () => {
    const odd = [
      '\u0000 NUL',
      '\ud800 lone',
      'a'.repeat(200_000),
      '漢字'.repeat(2000),
      'x\r\ny\rz',
      '👩‍👩‍👧‍👦',
      '```',
      '\\',
      '[[[[',
      '**'.repeat(2000),
      '> '.repeat(300),
    ];
    const view = await open({ snapshot: snapshot({ rows: odd.map((text, i) => assistant(`a${i}`, text)) }) });
    strictEqual(await view.find('tk-row').count(), odd.length);
    strictEqual(await view.find('.fault').count(), 0);
  });

  it('writes a text anew that does not go on from the one before', async () => {
    const view = await open({ snapshot: snapshot({ rows: [user('u1', 'Hi'), assistant('a1', 'First.\n\nSecond.')] }) });
    await view.delta({ kind: 'row_changed', row: assistant('a1', 'Third.\n\nFourth.') });
    strictEqual(await view.text('tk-markdown'), 'Third. Fourth.');
  });
});
