/** Numbers below 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const deep = (levels: number) => {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
};
const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e15,
  1e300,
  -1e300,
  '',
  ' ',
  '0',
  'a',
  'a\0b',
  '\ud800',
  '../../etc/passwd',
  'x'.repeat(5_000),
  '{"a":',
  '[[[[',
  [],
  [null],
  {},
  [[]],
  { type: {} },
  { toString: 1, valueOf: 2 },
  { length: -1 },
  deep(300),
  JSON.parse('{"__proto__":{"a":1},"constructor":1}'),
  '2026-13-45T99:99:99Z',
  'constructor',
  'tool_result',
  'session',
  'user',
  'assistant',
  'compaction',
];

type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

/** The value with one of the values within it exchanged, taken out, or put into a list. */
export function mutateValue(value: unknown, random: Random): unknown {
  const copy = structuredClone(value);
  const places: { readonly of: Record<string, unknown>; readonly name: string }[] = [];
  const walk = (one: unknown) => {
    if (typeof one !== 'object' || one === null) return;
    for (const [name, within] of Object.entries(one)) {
      places.push({ of: one as Record<string, unknown>, name });
      walk(within);
    }
  };
  walk(copy);
  if (places.length === 0) return pick(random, oddValues);
  const { of, name } = pick(random, places);
  const kind = random();
  if (kind < 0.15) delete of[name];
  else if (kind < 0.25) of[name] = [of[name], of[name]];
  // A word of another place: parents in circles, ids twice, types of other records.
  else if (kind < 0.5)
    of[name] =
      pick(
        random,
        places.map((place) => place.of[place.name]).filter((one) => typeof one !== 'object'),
      ) ?? null;
  else of[name] = pick(random, oddValues);
  return copy;
}

/** A file of lines of JSON, some of them changed. */
export function mutateLines(text: string, random: Random): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const words = [...text.matchAll(/"((?:u|a|r|m)?\w{1,12})"/g)].map(([, word]) => word!);
  for (let left = 1 + Math.floor(random() * 4); left > 0 && lines.length > 0; left--) {
    const at = Math.floor(random() * lines.length);
    const line = lines[at]!;
    const kind = random();
    if (kind < 0.45) lines[at] = mutated(line, random);
    else if (kind < 0.55)
      lines[at] = line.replace(
        /"(?:parentUuid|parentId)": ?(?:"[^"]*"|null)/,
        (whole) => `${whole.split(':')[0]!}: ${JSON.stringify(pick(random, words))}`,
      );
    else if (kind < 0.63) lines[at] = line.slice(0, Math.floor(random() * line.length));
    else if (kind < 0.7) lines.splice(at, 2, lines.slice(at, at + 2).join(''));
    else if (kind < 0.78) lines.splice(at, 0, pick(random, lines));
    else if (kind < 0.84) lines.splice(at, 1);
    else if (kind < 0.9) lines.reverse();
    else if (kind < 0.95) lines.splice(at, 0, `${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    else lines.splice(at, 0, JSON.stringify(pick(random, oddValues)));
  }
  return lines
    .map((line) => `${line}${pick(random, ['\n', '\n', '\n', '\r\n', '\n\n'])}`)
    .join('')
    .slice(0, random() < 0.1 ? -3 : undefined);
}

export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let left = 1 + Math.floor(random() * 12); left > 0; left--) copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
  return random() < 0.1 ? copy.subarray(0, Math.floor(random() * copy.length)) : copy;
}

function mutated(line: string, random: Random): string {
  try {
    return JSON.stringify(mutateValue(JSON.parse(line), random)) ?? '';
  } catch {
    return line;
  }
}
