import assert from 'node:assert/strict';
import { Connection, packText, unpackText } from '../../../../src/node/store/database/connection';
import { mendTree } from '../../../../src/node/store/repair/mendTree';
import { migrate } from '../../../../src/node/store/database/migrations';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { wasmFile } from '../../../support/store/storeTemp';

describe('store: a session that lost its row', () => {
  it('is called by the first words of its user, whatever they are made of, and opens where it ended', async () => {
    const sqlite = await loadSqlite(wasmFile);
    const [source, target] = ['damaged', 'rebuilt'].map(
      (file) => new Connection(sqlite.openMemory(), { file, beforeCommit: () => undefined }),
    ) as [Connection, Connection];
    for (const connection of [source, target]) migrate(connection, () => undefined);
    let seq = 0;
    const say = (session: string, text: string, display: 0 | 1 = 1) => {
      target.run(
        "INSERT INTO entries(seq, uuid, session, entry_type, role, model_facing, display, created_at) VALUES (?, ?, ?, 'message', 'user', 1, ?, 1)",
        [++seq, `e${seq}`, session, display],
      );
      target.run("INSERT INTO bodies(entry, content_json, text, crc32) VALUES (?, '{}', ?, 0)", [seq, packText(text)]);
    };
    say('a', 'Caveat of a program', 0);
    say('a', ' \n');
    say('a', 'Half a \ud83d of a \0 sign');
    say('b', '');
    assert.deepEqual(mendTree(source, target, []), ['titles and settings of 2 sessions']);
    assert.deepEqual(
      target.all('SELECT title, leaf_entry FROM sessions ORDER BY uuid').map(({ title, leaf_entry: leaf }) => [unpackText(title), leaf]),
      [
        ['Half a \ud83d of a \0 sign', 'e3'],
        ['', 'e4'],
      ],
    );
    for (const connection of [source, target]) connection.close();
  });
});
