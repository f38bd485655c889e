import { letLostContentsGo } from './verifyContents';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { type Salvage, salvageProblems } from '../../../core/maintenance/reports';
import { patientRenameSync } from '../../runtime/patientRename';
import { syncFolder, writeFileAtomic } from '../database/atomicFile';
import { migrate } from '../database/migrations';
import { rebuildStore } from './rebuildStore';
import { openSalvageImage } from './salvageImage';
import type { Sqlite } from '../wasm/sqlite';
import { createDatabaseFile } from '../database/storeDatabase';
import { readGeneration } from '../database/storeFiles';
import type { StoreFiles } from '../database/storeFiles';

/** A recovery that has taken place, as it is kept in `meta` under `recovery:<time>`. */
export interface Recovery {
  readonly at: number;
  /** What was wrong with the file. */
  readonly reason: string;
  /** Where the damaged file is now; null when there was none. */
  readonly keptAt: string | null;
  /** Null when nothing could be read. */
  readonly salvage: Salvage | null;
}

/** Damage of the database itself; a folder that cannot be read or written, a full disk and a newer program are none. */
export function isDamage(error: unknown): error is StoreError {
  if (!StoreError.is(error)) return false;
  return (
    error.reason === 'corrupt' || (error.reason === 'io' && /no such (table|column)|already exists|is not a database/.test(error.message))
  );
}

/**
 * Puts a store that can be opened in place of a damaged one. What can be read is copied into a new file; only when that is
 * complete and on disk are the damaged files renamed aside, and a plan that survives a crash makes the exchange happen whole or
 * not at all. The caller holds the lease and `beforeExchange` proves it once more. Throws with every file as it was:
 * `newer_schema`, `disk_full`, `permission`, `io`.
 */
export function recoverStore(sqlite: Sqlite, files: StoreFiles, reason: string, beforeExchange: () => void): Recovery {
  const at = Date.now();
  const fresh = `${files.main}.${randomUUID()}.tmp`;
  const keptAt = [files.main, files.wal, files.journal].some((file) => existsSync(file)) ? nameAside(files.main, 'damaged', at) : null;
  const generation = readGeneration(files);
  let recovery: Recovery = { at, reason, keptAt, salvage: null };
  try {
    createDatabaseFile(sqlite, fresh, (target) => {
      migrate(target, () => undefined);
      const source = openSalvageImage(sqlite, files);
      try {
        if (source) recovery = { ...recovery, salvage: emptyAsNull(rebuildStore(source.connection, target, source.leaves)) };
      } finally {
        source?.connection.close();
      }
      target.transaction(() => {
        letLostContentsGo(target, files.folder);
        target.run("INSERT OR REPLACE INTO meta(key, value) VALUES ('generation', ?)", [generation]);
        target.run('INSERT INTO meta(key, value) VALUES (?, ?)', [`recovery:${at}`, JSON.stringify(recovery)]);
      });
    });
    beforeExchange();
    if (existsSync(files.generation)) copyFileSync(files.generation, nameAside(files.generation, 'damaged', at));
    planExchange(files, fresh, keptAt ?? nameAside(files.main, 'damaged', at));
  } catch (error) {
    for (const file of [fresh, `${fresh}.live`, `${fresh}.undo`]) rmSync(file, { force: true });
    throw error;
  }
  finishRecovery(files);
  return recovery;
}

/** A name that is free and says why and when the file was put aside. */
export function nameAside(file: string, why: 'damaged' | 'replaced', at: number): string {
  return freeName(`${file}.${why}-${new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')}`);
}

/** From here on `fresh` takes the place of the store's files and those get the name `keptAt`, at the next `finishRecovery`. */
export function planExchange(files: StoreFiles, fresh: string, keptAt: string): void {
  writeFileAtomic(planFile(files), JSON.stringify({ fresh, keptAt } satisfies Plan));
}

interface Plan {
  readonly fresh: string;
  readonly keptAt: string;
}

/** Completes an exchange of files that a crash has interrupted; does nothing without one. Every step may be repeated. */
export function finishRecovery(files: StoreFiles): void {
  const file = planFile(files);
  if (!existsSync(file)) return;
  const plan = JSON.parse(readFileSync(file, 'utf8')) as Plan;
  // The folder may have been renamed or moved since.
  const [fresh, keptAt] = [join(files.folder, basename(plan.fresh)), join(files.folder, basename(plan.keptAt))];
  if (existsSync(fresh)) {
    // The log first: beside the new file it would be replayed into it.
    const pairs = [
      [files.wal, `${keptAt}.live`],
      [files.journal, `${keptAt}.undo`],
      [files.main, keptAt],
    ] as const;
    for (const [from, to] of pairs) if (existsSync(from)) patientRenameSync(from, to);
    syncFolder(files.folder);
    patientRenameSync(fresh, files.main);
    syncFolder(files.folder);
  }
  // What the new database lacks is read again; what it has is not taken twice.
  rmSync(files.watched, { force: true });
  rmSync(file);
}

/** One sentence or three: what happened, what could not be read, where the old file is. */
export function describeRecovery({ reason, keptAt, salvage }: Recovery): string {
  const text = salvage
    ? describeSalvage(reason, salvage)
    : english('{0}. Nothing could be read of it, so a new, empty history was begun.', reason);
  return keptAt === null ? text : english('{0} The damaged file was kept as {1}.', text, keptAt);
}

function describeSalvage(reason: string, salvage: Salvage): string {
  const { sessions, entries } = salvage;
  const brought = [
    reason,
    english(sessions === 1 ? '{0} session' : '{0} sessions', sessions),
    english(entries === 1 ? '{0} entry' : '{0} entries', entries),
  ] as const;
  const problems = salvageProblems(salvage);
  return problems.length === 0
    ? english('{0}. {1} with {2} were brought over; nothing was lost.', ...brought)
    : english('{0}. {1} with {2} were brought over; not readable: {3}.', ...brought, problems.join(', '));
}

function emptyAsNull(salvage: Salvage): Salvage | null {
  return salvage.sessions + salvage.entries === 0 && salvage.lost.length > 0 ? null : salvage;
}

function planFile(files: StoreFiles): string {
  return join(files.folder, 'recovery.json');
}

function freeName(name: string): string {
  for (let i = 1; ; i++) {
    const candidate = i === 1 ? name : `${name}-${i}`;
    if (!existsSync(candidate)) return candidate;
  }
}
