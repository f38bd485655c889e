import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { importTask } from '../../transfer/import/importTask';
import { watchTask } from '../../transfer/watch/watchTask';
import { backUpStore } from '../copies/backupStore';
import { restoreStore } from '../repair/restoreStore';
import { loadSqlite } from '../wasm/sqlite';
import { toWire } from '../client/storeProtocol';
import type { StoreTask, TaskData, TaskMessage } from '../client/storeTask';
import { verifyStore } from '../repair/verifyStore';

const port = parentPort;
if (!port) throw new Error('storeTaskWorker.js runs as a worker thread');
const send = (message: TaskMessage) => port.postMessage(message);
/** All that is ever said to it. */
const stop = new AbortController();
port.once('message', () => stop.abort());

/** While this thread comes to no rest, no event tells it. */
const poll = () => {
  if (receiveMessageOnPort(port)) stop.abort();
};

const { task, wasmFile } = workerData as TaskData;
perform(task).then(
  (value) => send({ type: 'done', value }),
  (error: unknown) => send({ type: 'failed', error: toWire(error) }),
);

async function perform(one: StoreTask): Promise<unknown> {
  const onProgress = (progress: Extract<TaskMessage, { type: 'progress' }>['progress']) => send({ type: 'progress', progress });
  switch (one.kind) {
    case 'verify':
      return verifyStore(await loadSqlite(wasmFile), one.files, one.scratch, onProgress);
    case 'backup':
      return backUpStore(await loadSqlite(wasmFile), one.request, onProgress);
    case 'restore':
      return restoreStore(await loadSqlite(wasmFile), one.request, onProgress);
    case 'import':
      return importTask(one.request, {
        wasmFile,
        signal: stop.signal,
        poll,
        onOutcome: (outcome) => send({ type: 'outcome', outcome }),
        onProgress,
      });
    case 'watch':
      return watchTask(one.request, { wasmFile, signal: stop.signal, tell: (event) => send({ type: 'watched', event }) });
  }
}
