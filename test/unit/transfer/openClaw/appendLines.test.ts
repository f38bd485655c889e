import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { appendLines } from '../../../../src/node/transfer/openClaw/openClawReplies';
import { identityOf } from '../../../../src/node/transfer/foreign/fileTail';
import { tempFolder, type TempFolder } from '../../../support/store/storeTemp';

const child = join(__dirname, '..', '..', '..', 'support', 'store', 'appendChild.js');

describe('appending to a file of another program', () => {
  let temp: TempFolder;
  let file: string;
  beforeEach(() => {
    temp = tempFolder();
    file = join(temp.path, 'one.jsonl');
    writeFileSync(file, 'first\n');
  });
  afterEach(() => temp.remove());

  const position = () => ({ identity: identityOf(statSync(file)), offset: statSync(file).size });

  it('puts whole lines behind what is there', async () => {
    assert.equal(await appendLines(file, ['second', 'dritte: größer 漢字'], position()), true);
    assert.equal(readFileSync(file, 'utf8'), 'first\nsecond\ndritte: größer 漢字\n');
  });

  it('writes nothing to a file that has grown, was cut or replaced, or is gone', async () => {
    const known = position();
    appendFileSync(file, 'half a li');
    assert.equal(await appendLines(file, ['x'], known), false);
    writeFileSync(`${file}.new`, 'other\n');
    renameSync(`${file}.new`, file);
    assert.equal(await appendLines(file, ['x'], known), false);
    assert.equal(readFileSync(file, 'utf8'), 'other\n');
    renameSync(file, `${file}.away`);
    await assert.rejects(appendLines(file, ['x'], known), /ENOENT/);
    assert.equal(existsSync(file), false, 'it is not made anew');
  });

  it('takes nothing from a file that was put in the place of the one it could not write to', async () => {
    const probe = await open(file, 'r');
    const handles = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
    const known = position();
    const { write } = handles;
    handles.write = async function (this: FileHandle, bytes: Uint8Array) {
      const { bytesWritten } = await this.writev([bytes.subarray(0, 3)]);
      writeFileSync(`${file}.new`, 'of the other program, and longer\n');
      renameSync(file, `${file}.away`);
      renameSync(`${file}.new`, file);
      return { bytesWritten, buffer: bytes };
    } as FileHandle['write'];
    try {
      await assert.rejects(appendLines(file, ['second'], known), /Only 3 of 7 bytes/);
    } finally {
      handles.write = write;
    }
    assert.equal(readFileSync(file, 'utf8'), 'of the other program, and longer\n');
    if (process.platform !== 'win32') assert.equal(readFileSync(`${file}.away`, 'utf8'), 'first\n');
  });

  it('takes back a line of which only a part could be written', () => {
    if (process.platform === 'win32') return;
    const before = `${'a'.repeat(1000)}\n`;
    writeFileSync(file, before);
    // A limit of 1024 bytes to a file: the system writes what fits, as it does on a full disk.
    const said = execFileSync('bash', ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, child, file, 'b'.repeat(500)], {
      encoding: 'utf8',
    });
    assert.match(said, /failed: .*(Only 23 of 501 bytes|EFBIG)/);
    assert.equal(readFileSync(file, 'utf8'), before);
  });
});
