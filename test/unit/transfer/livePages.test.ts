import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForeignDatabase } from '../../../src/node/transfer/foreign/foreignDatabase';
import { LivePages } from '../../../src/node/transfer/foreign/livePages';
import { SqliteShell } from '../../support/store/sqliteShell';
import { tempFolder, wasmFile, type TempFolder } from '../../support/store/storeTemp';

const accounts = 400;
const rounds = 80;

describe('the pages of a database that another program writes', function () {
  this.timeout(30_000);
  let temp: TempFolder;
  let file: string;
  let writer: SqliteShell;
  let pages: LivePages;

  beforeEach(async () => {
    temp = tempFolder();
    file = join(temp.path, 'bank.db');
    // An account has a page to itself.
    execFileSync('sqlite3', [file], {
      input: `PRAGMA journal_mode=wal; CREATE TABLE accounts(id INTEGER PRIMARY KEY, amount INTEGER, filler TEXT);
        INSERT INTO accounts SELECT value, 10, hex(zeroblob(1500)) FROM generate_series(1, ${accounts});`,
    });
    writer = new SqliteShell(file);
    await writer.run('PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=OFF;');
    pages = new LivePages(file);
  });
  afterEach(async () => {
    await writer.close();
    temp.remove();
  });

  const glance = () =>
    ForeignDatabase.glance(pages, wasmFile, (database) => {
      const amounts = [...database.rows('accounts', ['amount'])].map(({ amount }) => Number(amount));
      return { total: amounts.reduce((sum, one) => sum + one, 0), n: database.count('accounts'), most: Math.max(...amounts) };
    });
  const move = (from: number, to: number) =>
    `BEGIN; UPDATE accounts SET amount = amount - 1 WHERE id = ${from}; UPDATE accounts SET amount = amount + 1 WHERE id = ${to}; COMMIT;`;

  it('are of one commit, however the log grows, is moved into the file and begins anew', async () => {
    for (let i = 0; i < rounds; i++) {
      const moves = Array.from({ length: 1 + (i % 9) }, (_, n) => move(1 + ((i * 37 + n) % accounts), 1 + ((i * 101 + n * 53) % accounts)));
      const checkpoint = i % 5 === 0 ? `PRAGMA wal_checkpoint(${i % 2 === 0 ? 'PASSIVE' : 'TRUNCATE'});` : '';
      // The writer and the look run at the same time.
      const [{ total, n }] = await Promise.all([glance(), writer.run(moves.join('\n') + checkpoint)]);
      assert.deepEqual([total, n], [accounts * 10, accounts], `round ${i}`);
    }
    await writer.run(`UPDATE accounts SET amount = 777 WHERE id = 5;`);
    assert.equal((await glance()).most, 777, 'and of the last one');
  });

  it('are those of the commit, not of what is still being written', async () => {
    await writer.run('PRAGMA cache_size=10; BEGIN; UPDATE accounts SET amount = 0;');
    assert.ok(statSync(`${file}-wal`).size > 100_000, 'pages that did not fit into memory are in the log');
    assert.equal((await glance()).total, accounts * 10);
    await writer.run('COMMIT;');
    assert.equal((await glance()).total, 0);
    await writer.run('UPDATE accounts SET amount = 1;');
    appendFileSync(`${file}-wal`, Buffer.alloc(5000, 7));
    assert.equal((await glance()).total, accounts);
  });

  it('are read where there is no log, and nothing is made, changed or left open', async () => {
    await writer.run('PRAGMA journal_mode=delete;');
    const before = readFileSync(file);
    assert.equal((await glance()).n, accounts);
    assert.deepEqual(readFileSync(file), before);
    await assert.rejects(
      ForeignDatabase.glance(pages, wasmFile, () => {
        throw new Error('mine');
      }),
      /mine/,
    );
    writeFileSync(join(temp.path, 'text.db'), 'no database\n');
    await assert.rejects(
      ForeignDatabase.glance(new LivePages(join(temp.path, 'text.db')), wasmFile, (database) => [...database.tables()]),
      /not a database/,
    );
    rmSync(join(temp.path, 'text.db'));
    await assert.rejects(
      ForeignDatabase.glance(new LivePages(join(temp.path, 'text.db')), wasmFile, (database) => [...database.tables()]),
      /ENOENT/,
    );
  });

  it('cannot be written through', async () => {
    await assert.rejects(
      ForeignDatabase.glance(pages, wasmFile, (database) => [...database.rows('accounts; UPDATE accounts SET amount = 0; --', 'all')]),
    );
    assert.equal((await glance()).total, accounts * 10);
  });
});
