import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { Connection } from './connection';
import {
  applicationId,
  schemaV1,
  schemaV2,
  schemaV3,
  schemaV4,
  schemaV5,
  schemaV6,
  schemaV7,
  schemaV8,
  schemaV9,
  schemaV10,
  schemaV11,
} from './schema';

/** Brings the file from version `to - 1` to `to`. What has shipped is never edited, only followed by another. */
export interface Migration {
  readonly to: number;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [
  { to: 1, sql: `PRAGMA application_id = ${applicationId}; ${schemaV1}` },
  { to: 2, sql: schemaV2 },
  { to: 3, sql: schemaV3 },
  { to: 4, sql: schemaV4 },
  { to: 5, sql: schemaV5 },
  { to: 6, sql: schemaV6 },
  { to: 7, sql: schemaV7 },
  { to: 8, sql: schemaV8 },
  { to: 9, sql: schemaV9 },
  { to: 10, sql: schemaV10 },
  { to: 11, sql: schemaV11 },
];

export function newestVersion(list: readonly Migration[] = migrations): number {
  return list.at(-1)?.to ?? 0;
}

/**
 * Brings the file up to date, each migration in a transaction of its own. `keepCopy` runs before an existing file is changed.
 * Throws `newer_schema` for a file this program is too old for; a failed migration leaves the file at the version before it.
 */
export function migrate(connection: Connection, keepCopy: (version: number) => void, list: readonly Migration[] = migrations): void {
  const version = schemaVersion(connection);
  refuseNewer(version, connection.file, list);
  const pending = list.filter((migration) => migration.to > version);
  if (version > 0 && pending.length > 0) keepCopy(version);
  for (const migration of pending) {
    connection.transaction(() => connection.exec(`${migration.sql}; PRAGMA user_version = ${migration.to};`));
  }
}

export function refuseNewer(version: number, file: string, list: readonly Migration[] = migrations): void {
  if (version <= newestVersion(list)) return;
  throw new StoreError(
    'newer_schema',
    english(
      '{0} was written by a newer version of Threadkeeper ({1}; this one knows up to {2}). Update Threadkeeper to use it',
      file,
      version,
      newestVersion(list),
    ),
  );
}

export function schemaVersion(connection: Connection): number {
  return Number(connection.get('PRAGMA user_version')?.['user_version'] ?? 0);
}
