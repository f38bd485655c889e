import { deepStrictEqual } from 'node:assert';
import { Emitter } from '../../../../src/core/base/event';
import type { StoreChange } from '../../../../src/core/session/storage';
import { arrivingBlob } from '../../../../src/vscode/composer/arrivingBlob';

const bytes = Buffer.from('picture');

/** A store to which the bytes come when the test says so. */
class Arriving {
  readonly asked: string[] = [];
  there: Uint8Array | undefined;
  private readonly changed = new Emitter<StoreChange>();
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly isOnItsWay: boolean,
    private readonly whenAsked: () => void = () => undefined,
  ) {}

  blob(): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.there);
  }

  syncAskAttachment(hash: string): Promise<boolean> {
    this.asked.push(hash);
    this.whenAsked();
    return Promise.resolve(this.isOnItsWay);
  }

  tell(): void {
    this.changed.fire({ kind: 'session', session: 's' });
  }
}

describe('an attachment that somebody looks at', () => {
  it('is not asked for where it is there', async () => {
    const store = new Arriving(true);
    store.there = bytes;
    deepStrictEqual([await arrivingBlob(store, 'h'), store.asked], [bytes, []]);
  });

  it('is not waited for where it is on no other device', async () => {
    const store = new Arriving(false);
    deepStrictEqual([await arrivingBlob(store, 'h'), store.asked], [undefined, ['h']]);
  });

  it('is waited for while it is on its way, whatever else happens meanwhile', async () => {
    const store = new Arriving(true);
    const found = arrivingBlob(store, 'h');
    await new Promise(setImmediate);
    store.tell();
    await new Promise(setImmediate);
    store.there = bytes;
    store.tell();
    deepStrictEqual(await found, bytes);
  });

  it('is seen where it comes before anybody listens', async () => {
    const store: Arriving = new Arriving(true, () => (store.there = bytes));
    deepStrictEqual(await arrivingBlob(store, 'h'), bytes);
  });
});
