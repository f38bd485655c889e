import { deepEqual } from 'node:assert/strict';
import { cjkShare, estimateTokens } from '../../../src/core/context/measure/estimateTokens';

describe('immediate token estimate', () => {
  it('is characters/4, and runes/3 for CJK', () => {
    const texts = ['', 'a', 'abcd', 'abcde', 'é'.repeat(8), '漢字仮', '漢字仮名', '한국어 abc', '𠀀𠀁𠀂', '、。！'];
    deepEqual(texts.map(estimateTokens), [0, 1, 1, 2, 2, 1, 2, 2, 1, 1]);
  });

  it('weighs CJK by tokens, not by characters', () => {
    deepEqual([cjkShare([]), cjkShare(['abcd']), cjkShare(['漢字']), cjkShare(['漢', 'abcd'])], [0, 0, 1, 0.5]);
  });
});
