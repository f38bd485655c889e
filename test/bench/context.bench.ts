import { presetNames } from '../../src/core/context/policy/resolvePolicy';
import { chat, codeWork } from './context/scripts';
import { simulate } from './context/simulate';
import type { SummaryFault, TurnFault } from './context/simulatedModel';

const window = 16_000;
const summaryMs = 40;
const turns = Number(process.env['CONTEXT_TURNS'] ?? 300);
const chaosTurns = Number(process.env['CONTEXT_CHAOS_TURNS'] ?? 2_000);

/** As long as a real session of coding: 484 requests and 375,000 tokens. */
const longWorkRequests = Number(process.env['CONTEXT_REQUESTS'] ?? 480);
const longWorkWindow = 100_000;
const longWorkFile = 1_000;

const summaryFaults: readonly (SummaryFault | null)[] = [
  'overloaded',
  'refusal',
  null,
  'empty',
  'cut',
  'bigger',
  null,
  'tool',
  'not_json',
  'injected',
  'slow',
  null,
];
const turnFaults: readonly TurnFault[] = ['overloaded', 'disconnect', 'overflow'];

/**
 * Every policy over planted facts in a 16,000-token window with a summariser that forgets, and one long run in which everything
 * that can fail does. Reachable: found by one recall. Cached: what stood in the request before, of all that was sent; new or cached:
 * all but what had to be sent again because something in front of it had changed.
 */
export async function run(): Promise<unknown[]> {
  const rows: unknown[] = [];
  const corpora = [chat(turns, 'en'), chat(turns, 'zh'), codeWork(Math.floor(turns / 2))];
  for (const corpus of corpora) {
    for (const policy of presetNames) {
      rows.push(row(policy, corpus, await simulate(policy, corpus, { window, summaryMs })));
    }
  }
  const corpus = chat(chaosTurns, 'en');
  const chaos = await simulate('balanced', corpus, {
    window: 8_000,
    summaryMs: 5,
    summaryFault: (n) => summaryFaults[n % summaryFaults.length] ?? null,
    turnFault: (n) => (n % 17 === 0 ? (turnFaults[(n / 17) % turnFaults.length] ?? null) : null),
  });
  rows.push(row('balanced, everything fails', corpus, chaos));
  const long = codeWork(longWorkRequests / 2, longWorkFile);
  rows.push(
    row(
      `balanced, ${longWorkRequests} requests, ${longWorkWindow / 1000}k window`,
      long,
      await simulate('balanced', long, { window: longWorkWindow, summaryMs }),
    ),
  );
  return rows;
}

type Outcome = Awaited<ReturnType<typeof simulate>>;

function row(policy: string, corpus: ReturnType<typeof chat>, outcome: Outcome): Record<string, string | number> {
  const { model, compactions } = outcome;
  return {
    policy,
    corpus: corpus.name,
    'turns right': `${outcome.turnsRight}/${corpus.turns.length}`,
    'in context': `${outcome.factsInContext}/${corpus.facts.length}`,
    reachable: `${outcome.factsReachable}/${corpus.facts.length}`,
    'newest told': `${outcome.newestTold}/${corpus.updated.length}`,
    rules: `${outcome.rulesInContext}/${corpus.rules.length}`,
    'sent (M)': Math.round(model.sent / 10_000) / 100,
    cached: Math.round((model.cached / model.sent) * 1000) / 1000,
    'new or cached': Math.round((1 - model.sentAgain / model.sent) * 1000) / 1000,
    'prefix breaks': model.prefixBreaks,
    compactions: compactions.length,
    rungs: [...new Set(compactions.map(({ content }) => content.rung))].join(' '),
    'held (s)': Math.round(outcome.heldMs / 100) / 10,
  };
}
