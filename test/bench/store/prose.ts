/** Characters of prose from which every text is cut. */
const corpusCharacters = 4_000_000;
const vocabulary = 30_000;

let seed = 42;
let corpus: string | undefined;

/** Words as frequent as in prose (Zipf), different at every call. */
export function prose(characters: number): string {
  corpus ??= makeCorpus();
  const from = Math.floor(random() * (corpus.length - characters));
  return corpus.slice(from, from + characters);
}

function makeCorpus(): string {
  const syllables = ['ka', 'ren', 'to', 'mi', 'sol', 'da', 'ver', 'in', 'pa', 'lum', 'se', 'gor', 'ne', 'ta', 'ril', 'os'];
  const words: string[] = [];
  for (let characters = 0; characters < corpusCharacters; ) {
    let rank = Math.floor(Math.exp(random() * Math.log(vocabulary)));
    let word = '';
    // Frequent words are short.
    for (; rank > 0; rank = Math.floor(rank / syllables.length)) word += syllables[rank % syllables.length];
    words.push(word);
    characters += word.length + 1;
  }
  return words.join(' ');
}

function random(): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
}
