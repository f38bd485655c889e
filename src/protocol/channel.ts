import * as z from 'zod/mini';
import type { Disposable } from '../core/base/disposable';
import { shown, t } from '../core/l10n';

export type FromHost<Snapshot, Delta> =
  | { type: 'snapshot'; seq: number; snapshot: Snapshot }
  | { type: 'delta'; seq: number; delta: Delta }
  | { type: 'reply'; requestId: number; result: unknown }
  | { type: 'error'; requestId: number; message: string };

export type FromView<Request> =
  | { type: 'ready' }
  | { type: 'request'; requestId: number; request: Request }
  | { type: 'used' }
  | { type: 'fault'; message: string };

/** What a kind of view and its host say to each other, as both ends check it. */
export interface Wire<Snapshot, Delta, Request extends Named> {
  readonly fromHost: z.ZodMiniType<FromHost<Snapshot, Delta>>;
  readonly fromView: z.ZodMiniType<FromView<Request>>;
}

interface Named {
  readonly method: string;
}

/** Carries messages between the two ends; structured clones, in order, but a hidden view loses what is posted to it. */
export interface Transport {
  post(message: FromHost<unknown, unknown> | FromView<unknown>): void;
  onMessage(listener: (message: unknown) => void): Disposable;
}

/** Calls back once after so many milliseconds unless disposed before. */
export type Scheduler = (ms: number, callback: () => void) => Disposable;

export interface HostEnd<Request> {
  /** The view has nothing, or has lost something: answer with `sendSnapshot`, at once or when the state is at hand. */
  ready(): void;
  /** Resolves with the reply. A rejection is answered as an error with its message, so it must be fit for the user. */
  handle(request: Request): Promise<unknown>;
  /** The user has put the focus into the view. */
  used?(): void;
  /** Something for the log: a fault in the view, or a message that did not parse. */
  log(text: string): void;
}

/**
 * The host's end. Snapshots and deltas share one consecutive numbering. Deltas sent between the view's `ready` and the next
 * snapshot are dropped, because that snapshot contains them: assemble it and send it without awaiting in between.
 */
export class HostChannel<Snapshot, Delta, Request extends Named> implements Disposable {
  private seq = 0;
  private viewIsCurrent = false;
  private disposed = false;
  private readonly subscription: Disposable;

  constructor(
    private readonly wire: Wire<Snapshot, Delta, Request>,
    private readonly transport: Transport,
    private readonly end: HostEnd<Request>,
  ) {
    this.subscription = transport.onMessage((message) => this.receive(message));
  }

  /** Answers `ready`; also sent unasked when everything changes, as when another session is opened. */
  sendSnapshot(snapshot: Snapshot): void {
    if (this.disposed) return;
    this.viewIsCurrent = true;
    this.transport.post({ type: 'snapshot', seq: ++this.seq, snapshot });
  }

  sendDelta(delta: Delta): void {
    if (this.viewIsCurrent && !this.disposed) this.transport.post({ type: 'delta', seq: ++this.seq, delta });
  }

  dispose(): void {
    this.disposed = true;
    this.subscription.dispose();
  }

  private receive(raw: unknown): void {
    const parsed = this.wire.fromView.safeParse(raw);
    if (!parsed.success) {
      const problem = `Malformed message from the view: ${z.prettifyError(parsed.error)}`;
      this.end.log(problem);
      const requestId = requestIdOf(raw);
      if (requestId !== undefined) this.post({ type: 'error', requestId, message: t('The request was not understood.') });
      return;
    }
    const message = parsed.data;
    switch (message.type) {
      case 'ready':
        this.viewIsCurrent = false;
        try {
          this.end.ready();
        } catch (error) {
          this.end.log(`No snapshot for the view: ${textOf(error)}`);
        }
        return;
      case 'used':
        this.end.used?.();
        return;
      case 'fault':
        this.end.log(`Fault in the view: ${message.message}`);
        return;
      case 'request':
        void this.answer(message.requestId, message.request);
    }
  }

  private async answer(requestId: number, request: Request): Promise<void> {
    try {
      const result = await this.end.handle(request);
      this.post({ type: 'reply', requestId, result: result ?? null });
    } catch (error) {
      this.end.log(`Request ${request.method} failed: ${textOf(error)}`);
      this.post({ type: 'error', requestId, message: shown(textOf(error)) });
    }
  }

  private post(message: FromHost<Snapshot, Delta>): void {
    if (!this.disposed) this.transport.post(message);
  }
}

export interface ViewEnd<Snapshot, Delta> {
  snapshot(snapshot: Snapshot): void;
  delta(delta: Delta): void;
  /** Something the view cannot use arrived; it has been reported to the host already. */
  fault(message: string): void;
}

export interface ViewTimeouts<Request extends Named> {
  /** Until a request counts as lost. */
  request(method: Request['method']): number;
  /** Until `ready` is repeated when no snapshot came. */
  snapshot: number;
}

/** A request that the host refused, could not do, or never answered. `message` is fit for the user. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  static is(error: unknown): error is RequestError {
    return error instanceof RequestError;
  }
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: RequestError): void;
  timer: Disposable;
}

/**
 * The view's end.
 *
 *   waiting ──snapshot──▶ current ──gap or malformed delta──▶ waiting (sends `ready`)
 *
 * While waiting, deltas are ignored; `ready` is repeated with doubled patience until a snapshot arrives.
 */
export class ViewChannel<Snapshot, Delta, Request extends Named> implements Disposable {
  private lastSeq: number | null = null;
  private nextRequest = 1;
  private patience: number;
  private retry: Disposable | undefined;
  private readonly pending = new Map<number, Pending>();
  private readonly subscription: Disposable;

  constructor(
    private readonly wire: Wire<Snapshot, Delta, Request>,
    private readonly transport: Transport,
    private readonly end: ViewEnd<Snapshot, Delta>,
    private readonly timeouts: ViewTimeouts<Request>,
    private readonly after: Scheduler,
  ) {
    this.patience = timeouts.snapshot;
    this.subscription = transport.onMessage((message) => this.receive(message));
  }

  /** Asks for a snapshot: at start, and whenever what is shown may no longer be what the host holds. */
  resync(): void {
    this.lastSeq = null;
    this.retry?.dispose();
    this.transport.post({ type: 'ready' });
    this.retry = this.after(this.patience, () => {
      this.patience = Math.min(this.patience * 2, 60_000);
      this.resync();
    });
  }

  /** Rejects with `RequestError` only. */
  request(request: Request): Promise<unknown> {
    const requestId = this.nextRequest++;
    return new Promise((resolve, reject) => {
      const timer = this.after(this.timeouts.request(request.method), () => {
        this.pending.delete(requestId);
        reject(new RequestError(t('Threadkeeper did not answer in time.')));
      });
      this.pending.set(requestId, { resolve, reject, timer });
      this.transport.post({ type: 'request', requestId, request });
    });
  }

  /** Tells that the user has put the focus into the view. */
  used(): void {
    this.transport.post({ type: 'used' });
  }

  fault(message: string): void {
    this.transport.post({ type: 'fault', message: message.slice(0, 4000) });
  }

  dispose(): void {
    this.subscription.dispose();
    this.retry?.dispose();
    for (const { timer, reject } of this.pending.values()) {
      timer.dispose();
      reject(new RequestError(t('The view was closed.')));
    }
    this.pending.clear();
  }

  private receive(raw: unknown): void {
    const parsed = this.wire.fromHost.safeParse(raw);
    if (!parsed.success) {
      const problem = `Malformed message from the host: ${z.prettifyError(parsed.error)}`;
      this.fault(problem);
      this.end.fault(problem);
      // A malformed delta is a gap; a malformed snapshot would come again at once, so it waits for the repeated `ready`.
      if (this.lastSeq !== null) this.resync();
      return;
    }
    const message = parsed.data;
    switch (message.type) {
      case 'snapshot':
        this.lastSeq = message.seq;
        this.retry?.dispose();
        this.patience = this.timeouts.snapshot;
        this.end.snapshot(message.snapshot);
        return;
      case 'delta':
        if (this.lastSeq === null) return;
        if (message.seq !== this.lastSeq + 1) return this.resync();
        this.lastSeq = message.seq;
        this.end.delta(message.delta);
        return;
      case 'reply':
        return this.settle(message.requestId)?.resolve(message.result);
      case 'error':
        return this.settle(message.requestId)?.reject(new RequestError(message.message));
    }
  }

  private settle(requestId: number): Pending | undefined {
    const pending = this.pending.get(requestId);
    pending?.timer.dispose();
    this.pending.delete(requestId);
    return pending;
  }
}

function requestIdOf(raw: unknown): number | undefined {
  const parsed = z.object({ requestId: z.number() }).safeParse(raw);
  return parsed.success ? parsed.data.requestId : undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
