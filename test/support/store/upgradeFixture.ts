import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { SessionStore } from '../../../src/core/ports';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { projectRoot } from '../paths';

type Read<K extends 'session' | 'entriesBySeq' | 'branches' | 'usageRecords' | 'pins' | 'memoryWrites' | 'summaryRetries' | 'queue'> =
  Awaited<ReturnType<SessionStore[K]>>;

/** A session as 0.1.0 read it back from the history that it had written. */
export interface OldSession {
  readonly session: NonNullable<Read<'session'>>;
  readonly entries: Read<'entriesBySeq'>;
  /** Uuids of the live branch. */
  readonly live: readonly string[];
  readonly branches: Read<'branches'>;
  readonly usage: Read<'usageRecords'>;
  readonly pins: Read<'pins'>;
  readonly memoryWrites: Read<'memoryWrites'>;
  readonly summaryRetries: Read<'summaryRetries'>;
  readonly draft: { readonly text: string } | null;
  readonly queue: Read<'queue'>;
}

export interface OldHistory {
  readonly sessions: readonly OldSession[];
  /** Hash and base64 of each. */
  readonly blobs: readonly (readonly [hash: string, content: string])[];
  /** What each word found first. */
  readonly found: readonly (readonly [word: string, text: string])[];
  readonly calibration: Awaited<ReturnType<SessionStore['calibration']>>;
  readonly notes: readonly string[];
}

interface OldManifest {
  readonly settings: Readonly<
    Record<string, { readonly type: string | string[]; readonly enum?: readonly unknown[]; readonly scope: string }>
  >;
  readonly commands: readonly string[];
}

const fixture = (name: string) => join(projectRoot, 'test', 'fixtures', 'upgrade', '0.1.0', name);
const unpacked = (name: string) => gunzipSync(readFileSync(fixture(`${name}.gz`)));

/** What test/fixtures/upgrade/make.mjs has 0.1.0 write. */
export const version010 = {
  history: () => JSON.parse(unpacked('expected.json').toString()) as OldHistory,
  manifest: () => JSON.parse(readFileSync(fixture('manifest.json'), 'utf8')) as OldManifest,
  registry: () => JSON.parse(readFileSync(fixture('registry.json'), 'utf8')) as { readonly name: string; readonly content: string },
  export: (name: 'all' | 'one' | 'redacted') => unpacked(`exports/${name}.json`),
  backup: () => unpacked('backup.db'),
  database: () => unpacked('threadkeeper.db'),
} as const;

/** Its store with attachments and notes, as an update of the extension finds it. */
export function layVersion010(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ['blobs', 'notes', 'generation.json']) cpSync(fixture(name), join(folder, name), { recursive: true });
  writeFileSync(storeFiles(folder).main, version010.database());
}

/** The same reading by the program of now. */
export async function readSession(store: SessionStore, uuid: string): Promise<OldSession> {
  const session = await store.session(uuid);
  if (!session) throw new Error(`there is no session ${uuid}`);
  return {
    session,
    entries: await store.entriesBySeq(await store.entrySeqs(uuid)),
    live: (await store.liveBranch(uuid)).entries.map((entry) => entry.uuid),
    branches: await store.branches(uuid),
    usage: await store.usageRecords(uuid),
    pins: await store.pins(uuid),
    memoryWrites: await store.memoryWrites(uuid, { limit: 50 }),
    summaryRetries: await store.summaryRetries(uuid),
    draft: (await store.draft(uuid)) ?? null,
    queue: await store.queue(uuid),
  };
}
