import { createHash } from 'node:crypto';
import type { PassageVector, QueryVector, Unembedded, VectorStatus } from '../../../core/embeddings/embeddings';
import { meantShares, mostMeant, VectorTable } from '../../../core/embeddings/vectors';
import type { Meant } from '../../../core/recall/contextScores';
import { passagesOf, type HistoryPassage } from '../../../core/recall/history';
import type { Operations } from '../client/storeCalls';
import type { Connection, Row } from '../database/connection';
import { entrySelection } from '../rows/entryCodec';
import type { EntryRows } from '../rows/entryRows';
import type { SearchIndex } from './searchIndex';
import type { SearchScope } from './searchScope';

const spaceKey = 'vector_space';

/** What all vectors together take at most, in the file and in memory once somebody searches: 43,000 passages at 768 numbers. */
const mostBytes = 32 * 1024 * 1024;
/** "ok", "thanks": no model makes anything of it that words would not find. */
const leastLength = 12;
/** Passages that one call looks at, about 40 µs each. */
const lookedAtOnce = 400;
/** Another window's call waits for so long at most. */
const indexMs = 15;
/** Models have this many numbers in a vector as a rule; until the first has come it is taken for that. */
const usualDimensions = 768;

/** What was said, by people and models: what tools returned is found by its words, and would be nine tenths of the vectors. */
const embeddable = `e.entry_type NOT IN ('tool_call', 'tool_result') AND p.length >= ${leastLength}
  AND e.session NOT IN (SELECT uuid FROM sessions WHERE deleted_at IS NOT NULL)`;
const passages = 'passages p CROSS JOIN entries e ON e.seq = p.entry';

/** Vectors of the index's passages. They are made elsewhere, the newest first; `unembedded` tells what is missing. */
export class VectorRows {
  /** Between these two all have their vectors, but for what was in the trash. */
  private done: { low: number; high: number } | undefined;
  /** The sessions that were in the trash when vectors were last asked for; undefined before that. */
  private trashed: ReadonlySet<string> | undefined;
  /** What a search reads, once there was one. */
  private table: VectorTable | undefined;
  /** Passages or vectors may have lost what they belong to. */
  private isUntidy = true;
  private isAvailable: boolean | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly entries: Pick<EntryRows, 'decode'>,
    private readonly limits: { readonly bytes: number } = { bytes: mostBytes },
  ) {}

  unembedded(space: string, most: number): Unembedded {
    return this.connection.transaction(() => {
      this.use(space);
      const found = new Map<string, string>();
      const isAll = this.follow('up', found, most, lookedAtOnce) && this.follow('down', found, most, this.capacity - this.embedded);
      return { passages: [...found].map(([hash, text]) => ({ hash, text })), more: !isAll || found.size > 0 };
    });
  }

  save(space: string, vectors: readonly PassageVector[]): void {
    this.connection.transaction(() => {
      if (this.space !== space) return;
      // Another model under the same name, or the same with another setting.
      const length = vectors.find(({ vector }) => vector.length > 0)?.vector.length ?? 0;
      const before = this.dimensions;
      if (length > 0 && before > 0 && length !== before) this.clear();
      for (const { hash, vector } of vectors)
        this.connection.run('INSERT OR IGNORE INTO vectors(hash, vector) VALUES (?, ?)', [bytesOf(hash), toBytes(vector)]);
    });
  }

  status(): VectorStatus {
    if (!this.available) return { space: null, embedded: 0, passages: 0, bytes: 0, full: false };
    const number = (sql: string) => Number(this.connection.get(sql)?.['n'] ?? 0);
    const { embedded } = this;
    const all = number(`SELECT count(*) AS n FROM ${passages} WHERE ${embeddable}`);
    return {
      space: this.space,
      embedded,
      passages: all,
      bytes: number('SELECT total(length(vector)) AS n FROM vectors'),
      full: embedded < all && embedded >= this.capacity,
    };
  }

  /** Places in the scope that are similar to the query; none where the vectors are those of another model. */
  nearest({ space, vector }: QueryVector, scope: Pick<SearchScope, 'within' | 'matching'>): Meant[] {
    if (!this.available || this.space !== space) return [];
    if (this.table?.dimensions !== vector.length) this.table = this.load(vector.length);
    const wanted = this.inScope(scope);
    const found = this.table.nearest(vector, mostMeant, (id) => wanted === null || wanted.has(id));
    const shares = meantShares(found.map(({ cosine }) => cosine));
    return found.flatMap(({ id }, i) => {
      const share = shares[i] ?? 0;
      if (share === 0) return [];
      const row = this.connection.get('SELECT session, position FROM passages WHERE id = ?', [id]);
      return row ? [{ group: Number(row['session']), position: Number(row['position']), share }] : [];
    });
  }

  /** The passages are numbered anew; their vectors wait for them under the hash of their text. */
  forgetPassages(): void {
    this.connection.exec('DELETE FROM passage_vectors');
    [this.done, this.table, this.isUntidy] = [undefined, undefined, true];
  }

  /** What a model made of a text that is purged tells something of it. */
  purge(seqs: readonly number[]): void {
    this.connection.run(
      `DELETE FROM vectors WHERE id IN (SELECT v.vector FROM passages p JOIN passage_vectors v ON v.passage = p.id
         WHERE p.entry IN (SELECT value FROM json_each(?)))`,
      [JSON.stringify(seqs)],
    );
    this.table = undefined;
  }

  /** False for a store of an older version that must not be changed. */
  private get available(): boolean {
    return (this.isAvailable ??= this.connection.get("SELECT 1 FROM sqlite_master WHERE name = 'passage_vectors'") !== undefined);
  }

  private get space(): string | null {
    const row = this.connection.get('SELECT value FROM meta WHERE key = ?', [spaceKey]);
    return row ? String(row['value']) : null;
  }

  private get embedded(): number {
    return Number(this.connection.get('SELECT count(*) AS n FROM passage_vectors')?.['n'] ?? 0);
  }

  private get capacity(): number {
    return Math.floor(this.limits.bytes / (this.dimensions || usualDimensions));
  }

  /** It is that of the newest; 0 where there is none. */
  private get dimensions(): number {
    const row = this.connection.get('SELECT max(length(vector)) AS n FROM (SELECT vector FROM vectors ORDER BY id DESC LIMIT 8)');
    return Number(row?.['n'] ?? 0);
  }

  private clear(): void {
    this.connection.exec('DELETE FROM vectors; DELETE FROM passage_vectors');
    [this.done, this.table] = [undefined, undefined];
  }

  private use(space: string): void {
    if (this.space !== space) {
      this.clear();
      this.connection.run('INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)', [spaceKey, space]);
    }
    this.done ??= this.embeddedRange();
    const trashed = new Set(this.connection.all('SELECT uuid FROM sessions WHERE deleted_at IS NOT NULL').map(({ uuid }) => String(uuid)));
    // What has left the trash may stand anywhere between: all of it is gone over again, past what has its vectors. The same where nobody
    // knows what has left it.
    if (this.trashed === undefined || [...this.trashed].some((session) => !trashed.has(session))) this.done.high = this.done.low - 1;
    this.trashed = trashed;
  }

  private embeddedRange(): { low: number; high: number } {
    const row = this.connection.get('SELECT min(passage) AS low, max(passage) AS high FROM passage_vectors');
    const next = Number(this.connection.get('SELECT max(id) AS n FROM passages')?.['n'] ?? 0) + 1;
    return typeof row?.['low'] !== 'number' ? { low: next, high: next - 1 } : { low: Number(row['low']), high: Number(row['high']) };
  }

  /**
   * Goes on from what is done until `most` passages are found that have no vector, over `room` passages at most; returns whether it has
   * come to the end.
   */
  private follow(way: 'up' | 'down', found: Map<string, string>, most: number, room: number): boolean {
    const { done } = this;
    if (!done || room <= 0) return true;
    const [from, sql] = way === 'up' ? [done.high, 'p.id > ? {} ORDER BY p.id'] : [done.low, 'p.id < ? {} ORDER BY p.id DESC'];
    let isUnbroken = true;
    let read: { readonly entry: unknown; readonly passages: readonly HistoryPassage[] } = { entry: null, passages: [] };
    const rows = this.connection.all(
      `SELECT p.id AS passage, p.part AS part, ${entrySelection} FROM ${passages} CROSS JOIN bodies b ON b.entry = e.seq
       WHERE ${sql.replace('{}', `AND ${embeddable}`)} LIMIT ?`,
      [from, Math.min(room, lookedAtOnce)],
    );
    for (const row of rows) {
      if (row['seq'] !== read.entry) read = { entry: row['seq'], passages: passagesOf(this.entries.decode(row)) };
      const passage = Number(row['passage']);
      const text = (read.passages[Number(row['part'])]?.text ?? '').trim();
      const hash = hashOf(text);
      const known = this.connection.get('SELECT id, vector FROM vectors WHERE hash = ?', [bytesOf(hash)]);
      if (known) this.place(passage, known);
      else {
        isUnbroken = false;
        found.set(hash, text);
        if (found.size >= most) return false;
      }
      if (!isUnbroken) continue;
      if (way === 'up') done.high = passage;
      else done.low = passage;
    }
    return rows.length < lookedAtOnce;
  }

  private place(passage: number, { id, vector }: Row): void {
    if (this.connection.get('SELECT 1 FROM passage_vectors WHERE passage = ?', [passage])) return;
    this.connection.run('INSERT INTO passage_vectors(passage, vector) VALUES (?, ?)', [passage, id ?? null]);
    this.isUntidy = true;
    if (vector instanceof Uint8Array) this.table?.add(passage, new Int8Array(vector));
  }

  /** The oldest leave where there are too many, and so do vectors that no passage has: all of them have to be indexed by now. */
  tidy(): void {
    if (!this.isUntidy) return;
    this.connection.transaction(() => this.removeSpare());
    this.isUntidy = false;
  }

  private removeSpare(): void {
    const tooMany = this.embedded - this.capacity;
    if (tooMany > 0) {
      this.connection.run('DELETE FROM passage_vectors WHERE passage IN (SELECT passage FROM passage_vectors ORDER BY passage LIMIT ?)', [
        tooMany,
      ]);
      [this.done, this.table] = [undefined, undefined];
      this.use(this.space ?? '');
    }
    this.connection.exec('DELETE FROM vectors WHERE id NOT IN (SELECT vector FROM passage_vectors)');
  }

  private load(dimensions: number): VectorTable {
    const table = new VectorTable(dimensions);
    const rows = this.connection.iterate('SELECT p.passage, v.vector FROM passage_vectors p JOIN vectors v ON v.id = p.vector');
    for (const { passage, vector } of rows)
      if (vector instanceof Uint8Array) table.add(Number(passage), new Int8Array(vector.buffer, vector.byteOffset, vector.length));
    return table;
  }

  /** The passages of a scope; null: all. */
  private inScope({ within, matching }: Pick<SearchScope, 'within' | 'matching'>): ReadonlySet<number> | null {
    if (within === null && matching === null) return null;
    const conditions = [within, matching].flatMap((condition) => condition ?? []);
    const rows = this.connection.iterate(
      `SELECT p.id AS id FROM ${matching === null ? 'passages p' : passages} WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`,
      conditions.flatMap(({ parameters }) => parameters),
    );
    const ids = new Set<number>();
    for (const { id } of rows) ids.add(Number(id));
    return ids;
  }
}

const hashBytes = 16;

function hashOf(text: string): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * hashBytes);
}

function bytesOf(hash: string): Uint8Array {
  return new Uint8Array(Buffer.from(hash, 'hex'));
}

function toBytes(vector: readonly number[]): Uint8Array {
  return new Uint8Array(Int8Array.from(vector).buffer);
}

export const vectorOperations = {
  unembedded: ({ vectors, index }, space, most) => {
    const found = vectors.unembedded(space, most);
    if (found.more) return found;
    if (index.pending === 0) {
      vectors.tidy();
      return found;
    }
    // What is not indexed yet has no passages; a few entries are left to wait there, and would have no vectors for as long.
    index.indexBatch(indexMs);
    return { ...found, more: true };
  },
  saveVectors: ({ vectors }, space, added) => vectors.save(space, added),
  vectorStatus: ({ vectors }) => vectors.status(),
} satisfies Partial<Operations<{ readonly vectors: VectorRows; readonly index: SearchIndex }>>;
