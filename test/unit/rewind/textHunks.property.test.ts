import { strictEqual } from 'node:assert';
import { laterLines, textHunks, withHunk, withoutHunk } from '../../../src/core/rewind/textHunks';
import { seededRandom } from '../../support/chat/endurance';

const bytes = (lines: readonly string[], isOpen: boolean) => Buffer.from(lines.map((line) => `${line}\n`).join('') + (isOpen ? 'end' : ''));

describe('hunks of a text', () => {
  it('kept one after the other make the new text, undone the old one, in any order and mixed', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = seededRandom(seed);
      const lines = () => Array.from({ length: Math.floor(random() * 30) }, () => `${Math.floor(random() * 8)}`);
      const [before, after] = [bytes(lines(), random() < 0.2), bytes(lines(), random() < 0.2)];
      let [old, now]: [Uint8Array, Uint8Array] = [before, after];
      let steps = 0;
      for (let left = textHunks(old, now)!; left.length > 0; left = textHunks(old, now)!) {
        const hunk = left[Math.floor(random() * left.length)]!;
        if (random() < 0.5) old = withHunk(old, hunk);
        else now = withoutHunk(now, hunk);
        strictEqual(textHunks(old, now)!.length < left.length, true, `seed ${seed}`);
        if (++steps > 100) throw new Error(`seed ${seed} does not end`);
      }
      strictEqual(Buffer.from(old).equals(Buffer.from(now)), true, `seed ${seed}`);
      let [allKept, allUndone]: [Uint8Array, Uint8Array] = [before, after];
      for (let left = textHunks(before, after)!.reverse(); left.length > 0; left = left.slice(1)) {
        allKept = withHunk(allKept, left[0]!);
        allUndone = withoutHunk(allUndone, left[0]!);
      }
      strictEqual(Buffer.from(allKept).equals(after), true, `seed ${seed}: kept`);
      strictEqual(Buffer.from(allUndone).equals(before), true, `seed ${seed}: undone`);
    }
  });

  it('finds its lines again in a text that was written in since', () => {
    const text = Buffer.from('a\nb\nc\nd\n');
    const later = Buffer.from('new\na\nb\nX\nd\n');
    const found = [0, 1, 2, 3].map(laterLines(text, later)!);
    strictEqual(JSON.stringify(found), JSON.stringify([1, 2, 3, 4]));
    strictEqual(laterLines(text, Buffer.from('\0')), null);
  });
});
