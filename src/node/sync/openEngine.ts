import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { untilAborted } from '../../core/base/untilAborted';
import { CancelledError } from '../../core/errors';
import type { SyncEngine } from '../../core/sync/syncEngine';
import { FolderEngine } from './folderEngine';
import type { openPostgres } from './postgresEngine';

export interface EngineAccess {
  readonly history: string;
  /** Makes the history when it is not there. */
  readonly create: boolean;
  /** The database asks for it; without it the client takes PGPASSWORD or ~/.pgpass. */
  readonly password?: string;
  /** Folder of the program's bundles: the client of databases is one of its own, loaded when it is needed. */
  readonly bundles: string;
  /** Whoever waits goes at once: a server that is not there may take ten seconds to say so. */
  readonly signal?: AbortSignal;
}

export function isDatabase(engine: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(engine);
}

/** As it is kept: a folder with its whole path. An address with a password in it is null, because where it is kept is no place for one. */
export function engineAddress(engine: string): string | null {
  if (!isDatabase(engine)) return resolve(engine);
  const url = new URL(engine);
  return url.password === '' && !url.searchParams.has('password') ? engine : null;
}

/** Rejects with `EngineError`, and with `CancelledError` when it is not wanted any more. */
export async function openEngine(engine: string, access: EngineAccess): Promise<SyncEngine> {
  const opening = openNow(engine, access);
  if (!access.signal) return opening;
  return untilAborted(opening, access.signal, () => {
    opening.then((late) => late.close()).catch(() => undefined);
    throw new CancelledError();
  });
}

async function openNow(engine: string, { history, create, password, bundles }: EngineAccess): Promise<SyncEngine> {
  if (!isDatabase(engine)) return FolderEngine.open(engine, history, create);
  const bundle = createRequire(__filename)(join(bundles, 'postgresEngine.js')) as { readonly openPostgres: typeof openPostgres };
  return bundle.openPostgres(engine, history, create, password);
}
