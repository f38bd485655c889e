import { Worker } from 'node:worker_threads';
import type { Disposable } from '../../core/base/disposable';
import type { ExtractiveItem } from '../../core/compaction/measure/extractive';
import { inProcessAnalyst } from '../../core/compaction/measure/textAnalysis';
import { errorText } from '../../core/errors';
import type { Logger, TextAnalyst, KeyFact, TextAnalysis } from '../../core/ports';
import { workerLimits } from '../runtime/workerLimits';

/** A call of the port. */
export type AnalystCall = {
  [M in keyof TextAnalyst]: { readonly method: M; readonly args: Parameters<TextAnalyst[M]> };
}[keyof TextAnalyst];

export type AnalystRequest = AnalystCall & { readonly id: number };

export interface AnalystReply {
  readonly id: number;
  readonly answer: TextAnalysis | number;
}

interface Waiting {
  readonly call: AnalystCall;
  readonly resolve: (answer: AnalystReply['answer']) => void;
}

/** Shorter texts are done in 10 ms, and sooner than a worker starts. */
const leastCharacters = 10_000;
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

  analyse(...args: [items: readonly ExtractiveItem[], budgetTokens: number]): Promise<TextAnalysis> {
    return this.ask({ method: 'analyse', args }, charactersOf(args[0])) as Promise<TextAnalysis>;
  }

  inContext(...args: [elements: readonly KeyFact[], leftBehind: string]): Promise<number> {
    return this.ask({ method: 'inContext', args }, charactersOf(args[0]) + args[1].length) as Promise<number>;
  }

  dispose(): void {
    this.broken = true;
    this.end();
    this.answerHere();
  }

  private ask(call: AnalystCall, characters: number): Promise<AnalystReply['answer']> {
    if (this.broken || characters < leastCharacters) return answerAnalyst(inProcessAnalyst, call);
    return new Promise((resolve) => {
      const id = ++this.count;
      this.waiting.set(id, { call, resolve });
      clearTimeout(this.idle);
      try {
        const worker = (this.worker ??= this.start());
        worker.ref();
        worker.postMessage({ id, ...call } satisfies AnalystRequest);
      } catch (error) {
        this.failed(errorText(error));
      }
    });
  }

  private end(): void {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = null;
    void worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(this.workerFile, { resourceLimits: workerLimits });
    worker.on('message', ({ id, answer }: AnalystReply) => {
      this.waiting.get(id)?.resolve(answer);
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
    for (const { call, resolve } of this.waiting.values()) void answerAnalyst(inProcessAnalyst, call).then(resolve);
    this.waiting.clear();
  }
}

export function answerAnalyst(analyst: TextAnalyst, call: AnalystCall): Promise<AnalystReply['answer']> {
  return call.method === 'analyse' ? analyst.analyse(...call.args) : analyst.inContext(...call.args);
}

function charactersOf(texts: readonly { readonly text: string }[]): number {
  return texts.reduce((sum, { text }) => sum + text.length, 0);
}
