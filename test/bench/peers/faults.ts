import {
  after,
  delay,
  disconnect,
  errorEvent,
  halfEvent,
  overloaded,
  promptTooLong,
  rateLimited,
  reply,
  serverError,
  type Script,
} from '../../support/messagesApi/messagesApiScript';
import { wantsSummary } from '../../support/messagesApi/messagesApiDefault';
import { prose, seeded } from '../corpus';
import { check, Driver, lossySummary, type BenchRow } from './driver';

const partial = `The first part of the answer, ${prose(40, seeded(4))}`;

/** One fault in a small chat: the turn and the next one have to end well, and a broken answer's text has to be kept. */
const single: readonly { readonly name: string; readonly script: readonly Script[]; readonly keeps?: string }[] = [
  { name: '429 with retry-after', script: [rateLimited(1)] },
  { name: '529', script: [overloaded()] },
  { name: '500', script: [serverError()] },
  { name: 'slow first token', script: [after(delay(3_000), reply('Late.'))] },
  { name: 'four 529 in a row', script: [overloaded(), overloaded(), overloaded(), overloaded()] },
  { name: 'disconnect mid-stream', script: [reply(partial, delay(400), disconnect)], keeps: partial },
  { name: 'malformed event mid-stream', script: [reply(partial, delay(400), halfEvent)], keeps: partial },
  { name: 'error event mid-stream', script: [reply(partial, delay(400), errorEvent('overloaded_error', 'Overloaded'))], keeps: partial },
  { name: 'overflow 400 in a small chat', script: [promptTooLong(100_001, 100_000)] },
];

export async function faults(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const { name, script, keeps } of single) {
    const random = seeded(5);
    const driver = await Driver.start({
      respond: (request) => (wantsSummary(request) ? lossySummary(request, 0) : reply(`Fine. ${prose(400, random)}`)),
    });
    try {
      for (let turn = 0; turn < 4; turn++) await driver.turn(prose(400, random));
      driver.api.enqueue(...script);
      const hit = await driver.turn('and now?');
      const next = await driver.turn('go on');
      const shown = driver.run
        .of('text_delta')
        .map((line) => line['text'])
        .join('');
      const kept = keeps === undefined || shown.includes(keeps.slice(0, 60));
      const retried = driver.run.of('retry').length;
      rows.push(
        check(
          `fault: ${name}`,
          `${hit['ok'] === true ? 'survives' : 'fails'}, next turn ${next['ok'] === true ? 'right' : 'wrong'}, ${retried} visible retries${keeps ? `, text ${kept ? 'kept' : 'lost'}` : ''}`,
          'survives',
          hit['ok'] === true && next['ok'] === true && kept,
        ),
      );
    } finally {
      await driver.dispose();
    }
  }
  return rows;
}

/** Every summary fails: the conversation has to go on, and a turn may wait two seconds at most. */
export async function deadSummariser(): Promise<BenchRow[]> {
  const turns = 60;
  const random = seeded(6);
  const driver = await Driver.start({
    window: 30_000,
    respond: (request) => (wantsSummary(request) ? overloaded() : reply(prose(500, random))),
  });
  try {
    let right = 0;
    for (let turn = 0; turn < turns; turn++) if ((await driver.turn(prose(500, random)))['ok'] === true) right++;
    const compactions = driver.compactions();
    const held = Math.max(0, ...compactions.map((line) => Number(line['heldMs'])));
    const noted = compactions.filter((line) => line['rung'] !== 'model' && typeof line['note'] === 'string').length;
    return [
      check(
        'summariser always failing: turns right',
        `${right} of ${turns}, ${compactions.length} compactions`,
        'all',
        right === turns && compactions.length > 0,
      ),
      check('summariser always failing: longest wait', `${(held / 1000).toFixed(2)} s`, '≤ 2 s', held <= 2_000),
      check('summariser always failing: said so', `${noted} of ${compactions.length}`, 'each', noted === compactions.length),
    ];
  } finally {
    await driver.dispose();
  }
}
