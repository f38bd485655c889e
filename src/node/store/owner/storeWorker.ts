import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { sendAnswer } from '../client/answerParts';
import { StoreSupervisor } from './storeSupervisor';
import { toWire } from '../client/storeProtocol';
import type { CallArguments, StoreCall } from '../client/storeCalls';
import type { Answer, Request, Response, WorkerOptions } from '../client/storeProtocol';
import { storeCalls } from './storeOperations';

const port = parentPort;
if (!port) throw new Error('storeWorker.js runs as a worker thread');
const send = (response: Response, moved: readonly ArrayBuffer[] = []) => port.postMessage(response, moved);

const cancelOpen = new AbortController();
const options = workerData as WorkerOptions;
const host = StoreSupervisor.open(
  options,
  {
    onStatus: (status, nonce) => send({ type: 'status', status, nonce }),
    onChange: (change) => send({ type: 'change', change }),
    onLog: (level, event, data) => send({ type: 'log', level, event, data }),
  },
  cancelOpen.signal,
);

host.then(
  (opened) => send({ type: 'opened', status: opened.status, nonce: opened.nonce, calls: storeCalls }),
  (error: unknown) => send({ type: 'openFailed', error: toWire(error) }),
);

type Question = Extract<Request, { type: 'call' | 'refresh' | 'close' }>;

/** Answers the calls of a port. */
class Answerer {
  /** Answers that wait for the receiver to ask for their next part. */
  private readonly waiting = new Map<number, () => void>();

  constructor(private readonly send: (response: Response, moved?: readonly ArrayBuffer[]) => void) {}

  async answer(request: Question): Promise<void> {
    try {
      await sendAnswer(request.id, await perform(request), (response) => this.sendWhenRead(response));
    } catch (error) {
      this.send({ type: 'failed', id: request.id, error: toWire(error) });
    } finally {
      this.waiting.delete(request.id);
    }
  }

  nextPart(id: number): void {
    this.waiting.get(id)?.();
  }

  /**
   * Parts follow one another when the one before has been read: a thread takes all the messages that have arrived in one turn of its
   * loop, so that parts sent ahead would hold it as long as the whole.
   */
  private async sendWhenRead(response: Answer): Promise<void> {
    this.send(response, response.type === 'done' ? movable(response.value) : []);
    if (response.type === 'part') await new Promise<void>((resolve) => this.waiting.set(response.id, resolve));
  }
}

const answerer = new Answerer(send);
port.on('message', (request: Request) => {
  if (request.type === 'cancelOpen') cancelOpen.abort();
  else if (request.type === 'join') join(request.port);
  else if (request.type === 'nextPart') answerer.nextPart(request.id);
  else void answerer.answer(request);
});

/** Another thread of this window: it calls, and does nothing else to the store. */
function join(joined: MessagePort): void {
  const its = new Answerer((response, moved = []) => joined.postMessage(response, moved));
  joined.on('message', (request: Request) => {
    if (request.type === 'nextPart') its.nextPart(request.id);
    else if (request.type === 'call') void its.answer(request);
  });
}

async function perform(request: Question): Promise<unknown> {
  const opened = await host;
  switch (request.type) {
    case 'call':
      return opened.call(request.method, request.args as CallArguments<StoreCall>);
    case 'refresh':
      return opened.refresh();
    case 'close':
      return opened.close();
  }
}
/** The memory of a blob is handed over instead of copied, unless Node has put other things beside it. */
function movable(value: unknown): ArrayBuffer[] {
  const isAlone = value instanceof Uint8Array && value.buffer instanceof ArrayBuffer && value.byteLength === value.buffer.byteLength;
  return isAlone ? [value.buffer as ArrayBuffer] : [];
}
