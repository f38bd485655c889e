import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Disposable } from '../../core/base/disposable';
import { estimateTokens } from '../../core/context/measure/estimateTokens';
import { CancelledError, errorText } from '../../core/errors';
import type { Logger, TokenCounter } from '../../core/ports';
import { workerLimits } from '../runtime/workerLimits';

export interface CountRequest {
  readonly batch: number;
  readonly texts: readonly string[];
}

export interface CountReply {
  readonly batch: number;
  readonly counts: readonly number[];
}

interface Job {
  readonly texts: readonly string[];
  readonly resolve: (counts: readonly number[]) => void;
  readonly reject: (error: Error) => void;
}

interface Batch {
  readonly id: number;
  readonly jobs: readonly Job[];
  readonly texts: readonly string[];
  crashes: number;
}

/** Characters per message to the worker: a small count waits at most for this much of another one (about 0.1 s). */
const batchCharacters = 1_000_000;
const cacheCapacity = 4096;

/**
 * Counts in a worker thread that is started by the first count.
 *
 *   stopped ──count──▶ running ──crash──▶ restarted, same batch ──crash──▶ estimating (for good)
 *      ▲                  │ ▲                      │ answer
 *      └──crash while idle┘ └──────────────────────┘
 *
 * Rejects only with `CancelledError`, and only when closed. Where the worker cannot run, counts are estimates and the log
 * says so. The worker holds the process only while a count is awaited.
 */
export class WorkerTokenCounter implements TokenCounter, Disposable {
  private readonly cache = new CountCache(cacheCapacity);
  private queue: Job[] = [];
  private current: Batch | undefined;
  private worker: Worker | undefined;
  private batches = 0;
  private pumpScheduled = false;
  private estimating = false;
  private closed = false;

  constructor(
    private readonly workerFile: string,
    private readonly log?: Logger,
  ) {}

  async count(texts: readonly string[]): Promise<number[]> {
    if (this.closed) throw new CancelledError();
    const counts = texts.map((text) => (text === '' ? 0 : this.cache.get(text)));
    const missing = [...new Set(texts.filter((_, i) => counts[i] === undefined))];
    if (missing.length === 0) return counts.map((count) => count ?? 0);
    const found = await this.enqueue(missing);
    const byText = new Map(missing.map((text, i) => [text, found[i] ?? 0]));
    return texts.map((text, i) => counts[i] ?? byText.get(text) ?? 0);
  }

  /** Ends the worker; counts that are under way reject. */
  async close(): Promise<void> {
    this.closed = true;
    const { worker, current, queue } = this;
    this.worker = undefined;
    this.current = undefined;
    this.queue = [];
    for (const job of [...(current?.jobs ?? []), ...queue]) job.reject(new CancelledError());
    await worker?.terminate();
  }

  dispose(): void {
    void this.close();
  }

  private enqueue(texts: readonly string[]): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      this.queue.push({ texts, resolve, reject });
      if (this.pumpScheduled) return;
      this.pumpScheduled = true;
      // After the current run of the caller, so that counts asked for together travel together.
      queueMicrotask(() => {
        this.pumpScheduled = false;
        this.pump();
      });
    });
  }

  private pump(): void {
    if (this.current !== undefined || this.closed || this.queue.length === 0) return;
    if (this.estimating) {
      for (const job of this.queue.splice(0)) job.resolve(job.texts.map(estimateTokens));
      return;
    }
    const jobs: Job[] = [];
    for (let characters = 0; characters < batchCharacters && this.queue.length > 0; ) {
      const job = this.queue.shift();
      if (job === undefined) break;
      jobs.push(job);
      for (const text of job.texts) characters += text.length;
    }
    this.current = { id: ++this.batches, jobs, texts: jobs.flatMap((job) => job.texts), crashes: 0 };
    this.send(this.current);
  }

  private send(batch: Batch): void {
    try {
      const worker = (this.worker ??= this.start());
      worker.ref();
      worker.postMessage({ batch: batch.id, texts: batch.texts } satisfies CountRequest);
    } catch (error) {
      this.crashed(this.worker, errorText(error));
    }
  }

  private start(): Worker {
    const worker = new Worker(this.workerFile, { resourceLimits: workerLimits });
    worker.on('message', (reply: CountReply) => {
      if (worker === this.worker) this.answered(worker, reply);
    });
    worker.on('error', (error) => this.crashed(worker, errorText(error)));
    worker.on('exit', (code) => this.crashed(worker, `exit code ${code}`));
    return worker;
  }

  private answered(worker: Worker, { batch, counts }: CountReply): void {
    const current = this.current;
    if (current?.id !== batch) return;
    this.current = undefined;
    worker.unref();
    current.texts.forEach((text, i) => this.cache.set(text, counts[i] ?? 0));
    this.deliver(current, counts);
    this.pump();
  }

  /** An error is followed by an exit: only the first of them finds its worker still in place. */
  private crashed(worker: Worker | undefined, detail: string): void {
    if (worker !== this.worker || this.closed) return;
    this.worker = undefined;
    const current = this.current;
    this.log?.warn('token_worker_crashed', { detail, counting: current !== undefined });
    if (current === undefined) return;
    if (++current.crashes === 1) return this.send(current);
    this.estimating = true;
    this.current = undefined;
    this.log?.error('token_counts_are_estimates', { detail });
    this.deliver(current, current.texts.map(estimateTokens));
    this.pump();
  }

  private deliver(batch: Batch, counts: readonly number[]): void {
    let at = 0;
    for (const job of batch.jobs) {
      job.resolve(counts.slice(at, at + job.texts.length));
      at += job.texts.length;
    }
  }
}

const shortText = 64;

/** Counts by content, least recently used out first. Long texts are known by their hash, so that none is kept alive here. */
class CountCache {
  private readonly counts = new Map<string, number>();

  constructor(private readonly capacity: number) {}

  get(text: string): number | undefined {
    const key = keyOf(text);
    const count = this.counts.get(key);
    if (count === undefined) return undefined;
    this.counts.delete(key);
    this.counts.set(key, count);
    return count;
  }

  set(text: string, count: number): void {
    const key = keyOf(text);
    this.counts.delete(key);
    this.counts.set(key, count);
    if (this.counts.size <= this.capacity) return;
    for (const oldest of this.counts.keys()) {
      this.counts.delete(oldest);
      break;
    }
  }
}

/** No short text starts like the key of a long one: those are longer than `shortText`. */
function keyOf(text: string): string {
  return text.length <= shortText ? text : `${'#'.repeat(shortText)}${createHash('sha256').update(text).digest('base64')}`;
}
