import { openChat } from '../chat/chatSession';
import { prepareHistory } from '../store/writeHistory';
import { writeTalk } from '../store/writeTalk';
import { SessionsPage } from '../view/sessionsPage';
import { pictureModel, plainWindow, take, widenSideBar } from './picture';

const places = ['the north quay', 'the lock', 'the outer berth', 'the slip', 'the fuel pier'];

/** About 3,000 tokens of something that could have been said. */
function rules(part: number): string {
  const rule = (i: number) =>
    `${i + 1}. At ${places[(i + part) % places.length]} a boat of ${6 + ((i * 7 + part) % 19)} m waits until ${(i * 5 + part) % 24}:00 when the tide is below ${(1 + ((i * 13) % 31) / 10).toFixed(1)} m.`;
  return `Here are the rules of part ${part}:\n\n${Array.from({ length: 95 }, (_, i) => rule(i)).join('\n')}`;
}

/** A conversation whose prompt the provider has dropped since: what the next message sends again, and what can be done. */
export async function takeCachePicture(): Promise<void> {
  const history = await prepareHistory(async (store) => {
    await writeTalk(store, 'The harbour rules', 120 * 60_000, { model: pictureModel, text: rules });
  });
  const session = await openChat({
    ...plainWindow,
    ...history.options,
    settings: { ...plainWindow.settings, 'threadkeeper.anthropic.cacheTime': '5m' },
  });
  try {
    session.api.setModel(pictureModel, { window: 100_000, maxOutput: 2_000 });
    await session.chat.frame();
    await widenSideBar(session, 200);
    const sessions = new SessionsPage(session.workbench);
    await sessions.open();
    await sessions.choose('The harbour rules');
    await session.chat.see('.cold-line', /Compact First/);
    await take(session, 'cache');
  } finally {
    await session.close();
    await history.remove();
  }
}
