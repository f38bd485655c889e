/** Numbers that are the same in every run: mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Fact {
  /** As it is said in the conversation. */
  readonly sentence: string;
  /** What somebody would search for. */
  readonly question: string;
  /** What has to be found: nothing else in the corpus contains it. */
  readonly answer: string;
}

const places = [
  'harbour',
  'granary',
  'archive',
  'foundry',
  'orchard',
  'tannery',
  'observatory',
  'signal box',
  'ice house',
  'customs hall',
  'ropewalk',
  'mill race',
];
const things = [
  'gate code',
  'dock number',
  'shift lead',
  'meter reading',
  'spare key number',
  'radio channel',
  'seal number',
  'ledger page',
  'tank pressure',
  'crane serial',
];
const syllables = [
  'ka',
  'ri',
  'mo',
  'ten',
  'lu',
  'ver',
  'sa',
  'dor',
  'pel',
  'in',
  'tha',
  'ob',
  'ure',
  'ny',
  'cas',
  'tol',
  'mi',
  'ran',
  'eb',
  'qui',
];

/** Facts that nothing in the prose around them repeats. */
export function plantedFacts(count: number, seed = 7): Fact[] {
  const random = seeded(seed);
  return Array.from({ length: count }, (_, index) => {
    const place = `${places[index % places.length]} ${['north', 'south', 'east', 'west', 'old'][Math.floor(index / places.length) % 5]}`;
    const thing = things[index % things.length]!;
    const answer = `${'ABCDEFGHJKMNPQRSTVWXYZ'[Math.floor(random() * 22)]}${10_000 + Math.floor(random() * 89_999)}-${index}`;
    return { sentence: `For the record: the ${thing} of the ${place} is ${answer}.`, question: `${thing} of the ${place}`, answer };
  });
}

/** Prose of about so many tokens, made of invented words: 2.2 characters each with the tokenizer of the double. */
export function prose(tokens: number, random: () => number): string {
  const word = () =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => syllables[Math.floor(random() * syllables.length)]).join('');
  let text = '';
  while (text.length < tokens * 2.2) {
    const words = Array.from({ length: 6 + Math.floor(random() * 10) }, word).join(' ');
    text += `${words[0]!.toUpperCase()}${words.slice(1)}. `;
  }
  return text.trim();
}
