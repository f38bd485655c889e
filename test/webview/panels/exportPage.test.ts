import { deepStrictEqual, ok } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../support/view/chromium';
import { projectRoot } from '../../support/paths';
import { savePictureIfWanted } from '../../support/view/savePicture';
import { waitFor } from '../../support/waitFor';
import { hostileTexts } from '../hostile/hostileTexts';

/** A dot of one colour. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A session of pi with everything that a page shows. */
const messages = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Look at <img src="https://example.org/x.png"> and <script>document.title = "changed"</script>' },
      { type: 'image', mimeType: 'image/png', data: png },
    ],
  },
  {
    role: 'assistant',
    model: 'claude-test',
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'toolCall', id: 'c', name: 'read_file', arguments: { path: 'a.ts' } },
    ],
  },
  { role: 'toolResult', toolCallId: 'c', toolName: 'read_file', content: 'line\n'.repeat(30), isError: true },
  {
    role: 'assistant',
    model: 'claude-test',
    content: [
      {
        type: 'text',
        text: '# Done\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```ts\nconst x = 1;\n```\n\n> quoted\n\n![p](https://example.org/p.png) [b](https://example.org/?a=1&b=2)',
      },
    ],
  },
];

describe('the page that a session is exported as', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'threadkeeper-page-'));
  const file = join(folder, 'session.html');
  const cli = (...args: string[]) =>
    execFileSync(process.execPath, [join(projectRoot, 'dist', 'cli.js'), ...args, '--store', join(folder, 'store')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  let browser: Browser;

  before(async () => {
    const frame = (i: number) => ({ id: `r${i}`, parentId: i === 0 ? null : `r${i - 1}`, timestamp: `2026-09-01T10:00:0${i}Z` });
    const lines = [
      { type: 'session', version: 3, id: 'page', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' },
      ...messages.map((message, i) => ({ type: 'message', ...frame(i), message })),
      { type: 'compaction', ...frame(messages.length), summary: 'They talked of ports.', tokensBefore: 10 },
      { type: 'session_info', ...frame(messages.length + 1), name: 'Tides & <ports>' },
    ];
    const source = join(folder, 'page.jsonl');
    writeFileSync(source, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    cli('export', cli('import', source).trim(), '--format', 'html', '--out', file);
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes nowhere and runs nothing under its own policy, which lets its own style through', async () => {
    const source = join(folder, 'hostile.jsonl');
    const lines = hostileTexts.map((text, i) => ({
      type: 'message',
      id: `h${i}`,
      parentId: i === 0 ? null : `h${i - 1}`,
      timestamp: '2026-09-01T11:00:00Z',
      message: { role: i % 2 ? 'assistant' : 'user', content: [{ type: 'text', text }] },
    }));
    writeFileSync(
      source,
      [{ type: 'session', version: 3, id: 'hostile', timestamp: '2026-09-01T11:00:00Z', cwd: '/w' }, ...lines]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    const hostile = join(folder, 'hostile.html');
    cli('export', cli('import', source).trim(), '--format', 'html', '--out', hostile);
    const page = await browser.newPage();
    const [asked, visited, problems]: string[][] = [[], [], []];
    page.on('request', (request) => asked!.push(request.url()));
    page.on('framenavigated', (frame) => visited!.push(frame.url()));
    page.on('console', (message) => problems!.push(message.text()));
    page.on('pageerror', (error) => problems!.push(String(error)));
    await page.goto(pathToFileURL(hostile).href);
    await page.evaluate(() => document.querySelectorAll<HTMLElement>('main *:not(a)').forEach((one) => one.click()));
    const found = await page.evaluate(() => ({
      owned: (window as { owned?: number }).owned,
      articles: document.querySelectorAll('main > article').length,
      styled: getComputedStyle(document.body).maxWidth,
      inline: document.querySelectorAll('[style], main style, script, img, meta:not(head > meta), svg, iframe').length,
    }));
    deepStrictEqual(
      { asked, visited, problems, found },
      {
        asked: [pathToFileURL(hostile).href],
        visited: [pathToFileURL(hostile).href],
        problems: [],
        found: { owned: undefined, articles: hostileTexts.length, styled: '768px', inline: 0 },
      },
    );
    // The policy stands by itself, should something get through.
    const met: string[] = [];
    await page.exposeFunction('met', (directive: string) => void met.push(directive));
    await page.evaluate(() => {
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
        (window as unknown as { met: (directive: string) => void }).met(effectiveDirective),
      );
      document.body.innerHTML =
        '<img src="https://example.org/x.png" onerror="window.owned=1"><p style="color:red">x</p><style>p{color:red}</style><iframe src="https://example.org/"></iframe>';
      const script = document.createElement('script');
      script.textContent = 'window.owned = 2';
      document.body.append(script);
      void fetch('https://example.org/').catch(() => undefined);
    });
    const refused = ['connect-src', 'frame-src', 'img-src', 'script-src-attr', 'script-src-elem', 'style-src-attr', 'style-src-elem'];
    await waitFor('all to be refused', () => refused.every((directive) => met.includes(directive))).catch(() =>
      deepStrictEqual(met.sort(), refused),
    );
    deepStrictEqual(await page.evaluate(() => (window as { owned?: number }).owned), undefined);
    await page.close();
  });

  for (const [name, colorScheme, width] of [
    ['light', 'light', 1000],
    ['dark', 'dark', 1000],
    ['narrow', 'light', 320],
  ] as const) {
    it(`${name}: asks for nothing, runs nothing, shows its pictures and is accessible`, async () => {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.goto(pathToFileURL(file).href);
      await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
      deepStrictEqual(
        [asked.filter((url) => !url.startsWith('data:')), await page.title()],
        [[pathToFileURL(file).href], 'Tides & <ports>'],
      );
      ok(await page.evaluate(() => document.images.length === 1 && document.images[0]!.naturalWidth === 1));
      ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'nothing is cut off');
      await savePictureIfWanted(page, `export-page-${name}`);
      await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
      const { violations }: AxeResults = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
      deepStrictEqual(
        violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
        ),
        [],
      );
      await page.close();
    });
  }
});
