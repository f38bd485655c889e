import { estimateTokens } from '../../../core/context/measure/estimateTokens';

/** Share of the expected tokens below which some are missing: before the model's tokenizer is known, and when it is. */
const unlearnedShare = 0.6;
const learnedShare = 0.85;
/** Measurements that make the ratio known. */
const enough = 2;
/** Templates and framing; below this an estimate says little. */
const smallest = 500;
/** Weight of a new measurement among those before. */
const learning = 0.3;

/**
 * Whether a server has read the whole prompt, for servers that cut what does not fit and say nothing (ollama#17889). The count it
 * reports is held against our estimate, corrected by what was learned of the model's tokenizer.
 */
export class TruncationDetector {
  /** Reported tokens per estimated one. English and code have 0.8–1.3 with any tokenizer in use. */
  private ratio = 1;
  private measured = 0;

  /** The tokens that the prompt should have had, when far fewer have been read; null when all is well. */
  check(sent: string, read: number): number | null {
    const estimate = estimateTokens(sent);
    const expected = Math.round(estimate * this.ratio);
    if (expected >= smallest && read < expected * (this.measured < enough ? unlearnedShare : learnedShare)) return expected;
    if (estimate >= smallest) {
      this.ratio += (read / estimate - this.ratio) * (this.measured === 0 ? 1 : learning);
      this.measured++;
    }
    return null;
  }
}
