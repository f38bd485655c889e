import { liveAWeek, type WeekSample } from '../support/week/week';

export const onlyNamed = true;

export interface WeekBenchRow {
  readonly what: string;
  /** Of what the process holds after the last hour to what it held after a third of them. */
  readonly 'heap, end : a third': string;
  readonly 'handles and files, a third → end': string;
  readonly 'messages taken, answered': string;
  readonly 'entries kept': number;
  readonly 'lines of other programs': number;
  readonly 'faults of provider, of engine': string;
  readonly 'restarts, jumps of the clock': string;
  readonly note?: string;
}

const scenes = [
  { what: '72 hours: two windows, three programs, another device', tabs: 1, sessions: 0 },
  { what: 'the same with 40 sessions in eight tabs', tabs: 8, sessions: 40 },
] as const;

/** `--quick` for a look; WEEK_SEED chooses another week. Throws when anything is lost. */
export async function run(): Promise<WeekBenchRow[]> {
  const actionsPerHour = process.argv.includes('--quick') ? 1 : 10;
  const seed = Number(process.env['WEEK_SEED'] ?? 1);
  const rows: WeekBenchRow[] = [];
  for (const { what, ...scene } of scenes) {
    const report = await liveAWeek({ seed, hours: 72, actionsPerHour, ...scene });
    const { samples } = report;
    const third = samples[Math.floor(samples.length / 3)]!;
    const end = samples.at(-1)!;
    const held = ({ handles, files }: WeekSample) => `${handles}, ${files}`;
    rows.push({
      what,
      'heap, end : a third': (end.heapMb / third.heapMb).toFixed(2),
      'handles and files, a third → end': `${held(third)} → ${held(end)}`,
      'messages taken, answered': `${report.sent}, ${report.answered}`,
      'entries kept': report.entries,
      'lines of other programs': report.imported,
      'faults of provider, of engine': `${report.providerFaults}, ${report.engineFaults}`,
      'restarts, jumps of the clock': `${report.restarts}, ${report.jumps}`,
      note: `${what}: heap in MB by hours: ${samples.map(({ hour, heapMb }) => `${hour}: ${heapMb}`).join(', ')}.${report.refusals.length > 0 ? ` Messages that were not taken, and stayed in the composer: ${report.refusals.join('; ')}` : ''}`,
    });
  }
  return rows;
}
