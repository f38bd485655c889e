import { deepEqual, equal } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { enduranceRounds, seededRandom } from '../../../support/chat/endurance';
import { SearchStore } from '../../../support/store/searchStore';
import { tempFolder } from '../../../support/store/storeTemp';

const victimFile = join(__dirname, '..', '..', '..', 'support', 'store', 'storeVictim.js');
const rounds = enduranceRounds(8);

describe('store: a process killed while it indexes', () => {
  it('leaves an index that misses nothing and has nothing twice', async function () {
    this.timeout(60_000 + rounds * 5_000);
    const temp = tempFolder();
    const random = seededRandom(7);
    let stopped = 0;
    try {
      for (let round = 0; round < rounds; round++) {
        const victim = spawn(process.execPath, [victimFile, temp.path, 'index', String(100 + Math.floor(random() * 600)), String(round)], {
          stdio: ['ignore', 'ignore', 'inherit'],
        });
        const [, signal] = (await once(victim, 'exit')) as [number | null, NodeJS.Signals | null];
        equal(signal, 'SIGKILL');
        const store = await SearchStore.open(temp.path);
        const { connection } = store.database;
        const number = (sql: string) => Number(connection.get(sql)?.['n']);
        const through = store.core.index.indexedThrough;
        if (through > 0 && store.core.index.pending > 0) stopped++;
        const inBoth =
          'SELECT count(DISTINCT e.seq) AS n FROM passages p JOIN entries e ON e.seq = p.entry JOIN passage_sessions s ON s.number = p.session';
        equal(number(inBoth), number(`SELECT count(*) AS n FROM entries WHERE seq <= ${through}`));
        equal(number('SELECT total(passages) AS n FROM passage_sessions'), number('SELECT count(*) AS n FROM passages'));
        // Half of the rounds go on from where the killed process has stopped.
        if (round % 2 === 0) store.index();
        store.database.close();
      }
      const store = await SearchStore.open(temp.path);
      store.index();
      const { connection } = store.database;
      const entries = Number(connection.get('SELECT count(*) AS n FROM entries')?.['n']);
      const info = connection.get("SELECT matchinfo(entries_fts, 'x') AS info FROM entries_fts WHERE entries_fts MATCH 'common' LIMIT 1")?.[
        'info'
      ] as Uint8Array;
      const [, hits, documents] = new Uint32Array(info.slice().buffer);
      deepEqual([hits, documents], [entries, entries]);
      const found = connection
        .all("SELECT p.entry AS seq FROM entries_fts f JOIN passages p ON p.id = f.docid WHERE entries_fts MATCH 'common' ORDER BY f.docid")
        .map(({ seq }) => seq);
      deepEqual(
        found,
        connection.all('SELECT seq FROM entries ORDER BY seq').map(({ seq }) => seq),
      );
      equal(stopped > 0, true, 'no process was killed in the middle');
      store.database.close();
    } finally {
      temp.remove();
    }
  });
});
