import { callRows } from './peers/calls';
import { check, thousands, type BenchRow } from './peers/driver';
import { factsFirst } from './pace/factKeeper';
import { chat, files, play, type Outcome, type Pace } from './pace/scenarios';

/** What four other products came to, with the same rules (pi 0.87, opencode 1.18, Claude Code 2.1.330, Cline core 0.0.86). */
const peers = {
  chatSteady: 'Claude Code 2.25M, Cline 2.65M, pi 2.91M, opencode 3.01M',
  chatPerson: 'Cline 5.31M, Claude Code 5.53M, pi 6.64M, opencode 6.87M',
  filesSteady: 'Cline 2.26M, pi 3.51M, opencode 3.69M, Claude Code 4.36M',
  filesUnseen: 'Cline 21, pi 10, opencode 10, Claude Code 0',
};

interface PaceRow extends BenchRow {
  readonly peers?: string;
}

type Script = 'chat' | 'files';

const runs: readonly (readonly [script: Script, pace: Pace])[] = [
  ['chat', 'steady'],
  ['chat', 'person'],
  ['files', 'steady'],
  ['files', 'person'],
];

/**
 * What conversations cost at the pace of a person and of somebody who does nothing else, with the provider's rules of caching and a
 * clock that leaps over the pauses. `PACE=chat:person,files:steady` runs some of them.
 */
export async function run(): Promise<PaceRow[]> {
  const chosen = process.env['PACE']?.split(',');
  const rows: PaceRow[] = [];
  for (const [script, pace] of runs) {
    if (chosen && !chosen.includes(`${script}:${pace}`)) continue;
    const started = performance.now();
    const outcome = await play(script === 'chat' ? chat() : files(), pace);
    rows.push(...rowsOf(script, pace, outcome), ...callRows(`${script}, ${words[pace]}`, outcome.requests));
    console.log(`${script}, ${words[pace]}: ${Math.round((performance.now() - started) / 1000)} s`);
  }
  if (!chosen || chosen.includes('facts')) rows.push(keptFacts(await play(chat(factsFirst), 'steady')));
  return rows;
}

const words: Readonly<Record<Pace, string>> = { steady: 'steady pace', person: "a person's pace" };

function rowsOf(script: Script, pace: Pace, outcome: Outcome): PaceRow[] {
  const at = `${script}, ${words[pace]}`;
  const isChat = script === 'chat';
  const most = { chatsteady: 2_100_000, chatperson: 2_650_000, filessteady: 3_000_000, filesperson: null }[`${script}${pace}` as const];
  const compared = { chatsteady: peers.chatSteady, chatperson: peers.chatPerson, filessteady: peers.filesSteady, filesperson: undefined };
  const of = compared[`${script}${pace}` as const];
  return [
    check(`${at}: turns right`, `${outcome.right} of ${outcome.turns}`, 'all', outcome.right === outcome.turns),
    {
      ...check(
        `${at}: input cost units`,
        thousands(outcome.cost),
        most === null ? '(no target)' : `≤ ${thousands(most)}`,
        most === null || outcome.cost <= most,
      ),
      ...(of ? { peers: of } : {}),
    },
    ...(pace === 'person' ? returns(at, outcome, isChat) : []),
    check(
      `${at}: facts in reach by one recall`,
      `${outcome.factsReached} of ${outcome.facts}`,
      'all',
      outcome.factsReached === outcome.facts,
    ),
    {
      ...check(`${at}: facts never shown to a summariser`, `${outcome.factsUnseen} of ${outcome.facts}`, '0', outcome.factsUnseen === 0),
      ...(isChat ? {} : { peers: peers.filesUnseen }),
    },
    ...(pace === 'steady'
      ? [
          check(
            `${at}: prefix breaks`,
            `${outcome.prefixBreaks} in ${outcome.compactions} compactions`,
            isChat ? '(no target)' : '≤ 12',
            isChat || outcome.prefixBreaks <= 12,
          ),
        ]
      : []),
    check(`${at}: turn held by a compaction`, `${(outcome.heldMs / 1000).toFixed(2)} s at most`, '≤ 0.1 s', outcome.heldMs <= 100),
    prices(at, outcome),
  ];
}

function returns(at: string, { cold }: Outcome, isChat: boolean): BenchRow[] {
  const written = Math.max(0, ...cold.map((one) => one.written));
  const units = cold.reduce((sum, { cost }) => sum + cost, 0);
  const asked = cold.reduce((sum, { summaries }) => sum + summaries, 0);
  return [
    check(
      `${at}: tokens written on a cold return`,
      `${thousands(written)} at most (${cold.length} returns, ${thousands(units)} cost units)`,
      isChat ? '≤ 16k' : '(no target)',
      !isChat || written <= 16_000,
    ),
    check(`${at}: summary requests at the moment of return`, String(asked), '0', asked === 0),
  ];
}

function keptFacts({ factsInLast, facts }: Outcome): PaceRow {
  const row = 'chat, steady pace: facts in the last request, with a summariser that keeps them first';
  return { ...check(row, `${factsInLast} of ${facts}`, 'all', factsInLast === facts), peers: 'all 60' };
}

/** The first two turns are left out: nothing has told yet how this provider counts. */
function prices(at: string, { priceErrors: errors }: Outcome): BenchRow {
  const percent = (share: number | undefined) => `${((share ?? 0) * 100).toFixed(1)} %`;
  const [median, worst] = [errors[Math.floor(errors.length / 2)] ?? 0, errors.at(-1) ?? 0];
  return check(
    `${at}: price of the next message against usage`,
    `off by ${percent(worst)} at most, median ${percent(median)} of ${errors.length}`,
    '≤ 5 %, median ≤ 1 %',
    worst <= 0.05 && median <= 0.01,
  );
}
