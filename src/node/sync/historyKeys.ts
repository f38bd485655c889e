import { hkdfSync } from 'node:crypto';
import { entropyToMnemonic, generateMnemonic, mnemonicToEntropy, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { english } from '../../core/l10n';

/** What a recovery phrase comes to for one history. */
export interface HistoryKeys {
  /** What the history is called where it is kept; says nothing about the phrase or the name. */
  readonly history: string;
  /** Wraps the keys of sessions. */
  readonly wrapping: Buffer;
  /** Seals what says of which kind and session a record is, and what outlives its session. */
  readonly heading: Buffer;
}

/** A phrase that is not one, in words for the user. */
export class PhraseError extends Error {
  override readonly name = 'PhraseError';
}

/** 24 words: 256 random bits with a checksum of eight. */
export function newPhrase(): string {
  return generateMnemonic(wordlist, 256);
}

/** Reads a phrase as somebody types it. Throws `PhraseError` that names the first word which cannot be right. */
export function readPhrase(text: string): Uint8Array {
  const words = text.trim().toLowerCase().normalize('NFKD').split(/\s+/);
  const unknown = words.findIndex((word) => !wordlist.includes(word));
  if (unknown !== -1)
    throw new PhraseError(
      english('Word {0} of the recovery phrase, "{1}", is not in the list of words.', unknown + 1, words[unknown] ?? ''),
    );
  if (words.length !== 24) throw new PhraseError(english('A recovery phrase has 24 words; this one has {0}.', words.length));
  if (!validateMnemonic(words.join(' '), wordlist))
    throw new PhraseError(english('The words of the recovery phrase do not belong together: one is wrong, or two have changed places.'));
  return mnemonicToEntropy(words.join(' '), wordlist);
}

export function phraseOf(entropy: Uint8Array): string {
  return entropyToMnemonic(entropy, wordlist);
}

/** One phrase serves any number of histories, each by its name. */
export function historyKeys(entropy: Uint8Array, name: string): HistoryKeys {
  const derive = (use: string, bytes: number) => Buffer.from(hkdfSync('sha256', entropy, name, `threadkeeper ${use}`, bytes));
  return { history: derive('history', 16).toString('hex'), wrapping: derive('wrapping', 32), heading: derive('heading', 32) };
}
