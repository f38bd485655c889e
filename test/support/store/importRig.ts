import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { estimateTokens } from '../../../src/core/context/measure/estimateTokens';
import { project, type Projection } from '../../../src/core/context/projection/projection';
import type { SessionStore } from '../../../src/core/ports';
import { entryText, type StoredEntry } from '../../../src/core/session/entry';
import type { ImportedSession, ImportReport } from '../../../src/core/transfer/importReport';
import { UuidV7 } from '../../../src/node/runtime/ids';
import { importFiles, type ImportOptions } from '../../../src/node/transfer/import/importFiles';
import { projectRoot } from '../paths';
import { openTestStore, tempFolder, wasmFile, type TempFolder } from './storeTemp';
import { testFrames } from '../chat/testFrames';

export const importFixtures = join(projectRoot, 'test', 'fixtures', 'import');

/** A store and a folder of sources. */
export class ImportRig {
  private constructor(
    readonly temp: TempFolder,
    readonly store: SessionStore,
  ) {}

  static async open(): Promise<ImportRig> {
    const temp = tempFolder();
    return new ImportRig(temp, await openTestStore(join(temp.path, 'store')));
  }

  /** Writes a source; rows become lines of JSON, texts stand as they are. */
  source(name: string, rows: readonly unknown[] | string | Uint8Array): string {
    const file = join(this.temp.path, 'sources', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      typeof rows === 'string' || rows instanceof Uint8Array
        ? rows
        : rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''),
    );
    return file;
  }

  import(paths: string | readonly string[], more: Partial<ImportOptions> = {}): Promise<ImportReport> {
    return importFiles(typeof paths === 'string' ? [paths] : paths, {
      store: this.store,
      ids: new UuidV7(),
      now: Date.now,
      wasmFile,
      ...more,
    });
  }

  /** Of a source that holds one session, and nothing that fails. */
  async only(path: string): Promise<ImportedSession> {
    const { sessions, failed } = await this.import(path);
    assert.deepEqual([failed, sessions.length], [[], 1]);
    return sessions[0]!;
  }

  async entries(uuid: string): Promise<StoredEntry[]> {
    return this.store.entriesBySeq(await this.store.entrySeqs(uuid));
  }

  async branch(uuid: string): Promise<readonly StoredEntry[]> {
    return (await this.store.liveBranch(uuid)).entries;
  }

  async projection(uuid: string): Promise<Projection> {
    return project({
      entries: await this.branch(uuid),
      system: 's',
      tools: [],
      budget: { oversized: 100_000 },
      model: 'claude-test',
      frames: testFrames,
      tokensOf: (entry) => estimateTokens(entryText(entry.content)),
      estimate: estimateTokens,
    });
  }

  async close(): Promise<void> {
    await this.store.close();
    this.temp.remove();
  }
}

/** What can be said of an entry in a word. */
export function brief({ content }: StoredEntry): string {
  switch (content.type) {
    case 'message':
      return `${content.role}: ${content.text}`;
    case 'tool_call':
      return `call ${content.callId} ${content.name} ${JSON.stringify(content.input)}`;
    case 'tool_result':
      return `result ${content.callId} ${content.name} ${content.status}: ${content.text}`;
    case 'compaction':
      return `compaction: ${content.summaryText}`;
    case 'custom':
      return `custom ${content.customType}`;
    case 'custom_message':
      return `${content.customType}: ${content.text}`;
    case 'branch_summary':
    case 'thinking':
      return `${content.type}: ${content.text}`;
    case 'label':
      return `label: ${content.label}`;
    case 'session_info':
      return `title: ${content.title}`;
    case 'model_change':
      return `model: ${content.model}`;
    default:
      return content.type;
  }
}
