import { Worker } from 'node:worker_threads';
import type { Disposable } from '../../core/base/disposable';
import type { ExtractiveItem } from '../../core/compaction/extractive';
import { inProcessAnalyst } from '../../core/compaction/inProcessAnalyst';
import type { TextAnalysis } from '../../core/compaction/textAnalysis';
import { errorText } from '../../core/errors';
import type { Logger, TextAnalyst } from '../../core/ports';
import { workerLimits } from '../runtime/workerLimits';

export interface AnalysisRequest {
  readonly id: number;
  readonly items: readonly ExtractiveItem[];
  readonly budgetTokens: number;
}

export interface AnalysisReply {
  readonly id: number;
  readonly analysis: TextAnalysis;
}

interface Waiting extends AnalysisRequest {
  readonly resolve: (analysis: TextAnalysis) => void;
}

/** Shorter texts are done sooner than a worker starts. */
const leastCharacters = 50_000;
/** A worker takes 15 to 30 MB and starts in about 50 ms: between two compactions there is none. */
const usualIdleMs = 10_000;

/**
 * Analyses long texts in a worker thread, started by the first of them. Where it cannot run, or dies, the work is done on the
 * calling thread: late is better than not at all.
 */
export class WorkerAnalyst implements TextAnalyst, Disposable {
  private readonly waiting = new Map<number, Waiting>();
  private worker: Worker | null = null;
  private count = 0;
  private broken = false;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly workerFile: string,
    private readonly log: Logger,
    private readonly idleMs = usualIdleMs,
  ) {}

  analyse(items: readonly ExtractiveItem[], budgetTokens: number): Promise<TextAnalysis> {
    const characters = items.reduce((sum, { text }) => sum + text.length, 0);
    if (this.broken || characters < leastCharacters) return inProcessAnalyst.analyse(items, budgetTokens);
    return new Promise((resolve) => {
      const request: Waiting = { id: ++this.count, items, budgetTokens, resolve };
      this.waiting.set(request.id, request);
      clearTimeout(this.idle);
      try {
        const worker = (this.worker ??= this.start());
        worker.ref();
        worker.postMessage({ id: request.id, items, budgetTokens } satisfies AnalysisRequest);
      } catch (error) {
        this.failed(errorText(error));
      }
    });
  }

  dispose(): void {
    this.broken = true;
    this.end();
    this.answerHere();
  }

  private end(): void {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = null;
    void worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(this.workerFile, { resourceLimits: workerLimits });
    worker.on('message', ({ id, analysis }: AnalysisReply) => {
      this.waiting.get(id)?.resolve(analysis);
      this.waiting.delete(id);
      if (this.waiting.size > 0) return;
      worker.unref();
      this.idle = setTimeout(() => this.end(), this.idleMs).unref();
    });
    worker.on('error', (error) => worker === this.worker && this.failed(errorText(error)));
    worker.on('exit', (code) => worker === this.worker && this.failed(`exit code ${code}`));
    return worker;
  }

  private failed(detail: string): void {
    this.log.warn('analysis_worker_failed', { detail, waiting: this.waiting.size });
    this.worker = null;
    this.broken = true;
    this.answerHere();
  }

  private answerHere(): void {
    for (const { items, budgetTokens, resolve } of this.waiting.values()) void inProcessAnalyst.analyse(items, budgetTokens).then(resolve);
    this.waiting.clear();
  }
}
