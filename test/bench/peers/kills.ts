import { hold, reply, type Script } from '../../support/messagesApi/messagesApiScript';
import { wantsSummary } from '../../support/messagesApi/messagesApiDefault';
import { prose, seeded } from '../corpus';
import { check, Driver, lossySummary, type BenchRow } from './driver';

const rounds = 8;

/** SIGKILL in mid-stream, again and again in one conversation. */
export async function kills(): Promise<BenchRow[]> {
  const random = seeded(8);
  // Scripts for the questions whose answers are cut: what is asked for in the background meanwhile must not take them.
  const cut = new Map<string, Script>();
  const driver = await Driver.start({
    respond: (request) => {
      if (wantsSummary(request)) return lossySummary(request, 0);
      const [question, script] = [...cut].find(([text]) => request.last.includes(text)) ?? [];
      if (question === undefined || script === undefined) return reply(`Fine. ${prose(700, random)}`);
      cut.delete(question);
      return script;
    },
  });
  try {
    for (let turn = 0; turn < 10; turn++) await driver.turn(prose(700, random));
    let shownCharacters = 0;
    let keptCharacters = 0;
    let messagesKept = 0;
    let prefixKept = 0;
    for (let round = 0; round < rounds; round++) {
      const text = prose(300, random);
      const question = `Question ${round}: ${prose(20, random)}`;
      const stop = hold();
      cut.set(question, reply(text, stop, ' never sent'));
      const before = driver.run.of('text_delta').length;
      driver.begin(question);
      await stop.reached;
      await driver.run.until(
        () =>
          shownSince(driver, before) === text ||
          (text.startsWith(shownSince(driver, before)) && shownSince(driver, before).length >= text.length * 0.9),
      );
      const shown = shownSince(driver, before);
      const previous = promptText(driver, -1);
      await driver.killAndResume();
      stop.release();
      await driver.turn('What were you saying?');
      const prompt = promptText(driver, -1);
      shownCharacters += shown.length;
      if (prompt.includes(JSON.stringify(shown).slice(1, -1))) keptCharacters += shown.length;
      if (prompt.includes(question)) messagesKept++;
      prefixKept += commonPrefix(previous, prompt) / previous.length;
    }
    const kept = keptCharacters / shownCharacters;
    const prefix = prefixKept / rounds;
    return [
      check('SIGKILL mid-stream: streamed text kept on resume', `${(kept * 100).toFixed(1)} %`, '≥ 95 %', kept >= 0.95),
      check('SIGKILL: user message kept', `${messagesKept} of ${rounds}`, 'all', messagesKept === rounds),
      check('first turn after resume: prompt prefix unchanged', `${(prefix * 100).toFixed(2)} %`, '≥ 99.5 %', prefix >= 0.995),
    ];
  } finally {
    await driver.dispose();
  }
}

function shownSince(driver: Driver, count: number): string {
  return driver.run
    .of('text_delta')
    .slice(count)
    .map((line) => line['text'])
    .join('');
}

/** System text, tools and messages, without the cache marks, which move. */
function promptText(driver: Driver, at: number): string {
  const { system, tools, messages } = driver.api.messages.at(at)!.body as Record<string, unknown>;
  return JSON.stringify([system, tools, messages], (key, value: unknown) => (key === 'cache_control' ? undefined : value));
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  // The closing brackets of the earlier prompt are where the later one goes on.
  return Math.min(a.length, length + 8);
}
