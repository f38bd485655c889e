import { parentPort, workerData } from 'node:worker_threads';
import { setImmediate } from 'node:timers/promises';
import type { StoredEntry } from '../../core/session/entry';
import { StoreHost } from './storeHost';
import { toWire } from './storeProtocol';
import type { CallArguments, Request, Response, StoreCall, WorkerOptions } from './storeProtocol';

/** Entries per message: the receiving thread is busy for well under a millisecond at a time. */
const partSize = 100;

const port = parentPort;
if (!port) throw new Error('storeWorker.js runs as a worker thread');
const send = (response: Response) => port.postMessage(response);

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

port.on('message', (request: Request) => {
  if (request.type === 'cancelOpen') cancelOpen.abort();
  else void answer(request);
});

async function answer(request: Exclude<Request, { type: 'cancelOpen' }>): Promise<void> {
  try {
    await sendResult(request.id, await perform(request));
  } catch (error) {
    send({ type: 'failed', id: request.id, error: toWire(error) });
  }
}

async function perform(request: Exclude<Request, { type: 'cancelOpen' }>): Promise<unknown> {
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

/** Long lists of entries go in parts, with a turn of the loop between them. */
async function sendResult(id: number, value: unknown): Promise<void> {
  const { entries, rest, parts } = takeEntries(value);
  for (let from = 0; from < entries.length; from += partSize) {
    send({ type: 'part', id, entries: entries.slice(from, from + partSize) });
    if (from + partSize < entries.length) await setImmediate();
  }
  send({ type: 'done', id, value: rest, parts });
}

function takeEntries(value: unknown): { entries: readonly StoredEntry[]; rest: unknown; parts: 'none' | 'value' | 'property' } {
  if (isEntryList(value)) return { entries: value, rest: undefined, parts: 'value' };
  if (typeof value === 'object' && value !== null && 'entries' in value && isEntryList(value.entries)) {
    return { entries: value.entries, rest: { ...value, entries: [] }, parts: 'property' };
  }
  return { entries: [], rest: value, parts: 'none' };
}

function isEntryList(value: unknown): value is readonly StoredEntry[] {
  return Array.isArray(value) && value.length > partSize && typeof value[0] === 'object' && 'seq' in value[0];
}
