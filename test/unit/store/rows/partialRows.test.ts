import assert from 'node:assert/strict';
import { Connection } from '../../../../src/node/store/database/connection';
import { PartialRows } from '../../../../src/node/store/rows/partialRows';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { migrate } from '../../../../src/node/store/database/migrations';
import { wasmFile } from '../../../support/store/storeTemp';

describe('store: text that is still streaming', () => {
  const chunk = (text: string, offset: number) => ({
    entry: 'e',
    session: 's',
    parent: null,
    kind: 'message' as const,
    provider: 'p',
    model: 'm',
    createdAt: 1,
    text,
    offset,
  });
  let connection: Connection;
  let rows: PartialRows;
  /** Characters of chunks that were read since the last look. */
  let read = 0;

  beforeEach(async () => {
    connection = new Connection((await loadSqlite(wasmFile)).openMemory(), { file: 'memory', beforeCommit: () => undefined });
    migrate(connection, () => undefined);
    connection.run(
      "INSERT INTO sessions(uuid, id, key, title, created_at, updated_at, last_opened_at) VALUES ('s', '20260101_001', 'cli:s', '', 1, 1, 1)",
    );
    const all = connection.all.bind(connection);
    connection.all = (...args: Parameters<typeof all>) => {
      const found = all(...args);
      read += found.reduce((sum, row) => sum + (typeof row['text'] === 'string' ? row['text'].length : 0), 0);
      return found;
    };
    rows = new PartialRows(connection, 'owner');
  });
  afterEach(() => connection.close());

  const text = () => rows.streaming('s')[0]?.text;

  it('is added to without being read again', () => {
    let whole = '';
    for (let i = 0; i < 400; i++) {
      const part = `part ${i} `.padEnd(50, '.');
      connection.transaction(() => rows.add(chunk(part, whole.length)));
      whole += part;
    }
    assert.ok(read < 3 * whole.length, `${read} characters read to store ${whole.length}`);
    assert.equal(text(), whole);
  });

  it('takes what is sent again for what it is, halves of a character and undone writes included', () => {
    rows.add(chunk('a😀'.slice(0, 2), 0));
    rows.add(chunk('a😀'.slice(2), 2));
    rows.add(chunk('😀b', 1));
    assert.equal(text(), 'a😀b');
    assert.throws(() =>
      connection.transaction(() => {
        rows.add(chunk('cd', 4));
        rows.add(chunk('ef', 6));
        throw new Error('the disk is full');
      }),
    );
    assert.throws(() => rows.add(chunk('late', 6)), /before its character 6 is not stored/);
    rows.add(chunk('XY', 4));
    rows.add(chunk('ef', 6));
    rows.add(chunk('f!', 7));
    assert.equal(text(), 'a😀bXYef!');
  });
});
