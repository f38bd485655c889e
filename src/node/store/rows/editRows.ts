import type { ExchangeAround, FileEditRecord, FoundEdits } from '../../../core/attribution/editRecord';
import { isEntryOf, isUserMessage, markTypes, type StoredEntry } from '../../../core/session/entry';
import { termsOfChunk } from '../../../core/recall/tokenizeTerms';
import { matchExpression } from '../../../core/recall/indexTerms';
import type { Connection, Row, SqlValue } from '../database/connection';
import type { Operations } from '../client/storeCalls';
import type { SearchIndex } from '../search/searchIndex';
import { entrySelection } from './entryCodec';
import type { EntryRows } from './entryRows';

/** Entries of a session among which the result of a call is looked for. */
const nearbyEntries = 500;
/** Entries behind a call that are looked through for the answer. */
const mostSteps = 2_000;

const selected = `${entrySelection}, s.cwd AS cwd, (SELECT r.tool_status FROM entries r
  WHERE r.session = e.session AND r.seq > e.seq AND r.seq < e.seq + ${nearbyEntries} AND r.entry_type = 'tool_result' AND r.tool_call_id = e.tool_call_id
  LIMIT 1) AS outcome`;

interface Needs {
  readonly connection: Connection;
  readonly entries: EntryRows;
  readonly index: SearchIndex;
}

/**
 * The full-text index tells which calls name the file, what it does not cover yet is looked through. A call that failed or was denied has
 * written nothing.
 */
function callsNaming({ connection, entries, index }: Needs, name: string, limit: number): FoundEdits {
  const terms = [...new Set(termsOfChunk(name.normalize('NFKC'), false))].filter((term) => /^[\p{L}\p{N}]+$/u.test(term));
  const through = terms.length === 0 ? 0 : index.indexedThrough;
  const like = `%${JSON.stringify(name)
    .slice(1, -1)
    .replace(/[\\%_]/g, '\\$&')}%`;
  const isEdit = `(e.entry_type = 'tool_call' AND e.tool_args_json LIKE ? ESCAPE '\\')`;
  // A long text is kept compressed: what it holds is looked at later.
  const isAnswer = `(e.entry_type = 'message' AND e.role = 'assistant' AND (typeof(b.text) = 'blob' OR b.text LIKE ? ESCAPE '\\'))`;
  const from = 'CROSS JOIN bodies b ON b.entry = e.seq CROSS JOIN sessions s ON s.uuid = e.session';
  const where = `s.deleted_at IS NULL AND (${isEdit} OR ${isAnswer}) ORDER BY e.seq DESC LIMIT ?`;
  const rows: Row[] = [];
  const add = (sql: string, parameters: readonly SqlValue[]) =>
    rows.push(...connection.iterate(sql, [...parameters, like, like, limit + 1]));
  add(`SELECT ${selected} FROM entries e ${from} WHERE e.seq > ? AND e.entry_type IN ('tool_call', 'message') AND ${where}`, [through]);
  if (through > 0)
    add(
      `SELECT ${selected} FROM (SELECT DISTINCT p.entry AS entry FROM entries_fts CROSS JOIN passages p ON p.id = entries_fts.docid
         WHERE entries_fts MATCH ?) f CROSS JOIN entries e ON e.seq = f.entry ${from} WHERE ${where}`,
      [matchExpression(terms, 'AND')],
    );
  const records = rows
    .slice(0, limit)
    .filter((row) => row['outcome'] === null || row['outcome'] === 'ok')
    .map((row) => ({ entry: entries.decode(row), cwd: textOrNull(row['cwd']), changes: null }));
  return { records, isCut: rows.length > limit };
}

/** Marks hang on the calls that they are of; those of commands are of calls that do not name the file. */
function marksNaming({ connection, entries }: Needs, name: string, limit: number): FoundEdits {
  const like = `%${JSON.stringify(name)
    .slice(1, -1)
    .replace(/[\\%_]/g, '\\$&')}%`;
  const rows = connection.all(
    `SELECT ${entrySelection}, s.cwd AS cwd FROM entries e CROSS JOIN bodies b ON b.entry = e.seq CROSS JOIN sessions s ON s.uuid = e.session
     WHERE e.entry_type = 'file_changes' AND b.content_json LIKE ? ESCAPE '\\' AND s.deleted_at IS NULL ORDER BY e.seq DESC LIMIT ?`,
    [like, limit + 1],
  );
  const records = rows.slice(0, limit).flatMap((row): FileEditRecord[] => {
    const mark = entries.decode(row);
    const entry = isEntryOf(mark, 'file_changes') && mark.content.source === 'tool' && mark.parent ? entries.find(mark.parent) : undefined;
    return entry && isEntryOf(mark, 'file_changes') ? [{ entry, cwd: textOrNull(row['cwd']), changes: mark.content }] : [];
  });
  return { records, isCut: rows.length > limit };
}

function exchangeAround({ connection, entries }: Needs, uuid: string): ExchangeAround {
  let asked: string | null = null;
  let before: string | null = null;
  for (const { entry } of entries.outlineUp(uuid)) {
    if (isUserMessage(entry)) {
      asked = entry.uuid;
      break;
    }
    const says = entry.content.type === 'message' || entry.content.type === 'thinking';
    if (says && before === null && entry.uuid !== uuid) before = entry.uuid;
  }
  const marks = [...markTypes].map((type) => `'${type}'`).join(', ');
  let answer: string | null = null;
  for (let at = uuid, step = 0; step < mostSteps; step++) {
    const next = connection.get(
      `SELECT e.uuid AS uuid, e.entry_type AS type, e.role AS role FROM entries e WHERE e.parent = ? AND e.entry_type NOT IN (${marks})
       ORDER BY e.seq DESC LIMIT 1`,
      [at],
    );
    if (!next || next['role'] === 'user') break;
    at = String(next['uuid']);
    if (next['type'] === 'message') answer = at;
  }
  const one = (id: string | null): StoredEntry | null => (id === null ? null : (entries.find(id) ?? null));
  return { asked: one(asked), before: one(before), answer: one(answer) };
}

function textOrNull(value: SqlValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

export const editOperations = {
  editsNaming: (open, name, limit) => {
    const [calls, marks] = [callsNaming(open, name, limit), marksNaming(open, name, limit)];
    return { records: [...calls.records, ...marks.records], isCut: calls.isCut || marks.isCut };
  },
  exchangeAround: (open, entry) => exchangeAround(open, entry),
} satisfies Partial<Operations<Needs>>;
