import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { backUpStore } from '../../../../src/node/store/copies/backupStore';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { restoreStore } from '../../../../src/node/store/repair/restoreStore';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { projectRoot } from '../../../support/paths';
import { openHost, tempFolder, testUuid, userMessage, wasmFile } from '../../../support/store/storeTemp';

type Prove = (read?: (file: string) => Uint8Array) => Promise<{ sha256: string; names: Record<string, string> }>;

const packageFile = (file: string) => readFileSync(createRequire(join(projectRoot, 'package.json')).resolve(`sql.js/dist/${file}`));

describe('store: another build of SQLite than the one it is pinned to', () => {
  let prove: Prove;
  before(async () => {
    // A build step, so it is run as it stands and not bundled.
    ({ proveWasmImports: prove } = (await import(
      pathToFileURL(join(projectRoot, 'src', 'node', 'store', 'wasm', 'wasmImports.mjs')).href
    )) as { proveWasmImports: Prove });
  });

  const refuses = (shipped: Uint8Array, problem: RegExp) =>
    assert.rejects(
      prove((file) => (file === 'sql-wasm.wasm' ? shipped : packageFile(file))),
      (error: Error) => {
        assert.match(
          error.message,
          /^sql\.js: the imports of sql-wasm\.wasm cannot be told apart: .+ Install the version that package\.json names/,
        );
        assert.match(error.message, problem);
        return true;
      },
    );

  it('is refused by the build: with other imports, with the same under other letters, with two of them exchanged', async () => {
    const { names } = await prove();
    const shipped = packageFile('sql-wasm.wasm');
    await refuses(packageFile('sql-wasm-debug.wasm'), /imports, \d+ expected/);
    await refuses(renamed(shipped, { [names['fd_sync']!]: '!' }), /fd_sync has the signature undefined/);
    // The same signature: only what the calls do can tell them apart.
    const [sync, close] = [names['fd_sync']!, names['fd_close']!];
    await refuses(renamed(shipped, { [sync]: close, [close]: sync }), /SQLite does not work with it|call \d+ is .+, in the debug build/);
  });

  it('runs without the bridge, slower and saying so, where it got into an installation', async () => {
    const temp = tempFolder();
    // An empty custom section: SQLite works as ever, but it is not the file that was proven.
    const other = join(temp.path, 'sql-wasm.wasm');
    writeFileSync(other, Buffer.concat([readFileSync(wasmFile), Buffer.from([0, 2, 1, 0x78])]));
    const folder = join(temp.path, 'store');
    const host = await openHost(folder, { wasmFile: other });
    assert.deepEqual(host.status, {
      access: 'owner',
      durability: 'export',
      note: { reason: 'self_test_failed', detail: 'the wasm file is not the one the build has proven' },
      file: join(folder, 'threadkeeper.db'),
    });
    const session = (await host.call('createSession', [{ uuid: testUuid(), channel: 'cli', createdAt: 1 }])).uuid;
    const [entry] = await host.call('append', [session, { entries: [userMessage(session, null, 'kept')] }]);
    await host.close();
    const again = await openHost(folder, { wasmFile: other });
    assert.deepEqual(await again.call('entries', [[entry!.uuid]]), [entry]);
    const reader = await openHost(folder, { wasmFile: other, readonly: true });
    assert.deepEqual([reader.status.access, await reader.call('entries', [[entry!.uuid]])], ['readonly', [entry]]);
    await assert.rejects(reader.call('updateSession', [session, { title: 'x' }]), { reason: 'readonly' });
    await Promise.all([reader.close(), again.close()]);
    // A backup is made and put back without it as well, and what can be read of a damaged one is saved.
    const sqlite = await loadSqlite(other);
    const target = join(temp.path, 'backup.db');
    const request = { files: storeFiles(folder), target, temporary: `${target}.tmp`, overwrite: false };
    assert.deepEqual(backUpStore(sqlite, request, () => undefined).problems, []);
    const restored = async (name: string, salvage: boolean) => {
      const files = storeFiles(join(temp.path, name));
      const done = await restoreStore(
        sqlite,
        { backup: target, files, temporary: `${files.main}.tmp`, label: 'test', salvage },
        () => undefined,
      );
      const host = await openHost(files.folder, { wasmFile: other });
      const found = await host.call('entries', [[entry!.uuid]]);
      await host.close();
      return {
        sessions: done.sessions,
        entries: done.entries,
        isSalvaged: done.salvage !== null,
        texts: found.map(({ content }) => content),
      };
    };
    const whole = { sessions: 1, entries: 1, isSalvaged: false, texts: [entry!.content] };
    assert.deepEqual(await restored('restored', false), whole);
    // Neither its magic nor its schema can be read.
    writeFileSync(target, Buffer.concat([Buffer.alloc(100, 0x78), readFileSync(target).subarray(100)]));
    assert.deepEqual(await restored('saved', true), { ...whole, isSalvaged: true });
    temp.remove();
  });
});

/** The wasm file with imports under other names of the same length. */
function renamed(wasm: Uint8Array, names: Readonly<Record<string, string>>): Uint8Array {
  const bytes = Buffer.from(wasm);
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  };
  while (bytes[at] !== 2) {
    at++;
    const length = number();
    at += length;
  }
  at++;
  number();
  for (let left = number(); left > 0; left--) {
    const module = number();
    at += module;
    const length = number();
    const name = bytes.toString('utf8', at, at + length);
    bytes.write(names[name] ?? name, at, 'utf8');
    at += length + 1;
    number();
  }
  return bytes;
}
