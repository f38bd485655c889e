import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Emitter } from '../../../src/core/base/event';
import type { SessionStore, StoreStatus } from '../../../src/core/ports';
import type { StoreChange } from '../../../src/core/session/storage';
import type { NewEntry } from '../../../src/core/session/entry';
import { StoreSupervisor } from '../../../src/node/store/owner/storeSupervisor';
import type { HostOptions } from '../../../src/node/store/owner/storeSupervisor';
import { callsOver } from '../../../src/node/store/client/storeCalls';
import { storeCalls } from '../../../src/node/store/owner/storeOperations';

/** The bundles of tests lie in folders of their own below it. */
const dist = findUp('sql-wasm.wasm', __dirname);
export const wasmFile = join(dist, 'sql-wasm.wasm');
export const workerFile = join(dist, 'storeWorker.js');

export interface TempFolder {
  readonly path: string;
  remove(): void;
}

export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'tk-store-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The host in this thread, without the worker around it. */
export function openHost(
  folder: string,
  options: Partial<HostOptions> = {},
  onStatus: (status: StoreStatus) => void = () => undefined,
  onChange: (change: StoreChange) => void = () => undefined,
): Promise<StoreSupervisor> {
  return StoreSupervisor.open(
    { folder, wasmFile, waitForOwnerMs: 0, label: 'test', readonly: false, ...options },
    { onStatus, onChange, onLog: () => undefined },
  );
}

/** A real store in this thread as the port that everything else sees. */
export async function openTestStore(folder: string, label = 'test'): Promise<SessionStore> {
  const statusChanged = new Emitter<StoreStatus>();
  const changed = new Emitter<StoreChange>();
  const host = await openHost(
    folder,
    { waitForOwnerMs: 1000, label },
    (status) => statusChanged.fire(status),
    (change) => changed.fire(change),
  );
  return {
    get status() {
      return host.status;
    },
    onDidChangeStatus: statusChanged.event,
    onDidChange: changed.event,
    ...callsOver(storeCalls, (method, args) => host.call(method, args)),
    refresh: () => host.refresh(),
    close: () => host.close(),
  };
}

let counter = 0;

/** Unique, and sorted by creation as a UUID v7 is. */
export function testUuid(): string {
  const n = (++counter).toString(16).padStart(12, '0');
  return `01930000-0000-7000-8000-${n}`;
}

export function userMessage(session: string, parent: string | null, text: string, more: Partial<NewEntry> = {}): NewEntry {
  return {
    uuid: testUuid(),
    session,
    parent,
    createdAt: 1_763_800_000_000 + counter,
    modelFacing: true,
    display: true,
    tokenEstimate: 3,
    content: { type: 'message', role: 'user', text },
    ...more,
  };
}

function findUp(name: string, from: string): string {
  if (existsSync(join(from, name))) return from;
  if (dirname(from) === from) throw new Error(`${name} is not there: build first`);
  return findUp(name, dirname(from));
}
