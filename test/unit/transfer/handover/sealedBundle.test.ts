import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EntryContent } from '../../../../src/core/session/entry';
import { exportJson } from '../../../../src/node/transfer/export/exportJson';
import { writeExport } from '../../../../src/node/transfer/export/exportSessions';
import { isSealed, sealed, unsealed } from '../../../../src/node/transfer/export/sealedBundle';
import { ImportRig } from '../../../support/store/importRig';
import { storedSession } from '../../../support/agents/handedSessions';

const token = `ghp_${'a1B2'.repeat(9)}`;
const said: readonly EntryContent[] = [
  { type: 'message', role: 'user', text: `Push with ${token}, say quokkamint` },
  { type: 'message', role: 'assistant', text: 'Pushed.' },
];

describe('a session that is sealed for a colleague', function () {
  this.timeout(60_000);
  let mine: ImportRig;
  let theirs: ImportRig;
  let file: string;

  beforeEach(async () => {
    [mine, theirs] = [await ImportRig.open(), await ImportRig.open()];
    file = join(mine.temp.path, 'session.tksealed');
    const session = await storedSession(mine.store, said, '/w');
    await writeExport(sealed(exportJson(mine.store, [session], { redact: true }), 'correct horse'), file);
  });
  afterEach(async () => {
    await mine.close();
    await theirs.close();
  });

  it('shows nothing of it, and goes on where the passphrase is known, without secrets', async () => {
    const bytes = readFileSync(file).toString('latin1');
    assert.deepEqual([await isSealed(file), bytes.includes('quokkamint'), bytes.includes(token)], [true, false, false]);
    const { sessions, failed } = await theirs.import(file, { passphrase: 'correct horse' });
    assert.deepEqual([failed, sessions.map(({ outcome, title }) => [outcome, title])], [[], [['new', 'Tides']]]);
    const texts = (await theirs.branch(sessions[0]!.uuid)).map(({ content }) => (content.type === 'message' ? content.text : ''));
    assert.deepEqual(texts, ['Push with [token], say quokkamint', 'Pushed.']);
  });

  it('is refused with another passphrase, with none, and with a byte that has changed: nothing is written', async () => {
    const refused = async (passphrase?: string) => {
      const { sessions, failed } = await theirs.import(file, passphrase === undefined ? {} : { passphrase });
      assert.deepEqual([sessions, (await theirs.store.listSessions()).length], [[], 0]);
      return failed.map(({ reason }) => reason);
    };
    const wrong = 'The passphrase is not that of this file, or the file is damaged. Nothing was imported.';
    assert.deepEqual(await refused('incorrect horse'), [wrong]);
    assert.deepEqual(await refused(), ['It is encrypted, and needs its passphrase.']);
    const bytes = readFileSync(file);
    bytes[bytes.length - 20]! ^= 1;
    writeFileSync(file, bytes);
    assert.deepEqual(await refused('correct horse'), [wrong]);
    const newer = Buffer.from(bytes);
    newer.write('2', newer.indexOf('"version":1') + 10);
    writeFileSync(file, newer);
    assert.match((await refused('correct horse'))[0]!, /newer version of Threadkeeper \(format 2; this one reads up to 1\)/);
    writeFileSync(file, bytes.subarray(0, 60));
    assert.deepEqual(await refused('correct horse'), [wrong]);
  });

  it('is not sealed when it could not be opened again, and what is too large is not called a wrong passphrase', async () => {
    const large = join(mine.temp.path, 'large.tksealed');
    async function* pieces(): AsyncGenerator<string> {
      yield 'a'.repeat(2 ** 20);
      yield 'b';
    }
    await assert.rejects(writeExport(sealed(pieces(), 'correct horse', 2 ** 20), large), /has 2 MB; up to 1 MB can be read/);
    assert.equal(existsSync(large), false);
    await writeExport(sealed(pieces(), 'correct horse'), large);
    await assert.rejects(unsealed(large, 'correct horse', 2 ** 20), /has 2 MB; up to 1 MB can be read/);
    assert.equal((await unsealed(large, 'correct horse')).length, 2 ** 20 + 1);
  });

  it('leaves no file when the export fails', async () => {
    const broken = join(mine.temp.path, 'broken.tksealed');
    async function* pieces(): AsyncGenerator<string> {
      yield 'begun';
      throw new Error('the store is gone');
    }
    await assert.rejects(writeExport(sealed(pieces(), 'correct horse'), broken), /the store is gone/);
    assert.equal(existsSync(broken), false);
  });
});
