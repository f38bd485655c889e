import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { fillAttachments } from '../../../src/core/context/projection/attachments';
import type { PromptMessage } from '../../../src/core/context/projection/projection';
import type { ModelBlock } from '../../../src/core/models/modelRequest';
import { mostImageBytes } from '../../../src/core/session/userMessage';
import { pngOf } from '../../support/pngOf';
import { testFrames } from '../../support/chat/testFrames';

interface Stored {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly mime?: string;
}

/** Each in a message of its own, as they lie in a history, or all in one. */
async function sent(stored: readonly Stored[], messagesCount = stored.length): Promise<ModelBlock[]> {
  const blocks = stored.map(({ name, mime = 'image/png' }): PromptMessage['blocks'][number] => ({
    type: 'attachment',
    attachment: { kind: 'image', name, hash: name, mime },
    limit: null,
    ref: '#1',
  }));
  const messages: PromptMessage[] =
    messagesCount === 1 ? [{ role: 'user', blocks }] : blocks.map((block) => ({ role: 'user', blocks: [block] }));
  const filled = await fillAttachments(messages, testFrames, { blob: async (hash) => stored.find(({ name }) => name === hash)?.bytes });
  return filled.flatMap(({ blocks }) => blocks);
}

const notSent = (name: string, why: string) => ({
  type: 'text',
  text: testFrames.notice('missing', `The image that was attached here is not sent: ${why}`, { attached: 'image', name }),
});
const image = (name: string, mime: string, bytes: Uint8Array) => ({
  type: 'image',
  name,
  mime,
  data: Buffer.from(bytes).toString('base64'),
});

describe('Images that are stored', () => {
  it('are left out in words where a provider would refuse the request for them: every later one would be refused as well', async () => {
    const [fits, wide] = [pngOf(8_000, 20), pngOf(20, 8_001)];
    deepStrictEqual(
      await sent([
        { name: 'fits', bytes: fits },
        { name: 'wide', bytes: wide },
        { name: 'heavy', bytes: pngOf(20, 20, mostImageBytes + 1) },
      ]),
      [
        image('fits', 'image/png', fits),
        notSent('wide', 'it has 20 × 8001 pixels, and 8000 a side are taken at most. A smaller copy can be seen.'),
        notSent('heavy', 'it has 3932161 bytes, and 3932160 are taken at most.'),
      ],
    );
  });

  it('may have fewer pixels beside more than 20 others; those that are left out anyway do not count', async () => {
    const large = { name: 'large', bytes: pngOf(2_001, 20) };
    const small = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `small ${n}`, bytes: pngOf(2_000, 20) }));
    const few = await sent([large, { name: 'wide', bytes: pngOf(9_000, 20) }, ...small(19)]);
    strictEqual(few.filter(({ type }) => type === 'image').length, 20);
    const [first, ...others] = await sent([large, ...small(20)]);
    deepStrictEqual(
      first,
      notSent(
        'large',
        'it has 2001 × 20 pixels, and 2000 a side are taken at most beside more than 20 images. A smaller copy can be seen.',
      ),
    );
    strictEqual(others.filter(({ type }) => type === 'image').length, 20);
  });

  it('make room for later ones, the oldest first, where a request would take no more', async () => {
    const photo = (n: number) => ({ name: `photo ${n}`, bytes: pngOf(20, 20, 3_000_000) });
    const names = (blocks: readonly ModelBlock[]) =>
      blocks.flatMap((block) => (block.type === 'image' ? [Number(block.name.slice(6))] : []));
    const photos = Array.from({ length: 12 }, (_, n) => photo(n));
    const kept = [];
    for (let count = 5; count <= 12; count++) kept.push(names(await sent(photos.slice(0, count))));
    deepStrictEqual(kept, [
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4, 5],
      [4, 5, 6],
      [4, 5, 6, 7],
      [4, 5, 6, 7, 8],
      [4, 5, 6, 7, 8, 9],
      [8, 9, 10],
      [8, 9, 10, 11],
    ]);
    const [first] = await sent(photos.slice(0, 7));
    deepStrictEqual(first, notSent('photo 0', 'a request takes 20000000 bytes of images, and later ones need the room.'));
    const together = await sent(photos.slice(0, 9), 1);
    deepStrictEqual(names(together), [3, 4, 5, 6, 7, 8], 'those of one message, as many as fit');
  });

  it('are sent as what their bytes say they are, and what is no image is not sent as a text instead', async () => {
    const png = pngOf(20, 20);
    const unknown = new TextEncoder().encode('a picture in words that nobody can measure');
    const pdf = new TextEncoder().encode(`%PDF-1.7 ${'binary '.repeat(1_000)}`);
    deepStrictEqual(
      await sent([
        { name: 'shot', bytes: png, mime: 'image/jpg' },
        { name: 'odd', bytes: unknown, mime: 'image/webp' },
        { name: 'spec', bytes: pdf, mime: 'application/pdf' },
      ]),
      [
        image('shot', 'image/png', png),
        image('odd', 'image/webp', unknown),
        {
          type: 'text',
          text: testFrames.notice('missing', 'What was attached here as an image is none, and is not sent.', {
            attached: 'image',
            name: 'spec',
          }),
        },
      ],
    );
  });
});
