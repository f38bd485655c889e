import { errorText, StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { ContentsCount, TaskProgress, VerifyReport } from '../../../core/maintenance/reports';
import type { Connection } from '../database/connection';
import type { DatabaseFiles } from '../wasm/fileBridge';
import { findSilentDamage } from '../database/logDamage';
import { schemaVersion } from '../database/migrations';
import {
  blobStore,
  countContents,
  fileOfContent,
  knownBlobs,
  verifyBodies,
  entryName,
  ProblemList,
  verifyDerived,
  verifyTree,
} from './verifyContents';
import { copyStore } from '../copies/readonlyCopy';
import { isDamage } from './recoverStore';
import { applicationId } from '../database/schema';
import type { Sqlite } from '../wasm/sqlite';
import { openCopy } from '../database/storeDatabase';
import { checkDatabaseFile, readGeneration, sizeOf } from '../database/storeFiles';
import type { StoreFiles } from '../database/storeFiles';

/**
 * Checks everything that can be checked, on a private copy below `scratch`: the store itself may be in use by any process, and is
 * not touched. What it cannot see is a wrong byte in a long draft or in the search index: only entries have a checksum. Throws what keeps
 * it from looking (`newer_schema`, `permission`, `disk_full`, `io`); damage is no reason to throw.
 */
export function verifyStore(
  sqlite: Sqlite,
  files: StoreFiles,
  scratch: string,
  onProgress: (progress: TaskProgress) => void,
): VerifyReport {
  return verifyCopy(sqlite, files, (copyFrom) => copyStore(copyFrom, scratch).files, onProgress);
}

/** Checks as `verifyStore` does; `copy` says where the copy is, once the store has proven worth one. */
export function verifyCopy(
  sqlite: Sqlite,
  files: StoreFiles,
  makeCopy: (files: StoreFiles) => DatabaseFiles,
  onProgress: (progress: TaskProgress) => void,
): VerifyReport {
  const problems = new ProblemList();
  const checked = { pages: 0, sessions: 0, entries: 0, blobs: 0, contents: { kept: 0, bytes: 0, letGo: 0 } };
  const report = (): VerifyReport => ({ file: files.main, checked, problems: problems.problems, more: problems.more });
  try {
    if (!checkDatabaseFile(files).exists) throw new StoreError('io', english('There is no history here: {0} does not exist', files.main));
  } catch (error) {
    if (!isDamage(error)) throw error;
    problems.add('file', files.main, `${error.message}.`);
    return report();
  }
  onProgress({ phase: english('Copying'), done: 0, total: sizeOf(files.main) });
  const copy = makeCopy(files);
  const { pageSize } = checkDatabaseFile({ ...files, ...copy });
  const silent = findSilentDamage(copy, pageSize);
  if (silent !== null) problems.add('file', files.main, english('{0}: what was written last may be missing.', capital(silent)));
  let opened: ReturnType<typeof openCopy>;
  try {
    opened = openCopy(sqlite, copy);
  } catch (error) {
    // One that was in use before is not "still being created".
    const isUnready = !isDamage(error) && silent === null && readGeneration(files) === 0;
    if (isUnready || (StoreError.is(error) && ['disk_full', 'permission', 'newer_schema'].includes(error.reason))) throw error;
    problems.add('file', files.main, english('SQLite cannot open it: {0}.', errorText(error)));
    return report();
  }
  try {
    const check = new DatabaseCheck(opened.connection, problems, onProgress, (text) => text.replaceAll(copy.main, files.main));
    check.identity();
    checked.pages = check.pages();
    Object.assign(checked, check.rows());
    checked.blobs = check.blobs(files.folder);
    checked.contents = check.contents();
    check.generation(readGeneration(files));
  } finally {
    opened.abandon();
  }
  return report();
}

class DatabaseCheck {
  constructor(
    private readonly connection: Connection,
    private readonly problems: ProblemList,
    private readonly onProgress: (progress: TaskProgress) => void,
    /** Errors name the copy, which is gone when they are read. */
    private readonly aboutOriginal: (text: string) => string,
  ) {}

  identity(): void {
    this.guarded(english('the header'), () => {
      const found = Number(this.connection.get('PRAGMA application_id')?.['application_id']);
      if (found !== applicationId)
        this.problems.add('file', english('the header'), english('It does not say that the file is a Threadkeeper history.'));
      if (schemaVersion(this.connection) === 0)
        this.problems.add('file', english('the header'), english('It does not say which version the history has.'));
    });
  }

  /** All of them, those in use by nothing included. */
  pages(): number {
    const total = this.count('PRAGMA page_count', 'page_count');
    this.onProgress({ phase: english('Checking pages'), done: 0, total });
    this.guarded(english('the pages'), () => {
      for (const row of this.connection.iterate('PRAGMA integrity_check')) {
        const text = String(row['integrity_check']);
        if (text !== 'ok')
          this.problems.add(
            'page',
            text.replace(/\s+/g, ' ').trim(),
            english('A part of the file is damaged. What it holds may be missing or not found.'),
          );
      }
    });
    return total;
  }

  rows(): { readonly sessions: number; readonly entries: number } {
    const sessions = this.count('SELECT count(*) AS n FROM sessions');
    const entries = this.count('SELECT count(*) AS n FROM entries');
    this.guarded(english('the contents of the entries'), () => {
      const damaged = (seq: number) =>
        this.problems.add(
          'content',
          entryName(this.connection, seq),
          english('What it says is not what was written. A repair marks it and keeps what can be read.'),
        );
      for (const done of verifyBodies(this.connection, damaged)) {
        if (done % 1000 === 0) this.onProgress({ phase: english('Checking entries'), done, total: entries });
      }
    });
    this.onProgress({ phase: english('Checking sessions'), done: 0, total: sessions });
    this.guarded(english('the sessions'), () => verifyTree(this.connection, this.problems));
    this.guarded(english('the numbers and the search index'), () => verifyDerived(this.connection, this.problems));
    return { sessions, entries };
  }

  blobs(folder: string): number {
    return (
      this.guarded(english('the attachments'), () => {
        const known = knownBlobs(this.connection);
        const store = blobStore(this.connection, folder);
        known.forEach(({ hash, entry, isFileContent }, done) => {
          this.onProgress({ phase: english('Checking attachments'), done, total: known.length });
          const problem = store.problem(hash);
          if (problem === null) return;
          if (isFileContent) return this.lostContent(hash, problem);
          const where = entry === null ? english('attachment {0}', hash.slice(0, 12)) : entryName(this.connection, entry);
          this.problems.add('blob', where, english('An attachment or long text is {0}. Only a backup can bring it back.', problem), false);
        });
        return known.length;
      }) ?? 0
    );
  }

  contents(): ContentsCount {
    return this.guarded(english('the contents of files'), () => countContents(this.connection)) ?? { kept: 0, bytes: 0, letGo: 0 };
  }

  private lostContent(hash: string, problem: string): void {
    const found = fileOfContent(this.connection, hash);
    if (problem === 'unreadable') {
      const where = found ? entryName(this.connection, found.entry) : english('content {0}', hash.slice(0, 12));
      const meaning = english('What a file held cannot be read now: another program may hold it, or you may not read it. It is kept.');
      return this.problems.add('blob', where, meaning, false);
    }
    if (found) {
      const meaning = english(
        'What {0} held is {1}: it cannot be restored from here. A repair notes that; a backup can bring it back.',
        found.path,
        problem,
      );
      return this.problems.add('blob', entryName(this.connection, found.entry), meaning);
    }
    this.problems.add(
      'blob',
      english('content {0}', hash.slice(0, 12)),
      english('The content of a file is {0}, but nothing needs it. A repair forgets it.', problem),
    );
  }

  generation(expected: number): void {
    this.guarded(english('the marker of the last use'), () => {
      const found = this.count("SELECT value AS n FROM meta WHERE key = 'generation'");
      if (found < expected) {
        this.problems.add(
          'generation',
          english('the file'),
          english(
            'It is older than when it was last used ({0} against {1}): an old copy was put back, or its last writes are missing.',
            found,
            expected,
          ),
        );
      }
    });
  }

  private count(sql: string, column = 'n'): number {
    return this.guarded(english('the file'), () => Number(this.connection.get(sql)?.[column] ?? 0)) ?? 0;
  }

  /** A damaged page ends one check and not those after it. */
  private guarded<T>(where: string, check: () => T): T | undefined {
    try {
      return check();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.problems.add('page', where, english('Not readable to the end: {0}.', this.aboutOriginal(error.message)));
      return undefined;
    }
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
