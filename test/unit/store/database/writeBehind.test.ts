import assert from 'node:assert/strict';
import fc from 'fast-check';
import { WriteBehind } from '../../../../src/node/store/wasm/fileBuffer';

const size = 400_000;

describe('store: writes that are gathered', () => {
  it('leave the file as writing each at once does, whatever follows what, also where the system takes only a part', () => {
    const write = fc.record({
      follows: fc.boolean(),
      position: fc.nat(200_000),
      length: fc.integer({ min: 1, max: 70_000 }),
      flushed: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), fc.integer({ min: 1, max: 65_536 }), (writes, taken) => {
        const [disk, plain] = [new Uint8Array(size), new Uint8Array(size)];
        const behind = new WriteBehind((bytes, offset, length, position) => {
          const part = Math.min(length, taken);
          disk.set(bytes.subarray(offset, offset + part), position);
          return part;
        });
        let end = 0;
        for (const [i, { follows, position, length, flushed }] of writes.entries()) {
          const source = new Uint8Array(length + 7).fill(i + 1);
          for (let done = 0, at = follows && end + length < size ? end : position; done < length; ) {
            const moved = behind.write(source, 7 + done, length - done, at + done);
            plain.set(source.subarray(7 + done, 7 + done + moved), at + done);
            done += moved;
            end = at + done;
          }
          if (flushed) behind.flush();
        }
        behind.flush();
        assert.ok(Buffer.from(disk).equals(plain));
      }),
      { numRuns: 150 },
    );
  });

  it('asks the system once for a hundred frames', () => {
    let calls = 0;
    const behind = new WriteBehind((_bytes, _offset, length) => (calls++, length));
    for (let i = 0; i < 100; i++) behind.write(new Uint8Array(536), 0, 536, i * 536);
    assert.equal(calls, 0);
    behind.flush();
    assert.equal(calls, 1);
  });

  it('says what the system says, once, and forgets what could not be written', () => {
    const behind = new WriteBehind(() => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    });
    behind.write(new Uint8Array(10), 0, 10, 0);
    assert.throws(() => behind.flush(), { code: 'ENOSPC' });
    behind.flush();
  });
});
