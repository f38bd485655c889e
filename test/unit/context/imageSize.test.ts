import { deepStrictEqual } from 'node:assert';
import { imageSize, imageTokens } from '../../../src/core/context/projection/attachments';

const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array([
    ...parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part, 'latin1')] : part)),
    ...new Array<number>(30).fill(0),
  ]);

describe('the size of an image', () => {
  it('is read from the bytes of all four kinds, whatever the file is called', () => {
    deepStrictEqual(
      [
        imageSize(bytes([0x89], 'PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', [0, 0, 4, 0, 0, 0, 2, 1])),
        imageSize(bytes('GIF89a', [0x40, 1, 0xf0, 0])),
        imageSize(bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc4, 0, 3, 9, 0xff, 0xc0, 0, 17, 8, 1, 0x2c, 2, 0x58])),
        imageSize(bytes('RIFF', [0, 0, 0, 0], 'WEBPVP8 ', [0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1])),
        imageSize(bytes('RIFF', [0, 0, 0, 0], 'WEBPVP8L', [0, 0, 0, 0, 0x2f, 0x63, 0xc0, 0x18, 0])),
        imageSize(bytes('RIFF', [0, 0, 0, 0], 'WEBPVP8X', [0, 0, 0, 0, 0, 0, 0, 0, 0x1f, 3, 0, 0x57, 2, 0])),
      ],
      [
        { mime: 'image/png', width: 1_024, height: 513 },
        { mime: 'image/gif', width: 320, height: 240 },
        { mime: 'image/jpeg', width: 600, height: 300 },
        { mime: 'image/webp', width: 640, height: 480 },
        { mime: 'image/webp', width: 100, height: 100 },
        { mime: 'image/webp', width: 800, height: 600 },
      ],
    );
  });

  it('is nothing for other bytes, and for those that break off', () => {
    deepStrictEqual(
      [imageSize(bytes('<svg>')), imageSize(new Uint8Array([0x89, 0x50])), imageSize(bytes([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff]))],
      [null, null, null],
    );
  });

  it('costs what the provider charges', () => {
    const cost = (width: number, height: number) => imageTokens({ width, height });
    // The provider's own examples: https://docs.claude.com/en/docs/build-with-claude/vision
    deepStrictEqual([cost(200, 200), cost(1_000, 1_000), cost(1_092, 1_092), cost(8_000, 8_000), cost(0, 0)], [54, 1_334, 1_590, 1_600, 1]);
  });
});
