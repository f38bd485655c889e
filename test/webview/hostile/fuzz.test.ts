import { deepStrictEqual, ok } from 'node:assert';
import type { Browser, Page } from 'playwright-core';
import { blockHtml, pageEnd, pageHead } from '../../../src/node/transfer/export/transcriptHtml';
import { launchChromium } from '../../support/view/chromium';
import { fuzzing } from '../../support/fuzz';
import { assistant, snapshot } from '../support/fixtures';
import { useViews } from '../support/openView';
import { hostileFormulas, hostileTexts } from './hostileTexts';
import { mutate } from './mutate';
import { oddNodes, type Allowed } from './oddNodes';

/** Written by Markdown, and harmless wherever it stands. */
const written = 'a b blockquote br code del em h3 h4 h5 h6 hr li ol p pre strong table tbody td th thead tr ul';

const mathNodes =
  'math menclose merror mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover semantics';
const mathAttributes =
  'accent accentunder data-math data-source depth display displaystyle fence height largeop linethickness lspace mathbackground mathcolor mathvariant maxsize minsize movablelimits rspace scriptlevel separator stretchy symmetric width';

const inView: Allowed = {
  tags: [
    ...`${written} div i ins kbd mark s small span sub sup u`.split(' '),
    ...mathNodes.split(' ').map((name) => `http://www.w3.org/1998/Math/MathML ${name}`),
  ],
  attributes: `align aria-label class data-href data-language role start tabindex title ${mathAttributes}`.split(' '),
  // The bar of a code block is made by the view.
  except: '.code-bar, .code-bar *',
};

const inExport: Allowed = {
  tags: `${written} article h2 span time`.split(' '),
  attributes: 'align class datetime href rel start'.split(' '),
  except: '',
};

/** In the suite. */
const usualTexts = { view: 4_000, page: 2_000 };
/** Texts that are put into a page together. */
const batch = 40;

describe('hostile text, made by a fuzzer', () => {
  describe('in the view', () => {
    const open = useViews();

    it('becomes nothing but text and harmless marks, also while it is a stream', async function () {
      const { random, seed, goesOn, limitMs } = fuzzing(usualTexts.view);
      this.timeout(limitMs);
      const view = await open({ snapshot: snapshot({ rows: [assistant('a1', '$x$')] }) });
      await view.until('formulas are drawn', async () => (await view.find('math').count()) > 0);
      const { page } = view;
      const seen = await watch(page);
      let tried = 0;
      do {
        const texts = Array.from({ length: batch }, () => mutate([...hostileTexts, ...hostileFormulas], random));
        const odd = await page.evaluate(renderTexts, {
          texts,
          cuts: texts.map(({ length }) => Math.floor(random() * length)),
          allowed: inView,
        });
        deepStrictEqual(
          { odd, ...seen(), owned: await owned(page) },
          { odd: [], requested: [], navigated: [], dialogs: [], owned: null },
          `seed ${seed}`,
        );
        tried += texts.length;
      } while (goesOn(tried));
      console.log(`      ${tried} texts`);
      ok(tried >= batch);
    });
  });

  describe('in an exported page', () => {
    const address = 'http://export.test/';
    let browser: Browser;
    before(async () => void (browser = await launchChromium()));
    after(async () => browser?.close());

    it('becomes nothing but text and harmless marks', async function () {
      const { random, seed, goesOn, limitMs } = fuzzing(usualTexts.page);
      this.timeout(limitMs);
      const page = await browser.newPage();
      let html = '';
      await page.route('**/*', (route) =>
        route.request().url() === address ? route.fulfill({ contentType: 'text/html', body: html }) : route.abort(),
      );
      await page.addInitScript(() => {
        const violations: string[] = ((window as { violations?: string[] }).violations = []);
        document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
          violations.push(`${violatedDirective} ${blockedURI}`),
        );
      });
      let tried = 0;
      do {
        const texts = Array.from({ length: batch }, () => mutate(hostileTexts, random));
        html = await pageOf(texts);
        await page.goto(address);
        const seen = await watch(page);
        const odd = await page.evaluate(checkArticles, { texts, allowed: inExport });
        const violations = await page.evaluate(() => (window as { violations?: string[] }).violations);
        deepStrictEqual(
          { odd, violations, ...seen(), owned: await owned(page) },
          { odd: [], violations: [], requested: [], navigated: [], dialogs: [], owned: null },
          `seed ${seed}`,
        );
        tried += texts.length;
      } while (goesOn(tried));
      console.log(`      ${tried} texts`);
      await page.close();
    });
  });
});

async function pageOf(texts: readonly string[]): Promise<string> {
  const blocks = texts.map((text) =>
    blockHtml(
      { kind: 'assistant', heading: text, at: 0, parts: [{ format: 'markdown', text }], attachments: [], folded: false },
      async () => null,
    ),
  );
  return pageHead(texts[0]!, texts[1]!) + (await Promise.all(blocks)).join('') + pageEnd;
}

declare global {
  interface Window {
    oddNodes: typeof oddNodes;
  }
}

/** What the page asks for, where it goes and what it says from now on. */
async function watch(page: Page): Promise<() => { requested: string[]; navigated: string[]; dialogs: string[] }> {
  const [requested, navigated, dialogs]: string[][] = [[], [], []];
  // Not by `eval` within the page: its policy forbids that, as it should.
  await page.evaluate(`window.oddNodes = ${oddNodes.toString()}`);
  page.removeAllListeners('request').removeAllListeners('framenavigated').removeAllListeners('dialog');
  page.on('request', (request) => requested!.push(request.url()));
  page.on('framenavigated', (frame) => navigated!.push(frame.url()));
  page.on('dialog', (dialog) => {
    dialogs!.push(dialog.message());
    void dialog.dismiss();
  });
  return () => ({ requested: requested!, navigated: navigated!, dialogs: dialogs! });
}

function owned(page: Page): Promise<unknown> {
  return page.evaluate(() => (window as { owned?: unknown }).owned ?? null);
}

interface Texts {
  readonly texts: readonly string[];
  readonly allowed: Allowed;
}

/** Runs in the page: the view's own element, at first with a part of each text as of a stream, then with all of it. */
async function renderTexts({ texts, cuts, allowed }: Texts & { readonly cuts: readonly number[] }): Promise<string[]> {
  const place = document.createElement('div');
  document.body.append(place);
  const views = texts.map(() => document.createElement('tk-markdown') as HTMLElement & { source: { text: string; streaming: boolean } });
  place.append(...views);
  const found: string[] = [];
  const look = () =>
    views.forEach((view, i) => found.push(...window.oddNodes(view, allowed).map((one) => `${one} of ${JSON.stringify(texts[i])}`)));
  views.forEach((view, i) => (view.source = { text: texts[i]!.slice(0, cuts[i]), streaming: true }));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  look();
  views.forEach((view, i) => (view.source = { text: texts[i]!, streaming: false }));
  look();
  for (const link of place.querySelectorAll('a'))
    if (/^\s*(?:javascript|data|vbscript|command|vscode):/i.test(link.dataset['href'] ?? '')) found.push(link.outerHTML);
  for (const element of place.querySelectorAll<HTMLElement>('kbd, b, a')) element.click();
  place.remove();
  return found;
}

/** Runs in the page: each text has stayed within its article. */
function checkArticles({ texts, allowed }: Texts): string[] {
  const articles = [...document.querySelectorAll('main > article')];
  const found = articles.flatMap((article, i) => window.oddNodes(article, allowed).map((one) => `${one} of ${JSON.stringify(texts[i])}`));
  if (
    articles.length !== texts.length ||
    document.body.children.length !== 2 ||
    articles[0]?.parentElement?.children.length !== texts.length
  )
    found.push('the page is built in another way');
  for (const link of document.links) if (!/^(?:https?:|mailto:)/i.test(link.href)) found.push(link.outerHTML);
  for (const element of document.querySelectorAll('code, b, p')) (element as HTMLElement).click();
  return found;
}
