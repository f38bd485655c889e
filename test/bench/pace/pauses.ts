import { seeded } from '../corpus';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** Working days of the measurement that the peers' figures come from. */
const turnsPerDay = 20;
const breaksOfHours = 17;
const breaksOfMinutes = 33;
/** Half of the short pauses are shorter. */
const medianSeconds = 45;

/**
 * The pause in front of each message, in milliseconds, over three weeks of working days: a night or a weekend after every twenty turns,
 * 17 breaks of 1 to 4 hours, 33 of 5 to 60 minutes, and else as long as it takes to read and write.
 */
export function personsPauses(turns: number, seed = 19): readonly number[] {
  const random = seeded(seed);
  const pauses = Array.from({ length: turns }, (_, turn) => (turn === 0 ? 0 : short(random)));
  const within = pauses.flatMap((_, turn) => (turn % turnsPerDay === 0 ? [] : [turn]));
  const take = () => within.splice(Math.floor(random() * within.length), 1)[0]!;
  const scaled = (count: number) => Math.round((count * turns) / 300);
  for (let n = 0; n < scaled(breaksOfHours); n++) pauses[take()] = (1 + 3 * random()) * hour;
  for (let n = 0; n < scaled(breaksOfMinutes); n++) pauses[take()] = (5 + 55 * random()) * minute + second;
  for (let turn = turnsPerDay; turn < turns; turn += turnsPerDay)
    pauses[turn] = ((turn / turnsPerDay) % 5 === 0 ? 64 : 15 + 2 * random()) * hour;
  return pauses;
}

/** Somebody who does nothing else. */
export function steadyPauses(turns: number): readonly number[] {
  return Array.from({ length: turns }, (_, turn) => (turn === 0 ? 0 : 20 * second));
}

/** Log-normal, and short enough for any cache. */
function short(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.min(4.5 * minute, Math.max(5 * second, medianSeconds * second * Math.exp(0.8 * normal)));
}
