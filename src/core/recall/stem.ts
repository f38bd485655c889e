/**
 * The stemmer of M. F. Porter, "An algorithm for suffix stripping" (1980), over lower-case ASCII words. Words of other
 * letters come back as they are.
 */
export function stem(word: string): string {
  if (word.length < 3 || word.length > 40 || !/^[a-z]+$/.test(word)) return word;
  let w = step1a(word);
  w = step1b(w);
  if (w.endsWith('y') && hasVowel(w.slice(0, -1))) w = `${w.slice(0, -1)}i`;
  w = replace(w, step2, 0);
  w = replace(w, step3, 0);
  w = step4(w);
  if (w.endsWith('e')) {
    const base = w.slice(0, -1);
    const m = measure(base);
    if (m > 1 || (m === 1 && !endsCvc(base))) w = base;
  }
  return w.endsWith('ll') && measure(w) > 1 ? w.slice(0, -1) : w;
}

const step2: readonly [string, string][] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ousli', 'ous'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['ator', 'ate'],
  ['eli', 'e'],
];
const step3: readonly [string, string][] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];
const step4Suffixes = [
  'ement',
  'ance',
  'ence',
  'able',
  'ible',
  'ment',
  'ant',
  'ent',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
  'ion',
  'al',
  'er',
  'ic',
  'ou',
];

function step1a(w: string): string {
  if (w.endsWith('sses') || w.endsWith('ies')) return w.slice(0, -2);
  return w.endsWith('s') && !w.endsWith('ss') ? w.slice(0, -1) : w;
}

function step1b(w: string): string {
  if (w.endsWith('eed')) return measure(w.slice(0, -3)) > 0 ? w.slice(0, -1) : w;
  const suffix = w.endsWith('ed') ? 2 : w.endsWith('ing') ? 3 : 0;
  if (suffix === 0 || !hasVowel(w.slice(0, -suffix))) return w;
  const base = w.slice(0, -suffix);
  if (base.endsWith('at') || base.endsWith('bl') || base.endsWith('iz')) return `${base}e`;
  if (endsDoubleConsonant(base) && !/[lsz]$/.test(base)) return base.slice(0, -1);
  return measure(base) === 1 && endsCvc(base) ? `${base}e` : base;
}

/** Only the longest suffix that is there counts, whether or not its condition holds. */
function replace(w: string, table: readonly [string, string][], minMeasure: number): string {
  for (const [suffix, by] of table) {
    if (!w.endsWith(suffix)) continue;
    const base = w.slice(0, -suffix.length);
    return measure(base) > minMeasure ? base + by : w;
  }
  return w;
}

function step4(w: string): string {
  for (const suffix of step4Suffixes) {
    if (!w.endsWith(suffix)) continue;
    const base = w.slice(0, -suffix.length);
    if (suffix === 'ion' && !/[st]$/.test(base)) return w;
    return measure(base) > 1 ? base : w;
  }
  return w;
}

function isConsonant(w: string, i: number): boolean {
  switch (w[i]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
      return false;
    case 'y':
      return i === 0 || !isConsonant(w, i - 1);
    default:
      return true;
  }
}

/** The m of the paper: how often a run of consonants follows a run of vowels. */
function measure(w: string): number {
  let m = 0;
  let afterVowel = false;
  for (let i = 0; i < w.length; i++) {
    const consonant = isConsonant(w, i);
    if (consonant && afterVowel) m++;
    afterVowel = !consonant;
  }
  return m;
}

function hasVowel(w: string): boolean {
  for (let i = 0; i < w.length; i++) if (!isConsonant(w, i)) return true;
  return false;
}

function endsDoubleConsonant(w: string): boolean {
  return w.length > 1 && w.at(-1) === w.at(-2) && isConsonant(w, w.length - 1);
}

function endsCvc(w: string): boolean {
  const n = w.length;
  return n > 2 && isConsonant(w, n - 3) && !isConsonant(w, n - 2) && isConsonant(w, n - 1) && !/[wxy]$/.test(w);
}
