import { ModelError, type ModelFailureReason, type TokenUsage } from '../../models/modelEvent';
import { untilAborted } from '../../base/untilAborted';
import { CancelledError } from '../../errors';
import { indented, oneLine, type Frames } from '../../frames/frames';
import { english } from '../../l10n';
import type { Logger, Summarizer } from '../../ports';
import { isUserMessage, entryText, type StoredEntry } from '../../session/entry';
import type { FoldedIdentifier } from '../measure/identifiers';
import { continuingPrompt, type Continuation } from './continuation';
import { summaryPrompt, clip, isNotice, renderEntry } from './prompts';
import type { SummaryFormat } from './summaryFormat';
import { wholeCharacters } from '../../context/projection/excerpt';

/** One request to a summariser, paid for whether its answer was used or not. */
export interface SummaryCall {
  readonly provider: string;
  readonly model: string;
  readonly usage: TokenUsage;
  /** When it was asked: from then on a provider keeps the prompt. */
  readonly sentAt: number;
}

export interface SummaryWriterOptions {
  /** They belong to the session that the summary is about. */
  readonly frames: Frames;
  readonly summarizer: Summarizer;
  readonly format: SummaryFormat;
  readonly maxSummaryTokens: number;
  readonly instructions: string | null;
  readonly estimate: (text: string) => number;
  readonly background: boolean;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly onLife?: () => void;
  readonly spent: (call: SummaryCall) => void;
}

/** Nobody writes a summary in more pieces than this. */
const deepest = 6;
/** A message that takes more than this share of what a summariser can read is given to it in parts. */
const entryShare = 0.5;
const shownMissing = 30;
/** Beyond what the summariser is told: a summary that is a little too long is better than half of one. */
const spareTokens = 1_000;
/** Room for what a model thinks before it writes. */
const thinkingTokens = 4_096;
/** What the model has made of the request, as opposed to what happened to it on the way. */
const ownFailures: ReadonlySet<ModelFailureReason> = new Set(['invalid_request', 'refused', 'overflow']);

/** Has one summariser write about a range, in parts when it cannot read all of it at once. */
export class SummaryWriter {
  constructor(private readonly options: SummaryWriterOptions) {}

  /**
   * Halves that are too long are summarised apart and merged, cut where a user's turn begins. Rejects with what the summariser
   * rejected with.
   */
  write(entries: readonly StoredEntry[], previous: string | null): Promise<string> {
    return this.writeParts(transcriptParts(entries, this.room * entryShare, this.options.estimate), previous, 0);
  }

  private async writeParts(parts: readonly TranscriptPart[], previous: string | null, depth: number): Promise<string> {
    const { frames, estimate, instructions, maxSummaryTokens, format } = this.options;
    const whole = renderParts(parts);
    const fits = estimate(whole) + (previous === null ? 0 : estimate(previous)) <= this.room;
    const canSplit = parts.length > 1 && depth < deepest;
    if (fits || !canSplit) {
      const transcript = fits ? whole : renderParts(parts, Math.floor((this.room * 1.5) / parts.length));
      try {
        return await this.ask(
          summaryPrompt({ frames, previous, transcript, isVerbatim: true, instructions, closing: format.closing(maxSummaryTokens) }),
        );
      } catch (error) {
        // The estimate is ours, the limit is theirs.
        if (!canSplit || !ModelError.is(error) || error.failure.reason !== 'overflow') throw error;
      }
    }
    const at = middleOf(parts, estimate);
    const first = await this.writeParts(parts.slice(0, at), previous, depth + 1);
    const second = await this.writeParts(parts.slice(at), null, depth + 1);
    // The seal is taken out of what stands in a frame, so that parts are marked by lines that they do not have.
    const transcript = [first, second].map((part, index) => `[part ${index + 1}]\n  ${indented(part)}`).join('\n\n');
    const closing = format.closing(maxSummaryTokens);
    return this.ask(
      summaryPrompt({
        frames,
        previous: null,
        transcript,
        isVerbatim: false,
        instructions: [mergeParts, instructions].filter(Boolean).join(' '),
        closing,
      }),
    );
  }

  /**
   * Has it written in the conversation's own prompt. Null when that is not for this summariser, does not fit, or has led to nothing
   * that is accepted: then this way is not tried again with it. Rejects as `write` does with what another request could not help.
   */
  async continued(continuation: Continuation | null, accepts: (answer: string) => boolean | Promise<boolean>): Promise<string | null> {
    const { frames, summarizer, format, instructions, maxSummaryTokens, estimate, log } = this.options;
    if (!continuation || summarizer.continuesFrom !== continuation.from) return null;
    const prompt = continuingPrompt({
      continuation,
      frames,
      system: format.system,
      instructions,
      closing: format.closing(maxSummaryTokens),
    });
    const answerTokens = maxSummaryTokens + spareTokens + thinkingTokens;
    if (continuation.tokens + estimate(prompt) * 1.3 + answerTokens > summarizer.contextTokens) return null;
    let detail = 'the answer was no summary';
    try {
      const answer = await this.ask(prompt, continuation);
      if (await accepts(answer)) return answer;
    } catch (error) {
      if (!ModelError.is(error) || !ownFailures.has(error.failure.reason)) throw error;
      detail = error.failure.detail;
    }
    summarizer.declineContinuing?.();
    log.warn('summary_not_continued', { model: summarizer.model, detail });
    return null;
  }

  /** Asks once more, with what was wrong. */
  repair(answer: string, flaws: readonly string[], missing: readonly FoldedIdentifier[]): Promise<string> {
    const { frames, format, maxSummaryTokens } = this.options;
    const lost = missing.slice(0, shownMissing).map(({ text }) => `- ${oneLine(text)}`);
    const parts = [
      frames.material('summary', answer),
      'This summary of a conversation is not good enough:',
      ...flaws.map((flaw) => `- ${flaw}`),
      ...(lost.length > 0
        ? ['These names, paths and values of the conversation are not in it. Put each where it belongs, literally:', ...lost]
        : []),
      'Write it again, complete. Drop nothing that is in it.',
      format.closing(maxSummaryTokens),
    ];
    return this.ask(parts.join('\n'));
  }

  /** Estimated tokens of what can be read at once. A tenth of the window stays free: the estimate is ours, the limit is theirs. */
  private get room(): number {
    const { summarizer, maxSummaryTokens } = this.options;
    return Math.max(1_000, Math.floor(summarizer.contextTokens * 0.9) - 2 * maxSummaryTokens - 2_000) / 1.3;
  }

  private async ask(prompt: string, continuation?: Continuation): Promise<string> {
    const { summarizer, format, maxSummaryTokens, signal, background, estimate, onLife, spent } = this.options;
    if (signal.aborted) throw new CancelledError();
    const sentAt = this.options.now();
    let usage: TokenUsage | null = null;
    /** Since the last report. */
    let written = '';
    let isWhole = false;
    const onProgress = (soFar: TokenUsage | null, text: string) => {
      if (soFar && isReported(soFar)) [usage, written] = [soFar, ''];
      else written += text;
      onLife?.();
    };
    const estimated = (text: string): TokenUsage => ({
      input: (continuation?.tokens ?? estimate(format.system)) + estimate(prompt),
      output: estimate(text),
      cacheRead: 0,
      cacheWrite: 0,
      estimated: true,
    });
    // One that does not listen to its signal must not hold anybody.
    try {
      // A schema changes the prompt that a conversation has cached.
      const answer = await untilAborted(
        summarizer.summarize(
          {
            system: format.system,
            prompt,
            maxTokens: maxSummaryTokens + spareTokens,
            background,
            onProgress,
            ...(continuation ? { continues: continuation.request } : format.schema ? { schema: format.schema } : {}),
          },
          signal,
        ),
        signal,
        () => {
          throw new CancelledError();
        },
      );
      usage = isReported(answer.usage) ? answer.usage : estimated(answer.text);
      isWhole = true;
      if (answer.text.trim() === '') throw new Error(english('the summary came back empty'));
      return answer.text.trim();
    } finally {
      // Cancelled or broken off while it was being written: paid for all the same.
      const paid = isWhole || written === '' ? usage : withUnreported(usage ?? estimated(''), estimate(written));
      if (paid) spent({ provider: summarizer.provider, model: summarizer.model, usage: paid, sentAt });
    }
  }
}

/** What came after the last report, which for some providers is the beginning of the answer. */
function withUnreported(usage: TokenUsage, output: number): TokenUsage {
  return { ...usage, output: usage.output + output, estimated: true };
}

function isReported({ input, output, cacheRead, cacheWrite }: TokenUsage): boolean {
  return input + output + cacheRead + cacheWrite > 0;
}

const mergeParts =
  'The conversation above is given as summaries of its consecutive parts: merge them into one, dropping what a later part contradicts.';

/** An entry for a summariser, or one part of an entry that is longer than its share. */
interface TranscriptPart {
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
function middleOf(parts: readonly TranscriptPart[], estimate: (text: string) => number): number {
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
