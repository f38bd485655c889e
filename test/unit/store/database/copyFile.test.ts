import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, readSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTo } from '../../../../src/node/store/copies/readonlyCopy';
import { copyFileDurably, copyFileInUse } from '../../../../src/node/store/database/copyFile';
import { tempFolder } from '../../../support/store/storeTemp';

describe('store: the copy of a file in use', () => {
  const temp = tempFolder();
  const [from, to] = [join(temp.path, 'from'), join(temp.path, 'to')];
  const whole = Buffer.alloc(3_000_000, 'some text ');
  /** As `readSync`; after the first piece, or the one that `isIt` knows, somebody else does something to the file. */
  const meanwhile = (act: () => void, isIt = (_piece: Buffer) => true): typeof readSync => {
    let isOver = false;
    return (...args: unknown[]) => {
      const bytes = (readSync as (...all: unknown[]) => number)(...args);
      if (!isOver && isIt(args[1] as Buffer)) {
        isOver = true;
        act();
      }
      return bytes;
    };
  };
  beforeEach(() => writeFileSync(from, whole));
  after(() => temp.remove());

  it('is the file, whatever stood in its place, also where it cannot be cloned', () => {
    for (const ways of [{}, { clone: () => false }]) {
      writeFileSync(from, whole);
      copyFileInUse(from, to, ways);
      assert.ok(readFileSync(to).equals(whole));
      writeFileSync(from, 'short');
      copyFileInUse(from, to, ways);
      assert.equal(readFileSync(to, 'utf8'), 'short');
    }
  });

  it('is left to the file system that can clone', () => {
    const clones: string[][] = [];
    copyFileInUse(from, to, { clone: (...files) => clones.push(files) > 0, read: () => assert.fail('read') });
    assert.deepEqual(clones, [[from, to]]);
  });

  it('ends where the file ends that was made shorter or longer meanwhile', () => {
    copyFileInUse(from, to, { clone: () => false, read: meanwhile(() => truncateSync(from, 10)) });
    assert.ok(whole.subarray(0, 1024 * 1024).equals(readFileSync(to)));
    writeFileSync(from, whole);
    copyFileInUse(from, to, { clone: () => false, read: meanwhile(() => writeFileSync(from, 'more', { flag: 'a' })) });
    assert.equal(readFileSync(to).length, whole.length + 4);
  });

  it('is begun anew where a checkpoint empties the log while that is copied', () => {
    const own = tempFolder();
    const at = (folder: string) => ({ main: join(folder, 'main'), wal: join(folder, 'wal'), journal: join(folder, 'journal') });
    const [files, copy] = [at(own.path), at(join(own.path, 'copy'))];
    mkdirSync(join(own.path, 'copy'));
    writeFileSync(files.main, 'before');
    writeFileSync(files.wal, whole);
    const checkpoint = () => {
      writeFileSync(files.main, 'with all that was in the log');
      truncateSync(files.wal, 0);
    };
    copyTo(files, copy, 50, {
      clone: () => false,
      read: meanwhile(checkpoint, (piece) => piece.subarray(0, 4).equals(whole.subarray(0, 4))),
    });
    assert.equal(readFileSync(copy.main, 'utf8'), 'with all that was in the log');
    assert.equal(existsSync(copy.wal), false);
    own.remove();
  });

  it('says what is missing', () => {
    assert.throws(() => copyFileInUse(join(temp.path, 'nothing'), to), { code: 'ENOENT' });
  });

  it('takes the place of another file as a whole, or leaves it alone', () => {
    writeFileSync(to, 'old');
    assert.throws(() => copyFileDurably(join(temp.path, 'nothing'), to), { code: 'ENOENT' });
    assert.equal(readFileSync(to, 'utf8'), 'old');
    copyFileDurably(from, to);
    assert.ok(readFileSync(to).equals(whole));
    mkdirSync(join(temp.path, 'folder'));
    assert.throws(() => copyFileDurably(from, join(temp.path, 'folder')));
    assert.deepEqual(readdirSync(temp.path).sort(), ['folder', 'from', 'to']);
  });
});
