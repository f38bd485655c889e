import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { BenchStore, message } from './store/benchStore';
import { openChat, type ChatSession } from '../support/chat/chatSession';
import { packExtension } from '../support/vscode/packedExtension';
import { builtTests } from '../support/paths';
import { prepareHistory } from '../support/store/writeHistory';
import { testUuid } from '../support/store/storeTemp';
import { SessionsPage } from '../support/view/sessionsPage';
import { ChatPage } from '../support/view/chatPage';
import { closeBrowsers } from '../support/view/chromium';
import { canRunServer } from '../support/vscode/vscodeInstall';

export interface OpeningRow {
  readonly what: string;
  readonly measured: number | string;
  readonly target: string;
}

const rounds = 7;
const windows = 5;
/** 51 MB of text. */
const [entries, characters] = [14_179, 3_600];
const talks = { long: 'The long talk', short: 'The short talk' } as const;
type Talk = keyof typeof talks;

/**
 * What somebody waits who goes to a session of thousands of messages that was never compacted, in the real VS Code: from pressing the mouse
 * on its row until its newest message is on screen, and in a new window from the first moment of the view's page. Beside it a short one.
 */
export async function run(): Promise<OpeningRow[]> {
  if (!canRunServer()) return [{ what: 'opening', measured: 'VS Code cannot be run here', target: '' }];
  process.env['THREADKEEPER_VSIX'] ??= await packExtension(join(builtTests, 'threadkeeper.vsix'));
  const history = await prepareHistory(async () => {});
  try {
    await write(dirname(history.storeFile));
    const session = await openChat({ ...history.options, window: 100_000 });
    try {
      return await measure(session);
    } finally {
      await session.close();
    }
  } finally {
    await history.remove();
    await closeBrowsers();
  }
}

async function measure({ workbench, chat }: ChatSession): Promise<OpeningRow[]> {
  const chosen: Record<Talk, number[]> = { long: [], short: [] };
  const begun: Record<Talk, number[]> = { long: [], short: [] };
  const sessions = new SessionsPage(workbench);
  await sessions.open();
  await workbench.page.evaluate(notePresses);
  const goTo = (talk: Talk) => choose(workbench.page, sessions, chat, talk);
  await goTo('long');
  for (let round = 0; round < rounds; round++) for (const talk of ['short', 'long'] as const) chosen[talk].push(await goTo(talk));
  for (let i = 0; i < windows; i++)
    for (const talk of ['short', 'long'] as const) {
      await goTo(talk);
      const tab = await workbench.openTab();
      const frame = await new ChatPage(tab).frame();
      const seen = await frame.evaluate(drawn, endOf(talks[talk]));
      begun[talk].push(seen - (await frame.evaluate(() => performance.timeOrigin)));
      await tab.close();
    }
  const name = `${entries.toLocaleString('en')} entries, ${Math.round((entries * characters) / 1e6)} MB, never compacted`;
  return [
    {
      what: `chosen in the Sessions view until its newest message is on screen: ${name}; ms, median`,
      measured: median(chosen.long),
      target: '≤ 500',
    },
    { what: 'the slowest', measured: Math.round(Math.max(...chosen.long)), target: '' },
    { what: 'the same of a session of 2 messages, median', measured: median(chosen.short), target: '' },
    {
      what: "a new window, from the first moment of the view's page: the long session, ms, median",
      measured: median(begun.long),
      target: '',
    },
    { what: 'the same with the short session, median', measured: median(begun.short), target: '' },
  ];
}

/** Milliseconds from the press on the row until the last message is drawn. */
async function choose(page: Page, sessions: SessionsPage, chat: ChatPage, talk: Talk): Promise<number> {
  const seen = (await chat.frame()).evaluate(drawn, endOf(talks[talk]));
  await sessions.row(talks[talk]).click();
  return (await seen) - (await page.evaluate(() => (globalThis as unknown as PageGlobals).pressedAt));
}

/** What of a page is used here. */
interface PageGlobals {
  readonly document: { querySelectorAll(selector: string): Iterable<{ readonly textContent: string | null }> };
  requestAnimationFrame(look: (time: number) => void): void;
  addEventListener(type: string, listener: () => void, capture: boolean): void;
  readonly pressedAt: number;
}

/** When a picture of the page has this text in the last row of the transcript. */
async function drawn(end: string): Promise<number> {
  const page = globalThis as unknown as PageGlobals;
  while (![...page.document.querySelectorAll('article')].at(-1)?.textContent?.includes(end))
    await new Promise<number>((resolve) => page.requestAnimationFrame(resolve));
  return Date.now();
}

function notePresses(): void {
  const page = globalThis as unknown as PageGlobals;
  page.addEventListener('pointerdown', () => Object.assign(page, { pressedAt: Date.now() }), true);
}

function endOf(title: string): string {
  return `Here ends ${title}.`;
}

async function write(folder: string): Promise<void> {
  const store = await BenchStore.open(folder);
  for (const [title, count] of [
    [talks.long, entries],
    [talks.short, 2],
  ] as const) {
    const { uuid } = store.core.createSession({
      uuid: testUuid(),
      key: `vscode:${title}`,
      channel: 'vscode',
      title,
      createdAt: Date.now(),
    });
    store.say(uuid, count - 1, characters, 200);
    const last = message(uuid, store.core.session(uuid)?.leaf ?? null, 10);
    store.core.append(uuid, { entries: [{ ...last, content: { type: 'message', role: 'assistant', text: endOf(title) } }] });
  }
  store.index();
  store.close();
}

function median(values: readonly number[]): number {
  return Math.round([...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN);
}
