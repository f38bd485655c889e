/** What Zed keeps of a thread in which these were said, as SQL. */
export function zedThread(...names: readonly string[]): string {
  const messages = names.map((name) => ({ User: { id: `u${name}`, content: [{ Text: `said in ${name}` }] } }));
  return `'${JSON.stringify({ messages })}'`;
}

const beginningOfZstd = "X'28B52FFD04FFFFFF'";
const row = (id: string, day: number, data: string) =>
  `INSERT INTO threads VALUES ('${id}', 'Thread ${id}', '2026-09-0${day}T10:00:00Z', '/w', 'json', ${data});`;

/** A database of Zed with three threads, of which `b` is damaged. */
export const zedThreads = `CREATE TABLE threads(id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, folder_paths TEXT, data_type TEXT, data BLOB);
  ${row('a', 1, zedThread('a'))} ${row('b', 2, beginningOfZstd)} ${row('c', 3, zedThread('c'))}`;
