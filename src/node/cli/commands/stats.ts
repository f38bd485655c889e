import { resolve } from 'node:path';
import { analyse } from '../../../core/analytics/analyse';
import { lastDays, type AnalyticsReport } from '../../../core/analytics/report';
import { counted } from '../../../core/maintenance/reports';
import { dayStart } from '../../../core/recall/parseSearchText';
import { flagHelp, parseFlags, positiveInteger, UsageError, type Flags, type FlagSpec } from '../flags';
import { plain } from '../terminal';
import { storeFlag, withReader } from '../storeFlags';

const defaultDays = 7;

const specs: readonly FlagSpec[] = [
  storeFlag,
  { name: 'days', value: 'N', help: `the last N days, today included; default ${defaultDays}` },
  { name: 'from', value: 'DAY', help: 'from this day on (YYYY-MM-DD, local time), instead of --days' },
  { name: 'to', value: 'DAY', help: 'up to the end of this day' },
  { name: 'workspace', value: 'DIR', help: 'only sessions of this folder' },
  { name: 'model', value: 'PROVIDER/MODEL', help: 'only requests to this model, and the sessions that it answered in' },
  { name: 'tag', value: 'TAG', help: 'only sessions with this tag' },
  { name: 'top', value: 'N', help: 'sessions that are listed; default 10' },
  { name: 'json', help: 'one JSON object: totals, days, sessions, models, compactions, returns, nudges, choices' },
];

export const statsHelp = `threadkeeper stats: sessions, tokens and cost by the day, the largest sessions, and what compaction saved.

${flagHelp(specs)}

The largest sessions are those in which the most was said; tokens and cost elsewhere are what requests were billed. The store may be in use:
a copy is read. Exit code 2 for a command line that cannot be run, 1 when the store cannot be read.`;

/** Resolves with the exit code. */
export async function stats(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, specs);
  const range = rangeOf(flags, Date.now());
  const top = positiveInteger(flags, 'top');
  const { model, tag } = flags;
  const rows = await withReader(flags['store']!, 'stats', (store) => store.analyticsRows(range));
  const workspace = folderOf(flags['workspace'], rows.sessions);
  const report = analyse(rows, range, {
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
    ...(tag === undefined ? {} : { tag }),
    ...(top === undefined ? {} : { top }),
  });
  process.stdout.write(`${flags['json'] === undefined ? forPeople(report) : JSON.stringify(report)}\n`);
  return 0;
}

/** A folder is named as it is kept (an address, in a virtual workspace), else as a path from here. */
function folderOf(given: string | undefined, sessions: readonly { readonly cwd: string | null }[]): string | undefined {
  return given === undefined || sessions.some(({ cwd }) => cwd === given) ? given : resolve(given);
}

function rangeOf(flags: Flags, now: number): { readonly from: number; readonly to: number } {
  const { from, to } = flags;
  if (from !== undefined && flags['days'] !== undefined) throw new UsageError('--from and --days exclude each other.');
  const lastTo = to === undefined ? now : dayOf('to', to);
  const range = lastDays(positiveInteger(flags, 'days') ?? defaultDays, lastTo);
  const first = from === undefined ? range.from : dayOf('from', from);
  if (first >= range.to) throw new UsageError('--from is a day after --to.');
  return { from: first, to: range.to };
}

function dayOf(name: string, value: string): number {
  const start = dayStart(value);
  if (start === null) throw new UsageError(`--${name} is a day like 2026-11-20.`);
  return start;
}

function forPeople({ from, to, totals, days, sessions, moreSessions, models, compactions, returns, nudges }: AnalyticsReport): string {
  const n = (value: number) => value.toLocaleString('en');
  const usd = ({ usd: value, requestsWithoutCost: unpriced, requestsEstimated: guessed }: AnalyticsReport['totals']['cost']) =>
    `$${value.toFixed(2)}${guessed > 0 ? ` (tokens of ${counted(guessed, 'request', 'requests')} estimated)` : ''}${unpriced > 0 ? ` and ${counted(unpriced, 'request', 'requests')} without a known price` : ''}`;
  return [
    `${from} to ${to}: ${counted(totals.sessionsActive, 'session', 'sessions')} in use, ${n(totals.sessionsCreated)} begun, ${counted(totals.messages, 'message', 'messages')}, ${counted(totals.tokens, 'token', 'tokens')} in ${counted(totals.requests, 'request', 'requests')}, ${usd(totals.cost)}`,
    '',
    'day         begun  in use  messages        tokens      cost',
    ...days.map(
      (day) =>
        `${day.day}  ${n(day.sessionsCreated).padStart(5)}  ${n(day.sessionsActive).padStart(6)}  ${n(day.messages).padStart(8)}  ${n(day.tokens).padStart(12)}  ${`$${day.cost.usd.toFixed(2)}`.padStart(8)}`,
    ),
    ...(sessions.length === 0
      ? []
      : [
          '',
          'largest sessions',
          ...sessions.map(
            ({ id, title, contentTokens, tokens, messages }) =>
              `  ${id}  ${n(contentTokens).padStart(10)} tokens said  ${n(tokens).padStart(12)} billed  ${n(messages).padStart(6)} messages  ${plain(title) || 'Untitled'}`,
          ),
        ]),
    ...(moreSessions > 0 ? [`  and ${n(moreSessions)} more`] : []),
    ...(models.length === 0
      ? []
      : [
          '',
          'models',
          ...models.map(
            ({ provider, model, requests, tokens, cost }) =>
              `  ${provider}/${model}  ${counted(requests, 'request', 'requests')}  ${counted(tokens, 'token', 'tokens')}  ${usd(cost)}`,
          ),
        ]),
    '',
    `compactions: ${n(compactions.count)}${compactions.undone > 0 ? `, ${n(compactions.undone)} undone` : ''}; ${n(compactions.savedTokens)} tokens saved, ${(compactions.durationMs / 1000).toFixed(1)} s to make, of which turns waited ${(compactions.heldMs / 1000).toFixed(1)} s`,
    `after pauses: ${counted(returns.count, 'message', 'messages')} with the prompt cache expired, ${n(returns.again)} tokens written again, ${usd(returns.cost)}; ${n(returns.folded)} compacted first, ${n(returns.saved)} tokens not written, ${usd(returns.savedCost)}`,
    `memory reminders: ${n(nudges.delivered)}, notes were written after ${n(nudges.acted)}`,
  ].join('\n');
}
