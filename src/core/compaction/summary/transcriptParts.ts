import { wholeCharacters } from '../../context/projection/excerpt';
import type { StoredEntry } from '../../session/entry';
import { entryText } from '../../session/entryKinds';
import { isUserMessage } from '../ladder/cutPoint';
import { clip, isNotice, renderEntry } from './prompts';

/** An entry for a summariser, or one part of an entry that is longer than its share. */
export interface TranscriptPart {
  readonly entry: StoredEntry;
  readonly text: string;
  /** `part 2 of 3`; null: the entry is whole. */
  readonly part: string | null;
  /** A summary may be cut in front of it. */
  readonly begins: 'turn' | 'step' | null;
}

/** Parts of one entry that are read at most: of a longer one, the first and the last. */
const mostParts = 8;
const lastParts = 3;

/** Entries one after the other; one that takes more than `share` tokens is read in parts of that size. */
export function transcriptParts(entries: readonly StoredEntry[], share: number, estimate: (text: string) => number): TranscriptPart[] {
  return entries
    .filter((entry) => !isNotice(entry))
    .flatMap((entry): TranscriptPart[] => {
      const text = entryText(entry.content);
      const begins = isUserMessage(entry) ? 'turn' : entry.content.type === 'tool_result' ? null : 'step';
      const count = Math.ceil(estimate(text) / Math.max(1, share));
      if (count <= 1) return [{ entry, text, part: null, begins }];
      const size = Math.ceil(text.length / count);
      const all = Array.from({ length: count }, (_, index): TranscriptPart => {
        const part = `part ${index + 1} of ${count}`;
        return {
          entry,
          text: wholeCharacters(text, index * size, Math.min(text.length, (index + 1) * size)),
          part,
          begins: index === 0 ? begins : 'step',
        };
      });
      return count <= mostParts ? all : [...all.slice(0, mostParts - lastParts), ...all.slice(-lastParts)];
    });
}

/** `maxChars`: of each part; longer ones keep head and tail. */
export function renderParts(parts: readonly TranscriptPart[], maxChars = Infinity): string {
  return parts.map(({ entry, text, part }) => renderEntry(entry, clip(text, maxChars), part)).join('\n\n');
}

/** Where the second half begins: at the user's turn nearest to the middle, or else between a result and the step after it. */
export function middleOf(parts: readonly TranscriptPart[], estimate: (text: string) => number): number {
  const sizes = parts.map(({ text }) => estimate(text));
  const half = sizes.reduce((sum, size) => sum + size, 0) / 2;
  let before = 0;
  const distance = parts.map((_, index) => {
    const at = before;
    before += sizes[index]!;
    return Math.abs(at - half);
  });
  const best = (allowed: (part: TranscriptPart) => boolean) => {
    let found = 0;
    for (let i = 1; i < parts.length; i++) if (allowed(parts[i]!) && (found === 0 || distance[i]! < distance[found]!)) found = i;
    return found;
  };
  const turn = best(({ begins }) => begins === 'turn');
  const isLopsided = turn === 0 || distance[turn]! > half * 0.8;
  return (isLopsided ? best(({ begins }) => begins !== null) : turn) || turn || Math.floor(parts.length / 2);
}
