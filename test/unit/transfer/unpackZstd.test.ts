import assert from 'node:assert/strict';
import fc from 'fast-check';
import { UnpackBudget, unpackZstd as unpackWithin } from '../../../src/node/transfer/foreign/unpackZstd';
import { zstdBomb, zstdFrame } from '../../support/store/zstdFrame';

const perMegabyte = 8;
const unpackZstd = (bytes: Uint8Array) => unpackWithin(bytes, new UnpackBudget());
const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]);

describe('unpacking zstd', () => {
  it('gives back what was packed, whatever frames it is in', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 4 }), (contents) => {
        const packed = Buffer.concat(contents.flatMap((content, i) => (i === 1 ? [skippable, zstdFrame(content)] : [zstdFrame(content)])));
        assert.deepEqual(Buffer.from(unpackZstd(packed)!), Buffer.concat(contents));
      }),
    );
    const long = Buffer.alloc(300 * 1024, 'long ');
    assert.deepEqual(Buffer.from(unpackZstd(zstdFrame(long))!), long);
    assert.equal(unpackZstd(zstdBomb(perMegabyte))?.length, 1024 * 1024);
  });

  it('unpacks many small blocks of a frame that names its size, by which it knows that they are', () => {
    const count = 1_100;
    const named = zstdFrame(Buffer.alloc(2 * count)).subarray(0, 9);
    // Compressed to two characters as they are, and no sequence.
    const blocks = Array.from({ length: count }, (_, i) => {
      const bytes = Buffer.from([0, 0, 0, 2 << 3, ...Buffer.from('ab'), 0]);
      bytes.writeUIntLE((4 << 3) | (2 << 1) | (i === count - 1 ? 1 : 0), 0, 3);
      return bytes;
    });
    assert.equal(Buffer.from(unpackZstd(Buffer.concat([named, ...blocks]))!).toString(), 'ab'.repeat(count));
    const unnamed = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3]);
    assert.equal(unpackZstd(Buffer.concat([unnamed, ...blocks])), null);
  });

  it('unpacks nothing that would be too large, or says so, in whatever frame', () => {
    const small = zstdFrame(Buffer.from('small'));
    const withWindow = (exponent: number) =>
      Buffer.concat([
        Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (exponent - 10) << 3]),
        Buffer.from([(5 << 3) | 1, 0, 0]),
        Buffer.from('small'),
      ]);
    assert.equal(Buffer.from(unpackZstd(withWindow(27))!).toString(), 'small');
    const cases = {
      bomb: zstdBomb(128 * perMegabyte + 1),
      'bomb behind another frame': Buffer.concat([small, skippable, zstdBomb(128 * perMegabyte)]),
      claim: zstdFrame(Buffer.from('small'), 0xffff_ffff),
      'many claims': Buffer.concat([
        zstdFrame(Buffer.from('small'), 100 * 1024 * 1024),
        zstdFrame(Buffer.from('small'), 100 * 1024 * 1024),
      ]),
      window: withWindow(31),
    };
    for (const [name, bytes] of Object.entries(cases)) assert.equal(unpackZstd(bytes), null, name);
  });

  it('says that what is damaged is', () => {
    const whole = zstdFrame(Buffer.from('whole'));
    for (let length = 4; length < whole.length; length++) assert.throws(() => unpackZstd(whole.subarray(0, length)), `${length} bytes`);
    assert.throws(() => unpackZstd(Buffer.from('no such thing')));
  });

  it('comes to an end with anything', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 6, maxLength: 60 }), (bytes) => {
        try {
          unpackZstd(Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), bytes]));
        } catch (error) {
          assert.ok(error instanceof Error);
        }
      }),
    );
  });
});
