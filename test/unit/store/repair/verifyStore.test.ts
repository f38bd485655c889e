import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../../../src/core/errors';
import { checkedText, type TaskProgress, type VerifyReport } from '../../../../src/core/maintenance/reports';
import { privateFolder } from '../../../../src/node/store/copies/readonlyCopy';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import type { Sqlite } from '../../../../src/node/store/wasm/sqlite';
import { newPageSize, storeFiles, type StoreFiles } from '../../../../src/node/store/database/storeFiles';
import { sha256 } from '../../../../src/node/store/rows/blobFiles';
import { verifyStore } from '../../../../src/node/store/repair/verifyStore';
import { alteredSample, layStoreSample, makeStoreSample, type StoreSample } from '../../../support/store/storeSample';
import { openHost, tempFolder, type TempFolder, wasmFile } from '../../../support/store/storeTemp';

describe('store: verify', function () {
  this.timeout(60_000);
  let sqlite: Sqlite;
  let closed: StoreSample;
  let killed: StoreSample;
  let temp: TempFolder;
  let files: StoreFiles;

  before(async () => {
    sqlite = await loadSqlite(wasmFile);
    closed = makeStoreSample(sqlite, 'close');
    killed = makeStoreSample(sqlite, 'abandon');
  });
  beforeEach(() => {
    temp = tempFolder();
    files = storeFiles(temp.path);
  });
  afterEach(() => temp.remove());

  function verify(onProgress: (progress: TaskProgress) => void = () => undefined): VerifyReport {
    const scratch = privateFolder();
    try {
      return verifyStore(sqlite, files, scratch, onProgress);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  const kinds = ({ problems }: VerifyReport) => [...new Set(problems.map(({ kind }) => kind))].sort();

  /** As the command does: the store is built anew and then has nothing left to complain about. */
  async function repair(): Promise<string> {
    const host = await openHost(temp.path, { repair: true });
    const { note } = host.status;
    await host.close();
    return note?.detail ?? '';
  }

  it('finds nothing in a sound store, closed or killed, and counts what it checked', () => {
    for (const sample of [closed, killed]) {
      layStoreSample(temp.path, sample);
      const before = readdirSync(temp.path).map((name) => [name, readFileSync(join(temp.path, name)).length]);
      const phases: string[] = [];
      const { problems, checked } = verify(({ phase }) => phases.push(phase));
      assert.deepEqual(
        { problems, sessions: checked.sessions, entries: checked.entries, blobs: checked.blobs },
        { problems: [], sessions: 2, entries: 63, blobs: 0 },
      );
      assert.ok(checked.pages > 50);
      assert.deepEqual([...new Set(phases)], ['Copying', 'Checking pages', 'Checking sessions']);
      assert.deepEqual(
        readdirSync(temp.path).map((name) => [name, readFileSync(join(temp.path, name)).length]),
        before,
      );
    }
    assert.equal(checkedText(verify()), '63 entries in 2 sessions');
  });

  it('finds pages of zeros or garbage, and a repair leaves nothing to find', async () => {
    const pages = closed.main.length / newPageSize;
    const seen = new Set<string>();
    let looked = 0;
    let found = 0;
    const free = unusedPages(closed.main);
    for (let page = 1; page <= pages; page += 13) {
      for (const value of [0, 0xa5]) {
        if (free.has(page)) continue;
        const main = Buffer.from(closed.main).fill(value, (page - 1) * newPageSize, page * newPageSize);
        layStoreSample(temp.path, closed, { main });
        const report = verify();
        looked++;
        if (report.problems.length > 0) found++;
        for (const kind of kinds(report)) seen.add(kind);
        if (value === 0) continue;
        await repair();
        assert.deepEqual(verify().problems, [], `page ${page} after the repair`);
      }
    }
    // The pages onto which a long row of the search index flows over have no checksum.
    assert.ok(found >= looked * 0.8, `${found} of ${looked}`);
    assert.ok(seen.has('page') && seen.has('file'), [...seen].join());
  });

  it('finds what SQLite does not look at', async () => {
    const at = `(SELECT seq FROM entries WHERE entry_type = 'message' ORDER BY seq LIMIT 1 OFFSET 20)`;
    const cases: readonly (readonly [sql: string, kind: string, where: RegExp])[] = [
      [`UPDATE bodies SET text = 'another' WHERE entry = ${at}`, 'content', /^entry #21 of session \d{8}_001 “Ports and adapters”$/],
      [`UPDATE bodies SET crc32 = crc32 + 1 WHERE entry = ${at}`, 'content', /^entry #21 /],
      [`UPDATE entries SET tool_args_json = '{"path":"b.txt"}' WHERE entry_type = 'tool_call'`, 'content', /^entry #61 /],
      [`DELETE FROM bodies WHERE entry = ${at}`, 'content', /^entry #21 /],
      [`DELETE FROM entries WHERE seq = ${at}`, 'tree', /^entry #23 /],
      [`UPDATE entries SET parent = (SELECT uuid FROM entries WHERE seq = 25) WHERE seq = 21`, 'tree', /^entry #21 /],
      ["UPDATE sessions SET leaf_entry = 'gone' WHERE title = 'b'", 'tree', /^session \d{8}_002 “b”$/],
      ["DELETE FROM sessions WHERE title = 'b'", 'tree', /^entry #2 of session /],
      ["UPDATE compactions SET first_kept_entry = 'gone'", 'reference', /^entry #63 /],
      ['UPDATE compactions SET entry = 3', 'reference', /^entry #3 /],
      ['UPDATE sessions SET message_count = 99', 'counter', /^session /],
      ["UPDATE meta SET value = 5000 WHERE key = 'fts_indexed'", 'search_index', /search index/],
      ["UPDATE meta SET value = 0 WHERE key = 'generation'", 'generation', /the file/],
      ['PRAGMA application_id = 0', 'file', /the header/],
    ];
    for (const [sql, kind, where] of cases) {
      layStoreSample(temp.path, closed, { main: alteredSample(sqlite, closed, sql) });
      const report = verify();
      const found = report.problems.find((problem) => problem.kind === kind);
      assert.ok(found, `${sql}: ${JSON.stringify(report.problems)}`);
      assert.match(found.where, where, sql);
      assert.equal(found.repairHelps, true);
      await repair();
      assert.deepEqual(verify().problems, [], `after the repair of ${sql}`);
    }
  });

  it('finds damage in the middle of the log', () => {
    const wal = Buffer.from(killed.wal!);
    wal[5000]! ^= 0x55;
    layStoreSample(temp.path, killed, { wal });
    const { problems } = verify();
    assert.match(problems[0]?.meaning ?? '', /log is damaged in the middle/);
  });

  it('finds attachments that are missing or damaged, and says that a repair does not help', () => {
    const content = Buffer.from('an attachment');
    const [good, bad, gone] = [content, Buffer.from('x'), Buffer.from('y')].map(sha256) as [string, string, string];
    const sql = [good, bad, gone].map((hash) => `INSERT INTO blobs VALUES ('${hash}', 13, 'text/plain');`).join(' ');
    layStoreSample(temp.path, closed, {
      main: alteredSample(sqlite, closed, `${sql} UPDATE bodies SET blob_hash = '${gone}' WHERE entry = 4`),
    });
    for (const hash of [good, bad]) {
      mkdirSync(join(temp.path, 'blobs', hash.slice(0, 2)), { recursive: true });
      writeFileSync(join(temp.path, 'blobs', hash.slice(0, 2), hash), content);
    }
    const { problems, checked } = verify();
    assert.equal(checked.blobs, 3);
    assert.deepEqual(
      problems
        .map(({ kind, where, meaning, repairHelps }) => [kind, where.replace(/\d{8}/, 'DAY'), meaning.replace(/\..*/, ''), repairHelps])
        .sort(),
      [
        ['blob', `attachment ${bad.slice(0, 12)}`, 'An attachment or long text is damaged', false],
        ['blob', 'entry #4 of session DAY_002 “b”', 'An attachment or long text is missing', false],
      ],
    );
  });

  it('says why it cannot look', () => {
    assert.throws(() => verify(), hasReason('io'));
    const main = Buffer.from(closed.main);
    main.writeUInt32BE(99, 60);
    layStoreSample(temp.path, closed, { main });
    assert.throws(() => verify(), hasReason('newer_schema'));
  });

  it('reports a file that is missing, empty or no database', () => {
    for (const content of [null, Buffer.alloc(0), Buffer.alloc(8192, 7), closed.main.subarray(0, 50)]) {
      layStoreSample(temp.path, closed);
      if (content) writeFileSync(files.main, content);
      else rmSync(files.main);
      assert.deepEqual(kinds(verify()), ['file']);
    }
  });
});

function hasReason(reason: StoreError['reason']): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason;
}

/** Pages whose content means nothing: those that the first trunk of the list of free pages names. */
function unusedPages(main: Buffer): ReadonlySet<number> {
  const trunk = main.readUInt32BE(32);
  if (trunk === 0) return new Set();
  const at = (trunk - 1) * newPageSize;
  return new Set(Array.from({ length: main.readUInt32BE(at + 4) }, (_, i) => main.readUInt32BE(at + 8 + 4 * i)));
}
