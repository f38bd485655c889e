import { deepStrictEqual } from 'node:assert';
import { NoteRows } from '../../../../src/node/store/sync/noteRows';
import { SearchStore } from '../../../support/store/searchStore';
import { tempFolder, type TempFolder } from '../../../support/store/storeTemp';

describe('revisions of a note', function () {
  this.timeout(30_000);
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  it('cost as many rows that are read as there are revisions, however many came before', async () => {
    const store = await SearchStore.open(temp.path);
    const { connection } = store.database;
    const notes = new NoteRows(connection);
    let read = 0;
    const [all, get] = [connection.all.bind(connection), connection.get.bind(connection)];
    connection.all = (...args) => {
      const rows = all(...args);
      read += rows.length;
      return rows;
    };
    connection.get = (...args) => {
      read++;
      return get(...args);
    };
    const write = (path: string, n: number, parent: number | null) =>
      notes.keep({ path, revision: `${path} ${n}`, parents: parent === null ? [] : [`${path} ${parent}`], text: `line ${n}\n`, tick: n });
    const readBy = (work: () => void) => {
      const before = read;
      work();
      return read - before;
    };
    const one = (path: string, from: number, to: number) =>
      readBy(() => {
        for (let n = from; n < to; n++) {
          write(path, n, n === 0 ? null : n - 1);
          notes.settle(path);
        }
      });
    one('plan.md', 0, 1);
    deepStrictEqual(one('plan.md', 1, 101), one('plan.md', 101, 201));
    deepStrictEqual(notes.stateOf('plan.md').text, 'line 200\n');
    // Two branches that came together are merged once, and of their texts three are read.
    write('two.md', 0, null);
    const apart = readBy(() => {
      for (let n = 1; n < 201; n++) write('two.md', n, Math.max(0, n - 2));
    });
    const merged = readBy(() => notes.settle('two.md'));
    deepStrictEqual([apart, merged < 220, notes.stateOf('two.md').text], [200, true, 'line 199\nline 200\n']);
    store.database.close();
  });
});
