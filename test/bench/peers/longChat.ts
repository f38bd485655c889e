import { wantsSummary } from '../../support/messagesApi/messagesApiDefault';
import { reply, toolCall } from '../../support/messagesApi/messagesApiScript';
import { plantedFacts, prose, seeded } from '../corpus';
import { callRows, callSums } from './calls';
import { costOf, noCalls, type CallSum } from './callSum';
import { asksIn, check, Driver, isTurn, lossySummary, thousands, type BenchRow } from './driver';

const turns = Number(process.env['PEERS_TURNS'] ?? 300);
const factCount = turns / 5;
/** So that 300 turns carry about 547,000 tokens. */
const tokensPerSide = 900;
const summarySeconds = 1;

/** 300 turns of plain conversation with 60 planted facts and a summariser that forgets most of them. */
export async function longChat(): Promise<BenchRow[]> {
  const random = seeded(1);
  const facts = plantedFacts(factCount);
  const driver = await Driver.start({
    respond: (request) => {
      if (wantsSummary(request)) return lossySummary(request, summarySeconds);
      const asks = asksIn(request, /^look up: (.+)$/gm);
      if (asks.length > 0) return reply(...asks.map((query) => toolCall('recall', { query, maxTokens: 600 })));
      return reply(`Turn understood. ${prose(tokensPerSide, random)}`);
    },
  });
  try {
    let right = 0;
    let said = 0;
    for (let turn = 0; turn < turns; turn++) {
      const fact = turn % (turns / factCount) === 0 ? facts[turn / (turns / factCount)] : undefined;
      const text = `${prose(tokensPerSide, random)}${fact ? ` ${fact.sentence}` : ''}`;
      const { ok } = await driver.turn(text);
      if (ok === true) right++;
      if (fact) said++;
    }
    const sent = driver.sent();
    const kinds = driver.byKind();
    const prompt = driver.lastPrompt();
    const inContext = facts.filter(({ answer }) => prompt.includes(answer)).length;
    const compactions = driver.compactions();
    const held = Math.max(0, ...compactions.map((line) => Number(line['heldMs'])));
    const fires = compactions.map((line) => Number(line['tokensBefore']));
    const leaves = Math.max(0, ...compactions.map((line) => Number(line['tokensAfter'])));
    const parts = largestLeave(driver);
    const first = driver.run.of('context').find((line) => Number(line['used']) > 0)!;
    const overhead = (first['segments'] as { kind: string; tokens: number }[])
      .filter(({ kind }) => kind === 'system' || kind === 'tools')
      .reduce((sum, { tokens }) => sum + tokens, 0);
    const unasked = driver.api.messages.filter((request) => isTurn(request.body)).length - turns;
    const peak = await driver.peakMemory();
    const calls = callRows('long chat', driver.api.messages);
    const whatExcludesWhat = exclusions(callSums(driver.api.messages), compactions.length);
    const found = await recallAll(driver, facts);
    return [
      check('long chat: turns right', `${right} of ${turns}, ${said} facts said`, '300', right === turns),
      check(
        'long chat: prompt tokens sent',
        `${thousands(sent.prompt)}, of which turns ${thousands(kinds['turn']?.tokens ?? 0)}`,
        '≤ 15M',
        sent.prompt <= 15_000_000,
        whatExcludesWhat,
      ),
      check('long chat: input cost units', thousands(sent.cost), '≤ 2.0M', sent.cost <= 2_000_000),
      check('long chat: cache-read share', sent.cachedShare.toFixed(3), '≥ .97', sent.cachedShare >= 0.97),
      check('fixed overhead (system + tools)', thousands(overhead), '≤ 3k', overhead <= 3_000),
      check(
        'compaction fires at / leaves',
        `${thousands(Math.min(...fires))}–${thousands(Math.max(...fires))} / ${thousands(leaves)} (${compactions.length} times; ${parts})`,
        'as the policy says / ≤ 16k',
        leaves <= 16_000,
      ),
      check('user turn held by a compaction', `${(held / 1000).toFixed(2)} s at most`, '0 s', held < 100),
      check('facts in the last request', `${inContext} of ${factCount}`, '≥ 30', inContext >= 30),
      check('facts reachable by one recall', `${found} of ${factCount}`, '60', found === factCount),
      check('turns nobody asked for', String(unasked), '0', unasked === 0),
      check('peak memory', peak === null ? 'unknown' : `${Math.round(peak)} MB`, '≤ 220 MB', peak === null || peak <= 220),
      ...calls,
    ];
  } finally {
    await driver.dispose();
  }
}

/** The arithmetic of the three rows about tokens and price. */
function exclusions(sums: ReadonlyMap<string, CallSum>, compactions: number): string {
  const [turn, behind, summary] = ['turn', 'turn behind a changed prefix', 'summary, in the prompt'].map(
    (kind) => sums.get(kind) ?? noCalls,
  ) as [CallSum, CallSum, CallSum];
  const sizeOf = ({ fresh, written, read }: CallSum) => fresh + written + read;
  const ofTurns = sizeOf(turn) + sizeOf(behind);
  const left = (15_000_000 - ofTurns - sizeOf(summary)) / (compactions + 1);
  return [
    `**Why the three rows on tokens and price of the long chat are not met together.** ${thousands(turn.written)} tokens are new text, which no cache holds when it is first sent.`,
    `That is ${((turn.written / 15_000_000) * 100).toFixed(1)} % of 15M: a cache-read share of .97 needs more than ${thousands(turn.written / 0.03)} to be sent, and excludes ≤ 15M.`,
    `A compaction at 85 % of the window makes the turns alone cost ${thousands(costOf(turn) + costOf(behind))} (what is new written once at 1.25, and read by every later turn at 0.1): ≤ 2.0M excludes that trigger, whatever summaries and checkpoints cost.`,
    `The turns send ${thousands(ofTurns)} and the summaries ${thousands(sizeOf(summary))}; below 15M that leaves ${thousands(left)} a cycle for checkpoints, and one that is written in the cached prompt at half of the window takes 50k. Written from a transcript of what is new they send a third of that, at two to four times the price.`,
  ].join(' ');
}

/** What the largest of the prompts was made of that a compaction has left. */
function largestLeave({ run: { lines } }: Driver): string {
  const leaves = lines.flatMap((line, index) =>
    line.type === 'compaction' && line['phase'] === 'end' && line['ok'] === true ? [index] : [],
  );
  const largest = leaves.reduce((a, b) => (Number(lines[b]!['tokensAfter']) > Number(lines[a]!['tokensAfter']) ? b : a), leaves[0] ?? 0);
  const context = lines.slice(largest).find(({ type }) => type === 'context');
  const segments = (context?.['segments'] ?? []) as { kind: string; tokens: number }[];
  return segments
    .filter(({ kind, tokens }) => kind !== 'reserved' && tokens > 0)
    .map(({ kind, tokens }) => `${kind} ${thousands(tokens)}`)
    .join(', ');
}

/** One call per fact, ten in a turn; counted when the result of the call carries the answer. */
async function recallAll(driver: Driver, facts: ReturnType<typeof plantedFacts>): Promise<number> {
  let found = 0;
  for (let from = 0; from < facts.length; from += 10) {
    const part = facts.slice(from, from + 10);
    const before = driver.run.of('tool_result').length;
    await driver.turn(part.map(({ question }) => `look up: ${question}`).join('\n'));
    const results = driver.run.of('tool_result').slice(before);
    found += part.filter(({ answer }, index) => String(results[index]?.['text']).includes(answer)).length;
  }
  return found;
}
