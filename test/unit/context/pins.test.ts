import assert from 'node:assert/strict';
import { Pins, type PinsDeps } from '../../../src/core/context/pins';
import { StoreError } from '../../../src/core/errors';
import type { Pin } from '../../../src/core/session/storage';
import { TestClock } from '../../support/chat/testClock';

const pin = (kind: Pin['kind'], target: string, contentHash: string | null = null): Pin => ({
  session: 's',
  kind,
  target,
  contentHash,
  at: 1,
});

/** Pins of a store that holds `pins` and no entry; a token for each character, of which there are `budget`. */
function pinsOver(pins: readonly Pin[], over: Partial<PinsDeps> = {}, budget = 1_000): Pins {
  return new Pins({
    store: {
      pins: () => Promise.resolve([...pins]),
      savePin: () => Promise.reject(new Error('nothing is to be saved')),
      removePin: () => Promise.resolve(),
      entries: () => Promise.resolve([]),
    },
    session: () => 's',
    clock: new TestClock(),
    estimate: (text) => text.length,
    budget: () => budget,
    files: null,
    emit: () => undefined,
    ...over,
  });
}

describe('what is pinned', () => {
  it('is told as it is now: changed, gone, purged, or cut where it has grown beyond the room for it', async () => {
    const files = new Map([
      ['rules.md', { text: 'Never on Fridays.', hash: 'new' }],
      ['long.md', { text: 'x'.repeat(5_000), hash: 'same' }],
    ]);
    const read = (path: string) => Promise.resolve(files.get(path));
    const all = [pin('file', 'rules.md', 'old'), pin('file', 'gone.md', 'old'), pin('entry', 'purged'), pin('file', 'long.md', 'same')];
    const text = await pinsOver(all, { files: { read } }).text();
    const [head, rules, gone, purged, long] = text.split(/^(?=###)/m);
    assert.deepEqual(
      [head, rules, gone, purged],
      [
        '## Pinned by the user (verbatim)\n',
        '### File rules.md, changed since it was pinned\n  Never on Fridays.\n',
        '### File gone.md\n(it cannot be read any more)\n',
        '### Message\n(it cannot be read any more)\n',
      ],
    );
    assert.match(long!, /^### File long\.md\n {2}x{700,999}\n {2}\[… longer than there is room for …\]$/);
  });

  it('is refused with its reason: a message without text, a file that cannot be read', async () => {
    const pins = pinsOver([]);
    assert.deepEqual(await pins.pin({ kind: 'entry', target: 'purged' }), {
      message: 'There is nothing to pin: this message has no text.',
      added: null,
    });
    assert.deepEqual(await pins.pin({ kind: 'file', target: 'gone.md' }), {
      message: '“gone.md” cannot be read as text in this workspace, so it was not pinned.',
      added: null,
    });
  });

  it('lets no compaction go on without them when the store cannot be read', async () => {
    const pins = pinsOver([], {
      store: {
        pins: () => Promise.reject(new StoreError('io', 'disk gone')),
        savePin: () => Promise.resolve(),
        removePin: () => Promise.resolve(),
        entries: () => Promise.resolve([]),
      },
    });
    await assert.rejects(pins.text(), /disk gone/);
  });
});
