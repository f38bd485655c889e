import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SqlValue } from 'sql.js';
import * as z from 'zod/mini';
import { parseForeign } from '../../../core/transfer/formats/foreignJson';
import type { ForeignDatabase } from '../foreign/foreignDatabase';
import { UnpackBudget, unpackZstd } from '../foreign/unpackZstd';

/** A session whose records are no longer in the database. */
interface ColdArchive {
  readonly session: string;
  readonly sha256: string;
  readonly records: number;
}

/** Lines of an archive, of which the other kinds are indices that OpenClaw makes from these. */
const Header = z.object({ kind: z.literal('header'), version: z.literal(1), sessionId: z.string() });
const Event = z.object({ kind: z.literal('event'), row: z.object({ event_json: z.string() }) });

/** OpenClaw gives such names; nothing else becomes part of a path. */
const fileName = /^[a-f\d]{64}\.jsonl\.zst$/;

/**
 * The sessions that OpenClaw has put away once they were old (`session.maintenance.coldStorage`, seen in 2026.9.6): compressed, in the
 * folder `sessions/cold` of the agent or in a column of the database. They go back to the database when they are opened there.
 */
export class ColdArchives {
  private readonly archives: readonly ColdArchive[];
  private readonly budget = new UnpackBudget();
  /** Sessions whose archive is not there, damaged, or of a kind that is not known; known once `open` has come to its end. */
  unread = 0;

  /** `only`: of this session. Omitted: of all. */
  constructor(
    private readonly database: ForeignDatabase,
    private readonly file: string,
    only?: string,
  ) {
    this.archives = archivesIn(database, only);
  }

  get records(): number {
    return this.archives.reduce((sum, { records }) => sum + records, 0);
  }

  /** What tells the archives apart from others; empty: there are none. */
  get stamp(): string {
    return this.archives.map(({ session, sha256 }) => `${session}:${sha256}`).join();
  }

  /** The records of each session, in their order. One that cannot be read is counted and left out. */
  *open(): Generator<{ readonly session: string; readonly texts: readonly string[] }, void, void> {
    for (const archive of this.archives) {
      const texts = this.textsOf(archive);
      if (texts) yield { session: archive.session, texts };
      else this.unread++;
    }
  }

  private textsOf({ session, sha256, records }: ColdArchive): string[] | null {
    try {
      const bytes = this.bytesOf(session);
      const unpacked = hash('sha256', bytes, 'hex') === sha256 ? unpackZstd(bytes, this.budget) : null;
      if (!unpacked) return null;
      const [header, ...lines] = Buffer.from(unpacked)
        .toString('utf8')
        .trimEnd()
        .split('\n')
        .map((line) => parseForeign(line)?.value);
      if (Header.parse(header).sessionId !== session) return null;
      const texts = lines.map((line) => Event.safeParse(line)).flatMap(({ data }) => (data ? [data.row.event_json] : []));
      return texts.length === records ? texts : null;
    } catch {
      return null;
    }
  }

  private bytesOf(session: string): Uint8Array {
    const [row] = [...this.database.rows(table, ['archive_blob', 'archive_name'], { equal: { session_id: session }, limit: 1 })];
    const blob = row?.['archive_blob'];
    if (blob instanceof Uint8Array) return blob;
    const name = String(row?.['archive_name']);
    if (!fileName.test(name)) throw new Error('No name of an archive');
    return readFileSync(join(this.folder, name));
  }

  /** It lies beside the folder of the database, where that is OpenClaw's own. */
  private get folder(): string {
    const beside = dirname(this.file);
    return basename(beside) === 'agent' ? join(dirname(beside), 'sessions', 'cold') : join(beside, 'cold');
  }
}

const table = 'session_transcript_cold_archives';

function archivesIn(database: ForeignDatabase, only?: string): ColdArchive[] {
  if (!database.columns(table).has('session_id')) return [];
  const rows = [
    ...database.rows(table, ['session_id', 'archive_sha256', 'event_count'], {
      ...(only === undefined ? {} : { equal: { session_id: only } }),
      order: ['session_id'],
    }),
  ];
  const isBack = (session: SqlValue) =>
    [...database.rows('transcript_events', ['session_id'], { equal: { session_id: session }, limit: 1 })].length > 0;
  return rows
    .filter((row) => !isBack(row['session_id'] ?? null))
    .map((row) => ({ session: String(row['session_id']), sha256: String(row['archive_sha256']), records: Number(row['event_count']) }));
}
