import { parentPort, workerData } from 'node:worker_threads';
import type { StoredEntry } from '../../core/session/entry';
import { longestWhole, splitEntries } from './entryParts';
import { StoreHost } from './storeHost';
import { toWire } from './storeProtocol';
import type { CallArguments, Request, Response, StoreCall, WorkerOptions } from './storeProtocol';

const port = parentPort;
if (!port) throw new Error('storeWorker.js runs as a worker thread');
const send = (response: Response, moved: readonly ArrayBuffer[] = []) => port.postMessage(response, moved);

const cancelOpen = new AbortController();
const options = workerData as WorkerOptions;
const host = StoreHost.open(
  options,
  {
    onStatus: (status, nonce) => send({ type: 'status', status, nonce }),
    onLog: (level, event, data) => send({ type: 'log', level, event, data }),
  },
  cancelOpen.signal,
);

host.then(
  (opened) => send({ type: 'opened', status: opened.status, nonce: opened.nonce }),
  (error: unknown) => send({ type: 'openFailed', error: toWire(error) }),
);

/** Answers that wait for the receiver to ask for their next part. */
const waiting = new Map<number, () => void>();

port.on('message', (request: Request) => {
  if (request.type === 'cancelOpen') cancelOpen.abort();
  else if (request.type === 'nextPart') waiting.get(request.id)?.();
  else void answer(request);
});

type Question = Exclude<Request, { type: 'cancelOpen' | 'nextPart' }>;

async function answer(request: Question): Promise<void> {
  try {
    await sendResult(request.id, await perform(request));
  } catch (error) {
    send({ type: 'failed', id: request.id, error: toWire(error) });
  }
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

/**
 * Long lists of entries go in parts, each when the one before it has been read: a thread takes all the messages that have
 * arrived in one turn of its loop, so that parts sent ahead would hold it as long as the whole.
 */
async function sendResult(id: number, value: unknown): Promise<void> {
  const { entries, rest, parts } = takeEntries(value);
  for (const part of splitEntries(entries)) {
    send({ type: 'part', id, part });
    await new Promise<void>((resolve) => waiting.set(id, resolve));
  }
  waiting.delete(id);
  send({ type: 'done', id, value: rest, parts }, movable(rest));
}

/** The memory of a blob is handed over instead of copied, unless Node has put other things beside it. */
function movable(value: unknown): ArrayBuffer[] {
  const isAlone = value instanceof Uint8Array && value.buffer instanceof ArrayBuffer && value.byteLength === value.buffer.byteLength;
  return isAlone ? [value.buffer as ArrayBuffer] : [];
}

function takeEntries(value: unknown): { entries: readonly StoredEntry[]; rest: unknown; parts: 'none' | 'value' | 'property' } {
  if (isLongList(value)) return { entries: value, rest: undefined, parts: 'value' };
  if (typeof value === 'object' && value !== null && 'entries' in value && isLongList(value.entries)) {
    return { entries: value.entries, rest: { ...value, entries: [] }, parts: 'property' };
  }
  return { entries: [], rest: value, parts: 'none' };
}

function isLongList(value: unknown): value is readonly StoredEntry[] {
  return Array.isArray(value) && value.length > longestWhole && typeof value[0] === 'object' && 'seq' in value[0];
}
