import type { BrowserContext, CDPSession, Frame, Page, Route } from 'playwright-core';
import { launchChromium } from '../support/view/chromium';
import { conversation, snapshot } from '../webview/support/fixtures';
import { load, View, type ViewOptions } from '../webview/support/openView';
import { viewFile } from '../webview/support/viewServer';

export interface ChatViewResult {
  readonly measure: string;
  /** What a user is promised of the view. */
  readonly atMost: number | null;
  readonly measured: number;
}

const messages = Number(process.env['VIEW_MESSAGES'] ?? 10_000);
/** As the host does it: the newest rows first, older ones page by page. */
const firstRows = 200;
const pageSize = 200;
const keys = 150;
/** Chats in editors beside the one that is typed in, in which answers stream. */
const others = 8;
const origin = 'http://view.test';
const chatsPath = '/chats';
/** As often as a quick model's text arrives. */
const betweenPiecesMs = 50;
/** A person who types fast. */
const betweenKeysMs = 40;
const rounds = 2;

/** The Chat view with a very long session against an empty one, in one browser: what a reader and a writer notice of the length. */
export async function run(): Promise<ChatViewResult[]> {
  const browser = await launchChromium({ args: ['--enable-precise-memory-info', '--site-per-process'] });
  try {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', baseURL: origin });
    context.setDefaultTimeout(60_000);
    await context.route(`${origin}/**`, serve);
    const rows = conversation(messages);
    const empty = await open(context, { snapshot: snapshot({ rows: [], context: null }) });
    const long = await open(context, {
      snapshot: snapshot({ rows: rows.slice(-firstRows), hasMore: true }),
      earlier: rows.slice(0, -firstRows),
      pageSize,
    });
    const firstPaint = await paintedAfterReady(long.view);
    const opening = await metric(long, 'TaskDuration');
    const most = await readToTheTop(long.view);
    const heap = { empty: await heapOf(empty), long: await heapOf(long) };
    const typed = { empty: [] as number[], long: [] as number[] };
    const work = { empty: 0, long: 0 };
    for (let round = 0; round < rounds; round++) {
      for (const [name, page] of [
        ['empty', empty],
        ['long', long],
      ] as const) {
        const before = await metric(page, 'TaskDuration');
        typed[name].push(...(await typing(page.view.page)));
        work[name] += (await metric(page, 'TaskDuration')) - before;
      }
    }
    const beside = await besideOthers(context);
    const [inEmpty, inLong] = [p95(typed.empty), p95(typed.long)];
    const perKey = (seconds: number) => round1((seconds * 1000) / (rounds * keys));
    return [
      { measure: 'rows in the document, at most', atMost: 300, measured: most },
      { measure: 'first paint of rows after ready, ms', atMost: 500, measured: round1(firstPaint) },
      { measure: 'main thread CPU until that is settled, the page itself included, ms', atMost: 500, measured: round1(opening * 1000) },
      {
        measure: `heap with all ${messages} messages read, more than empty, MB`,
        atMost: 60,
        measured: round1((heap.long - heap.empty) / 1e6),
      },
      { measure: 'key to paint in an empty session, p95 ms', atMost: null, measured: round1(inEmpty) },
      { measure: `key to paint with ${messages} messages, p95 ms`, atMost: null, measured: round1(inLong) },
      { measure: 'key to paint, longer than in an empty session, ms', atMost: 16, measured: round1(inLong - inEmpty) },
      { measure: 'main thread CPU for a key in an empty session, ms', atMost: null, measured: perKey(work.empty) },
      { measure: `main thread CPU for a key with ${messages} messages, ms`, atMost: null, measured: perKey(work.long) },
      { measure: 'key to paint in one chat, p95 ms', atMost: null, measured: round1(beside.alone) },
      {
        measure: `key to paint beside ${others} chats in which answers stream, longer, p95 ms`,
        atMost: 16,
        measured: round1(beside.longer),
      },
      { measure: 'heap of a chat in sight, with 200 messages, MB', atMost: 15, measured: round1(beside.heap / 1e6) },
    ];
  } finally {
    await browser.close();
  }
}

async function serve(route: Route): Promise<void> {
  await route.fulfill((await viewFile(new URL(route.request().url()))) ?? { status: 404 });
}

/**
 * One chat alone, and beside others that stream, each in a process of its own, as VS Code has its webviews. Milliseconds, and the bytes
 * of one of them. One that is not in sight has no document, and no process.
 */
async function besideOthers(context: BrowserContext): Promise<{ alone: number; longer: number; heap: number }> {
  const chats = (count: number) =>
    Array.from({ length: count }, (_, at) => `<iframe src="http://chat${at}.test/" width="380" height="700"></iframe>`);
  await context.route('http://chat*.test/**', serve);
  await context.route(`${origin}${chatsPath}*`, (route) => {
    const count = Number(new URL(route.request().url()).search.slice(1));
    return route.fulfill({ contentType: 'text/html', body: `<!DOCTYPE html><body>${chats(count).join('')}</body>` });
  });
  const shown = snapshot({ rows: conversation(firstRows) });
  const measure = async (count: number) => {
    const { view } = await open(context, { snapshot: shown, width: 1600, height: 1500 }, `${chatsPath}?${count}`);
    const [first, ...more] = view.page.frames().filter((frame) => frame.parentFrame() !== null);
    for (const frame of more) await frame.evaluate(stream, betweenPiecesMs);
    const cdp = await context.newCDPSession(first!);
    await cdp.send('Performance.enable');
    const heap = await heapOf({ view, cdp });
    const typed = await typing(view.page, first);
    await view.page.close();
    return { p95: p95(typed), heap };
  };
  const alone = await measure(1);
  const beside = await measure(1 + others);
  return { alone: alone.p95, longer: beside.p95 - alone.p95, heap: alone.heap };
}

/** Runs in the page: an answer that goes on, paragraph after paragraph. */
function stream(everyMs: number): void {
  let piece = 0;
  setInterval(() => {
    const text = ++piece % 40 === 0 ? '\n\n' : `The batch number ${piece} is copied and *checked*. `;
    window.fake.delta({ kind: 'live_text', id: 'live', block: 'assistant', model: 'claude-test', text });
  }, everyMs);
}

interface Measured {
  readonly view: View;
  readonly cdp: CDPSession;
}

async function open(context: BrowserContext, options: ViewOptions, path?: string): Promise<Measured> {
  const view = new View(await context.newPage());
  const cdp = await context.newCDPSession(view.page);
  // Time that the thread has run: what else the machine does is no part of it.
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  await view.page.addInitScript(() => {
    window.addEventListener('message', () => performance.mark('answered'), { once: true, capture: true });
    const seen = new MutationObserver(() => {
      if (!document.querySelector('tk-row')) return;
      seen.disconnect();
      requestAnimationFrame(() => setTimeout(() => performance.mark('rows painted')));
    });
    document.addEventListener('DOMContentLoaded', () => seen.observe(document.body, { childList: true, subtree: true }));
  });
  await load(view, options, path);
  return { view, cdp };
}

/** The host's first message is its answer to `ready`, and here it comes at once. */
function paintedAfterReady(view: View): Promise<number> {
  return view.page.evaluate(
    () => performance.getEntriesByName('rows painted')[0]!.startTime - performance.getEntriesByName('answered')[0]!.startTime,
  );
}

/** Scrolls until the first message is in sight; the most rows that the document had on the way. */
async function readToTheTop(view: View): Promise<number> {
  await view.page.bringToFront();
  return view.page.evaluate(async () => {
    let most = 0;
    const count = () => (most = Math.max(most, document.querySelectorAll('tk-row').length));
    new MutationObserver(count).observe(document.querySelector('.rows')!, { childList: true });
    const scroller = document.querySelector('.scroller')!;
    for (let still = 0; still < 100; ) {
      scroller.scrollTop = 0;
      await new Promise(requestAnimationFrame);
      const first = document.querySelector('tk-row');
      still = first?.getAttribute('data-id') === 'r0' ? 100 : still + (most > 0 && first === null ? 1 : 0);
    }
    scroller.scrollTop = scroller.scrollHeight;
    for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame);
    count();
    return most;
  });
}

/** Milliseconds from each key to the frame that shows it. */
async function typing(page: Page, into: Page | Frame = page): Promise<number[]> {
  await page.bringToFront();
  const box = into.locator('tk-composer textarea');
  await box.fill('');
  await into.evaluate(() => {
    const times: number[] = [];
    Object.assign(window, { keyTimes: times });
    document
      .querySelector('tk-composer textarea')!
      .addEventListener(
        'keydown',
        ({ timeStamp }) => requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - timeStamp))),
        { capture: true },
      );
  });
  await box.focus();
  await page.keyboard.type('The migration copies batch after batch and checks the counts. '.repeat(4).slice(0, keys), {
    delay: betweenKeysMs,
  });
  await into.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  return into.evaluate(() => (window as unknown as { keyTimes: number[] }).keyTimes);
}

/** Bytes that are in use after a collection. */
async function heapOf(page: Measured): Promise<number> {
  await page.cdp.send('HeapProfiler.collectGarbage');
  return metric(page, 'JSHeapUsedSize');
}

/** In seconds, or bytes. */
async function metric({ cdp }: Measured, wanted: 'JSHeapUsedSize' | 'TaskDuration'): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === wanted)!.value;
}

function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1]!;
}

function round1(value: number): number {
  return Number(value.toFixed(1));
}
