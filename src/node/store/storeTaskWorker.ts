import { parentPort, workerData } from 'node:worker_threads';
import { backUpStore } from './backupStore';
import { restoreStore } from './restoreStore';
import { loadSqlite } from './sqlite';
import type { Sqlite } from './sqlite';
import { toWire } from './storeProtocol';
import type { StoreTask, TaskData, TaskMessage } from './storeTask';
import { verifyStore } from './verifyStore';

const port = parentPort;
if (!port) throw new Error('storeTaskWorker.js runs as a worker thread');
const send = (message: TaskMessage) => port.postMessage(message);

const { task, wasmFile } = workerData as TaskData;
loadSqlite(wasmFile)
  .then((sqlite) => perform(sqlite, task))
  .then(
    (value) => send({ type: 'done', value }),
    (error: unknown) => send({ type: 'failed', error: toWire(error) }),
  );

function perform(sqlite: Sqlite, one: StoreTask): unknown {
  const onProgress = (progress: Extract<TaskMessage, { type: 'progress' }>['progress']) => send({ type: 'progress', progress });
  switch (one.kind) {
    case 'verify':
      return verifyStore(sqlite, one.files, one.scratch, onProgress);
    case 'backup':
      return backUpStore(sqlite, one.request, onProgress);
    case 'restore':
      return restoreStore(sqlite, one.request, onProgress);
  }
}
