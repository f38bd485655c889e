import { realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import type { ProgramId, ProgramStatus } from '../../../core/transfer/programs';
import { UuidV7 } from '../../runtime/ids';
import { joinStore, type JoinedPort } from '../../store/client/storePort';
import { AgentWatch } from './agentWatch';
import { places } from './places';
import { thisMachine } from './thisMachine';
import { WatchMemory } from './watchMemory';

export interface WatchRequest {
  readonly programs: readonly ProgramId[];
  /** Only sessions about these folders, and what lies in them; null: all that there are. */
  readonly folders: readonly string[] | null;
  /** Folders of the workspace. */
  readonly workspace: readonly string[];
  /** What need not be read again is noted here. */
  readonly memoryFile: string;
  readonly store: JoinedPort;
}

export type WatchEvent =
  | { readonly type: 'added'; readonly session: string }
  | { readonly type: 'status'; readonly programs: readonly ProgramStatus[] };

/** What the thread of `watchInThread` does, until it is stopped. */
export async function watchTask(
  { programs, folders, workspace, memoryFile, store }: WatchRequest,
  { wasmFile, signal, tell }: { readonly wasmFile: string; readonly signal: AbortSignal; readonly tell: (event: WatchEvent) => void },
): Promise<void> {
  const machine = thisMachine(workspace);
  const memory = new WatchMemory(memoryFile, JSON.stringify(folders));
  await memory.load();
  const watch = new AgentWatch({
    places: programs.flatMap((program) => places[program](machine).map((place) => ({ program, place }))),
    store: joinStore(store),
    ids: new UuidV7(),
    now: Date.now,
    wasmFile,
    memory,
    isWanted: wantedIn(folders),
    added: (session) => tell({ type: 'added', session }),
    told: (status) => tell({ type: 'status', programs: status }),
  });
  try {
    await watch.start();
    if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  } finally {
    await watch.stop();
    store.port.close();
  }
}

/** Whether a session that was in a folder is wanted, where those of `folders` are; null: all are. */
export function wantedIn(folders: readonly string[] | null): (cwd: string | null) => boolean {
  if (folders === null) return () => true;
  const roots = [...new Set(folders.flatMap((folder) => [folder, realOf(folder)]))];
  return (cwd) => cwd !== null && roots.some((root) => isWithin(root, cwd));
}

function isWithin(root: string, folder: string): boolean {
  const [a, b] = process.platform === 'linux' ? [root, folder] : [root.toLowerCase(), folder.toLowerCase()];
  const way = relative(a, b);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
