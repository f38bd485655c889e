import { deepStrictEqual, rejects } from 'node:assert';
import { StoreService, type StoreWindow } from '../../../../src/node/store/owner/storeService';

describe('a store whose owner has just ended', () => {
  for (const [method, args] of [
    ['syncReceive', [[], []]],
    ['purge', [['s']]],
    ['queue', ['s']],
    ['saveQueue', ['s', []]],
    ['append', ['s', { entries: [{ content: { type: 'message' } }], after: 'leaf' }]],
  ] as const)
    it(`${method} waits until the other windows are back`, async () => {
      let back!: () => void;
      const returned = new Promise<void>((resolve) => (back = resolve));
      const done: unknown[] = [];
      const core = {
        syncReceive: (_: unknown, __: unknown, held: unknown) => void done.push(held),
        purge: () => void done.push('purged'),
        queue: () => [{ id: 'q', text: 'waits in the other window' }],
        saveQueue: (_: unknown, queue: unknown) => void done.push(queue),
        append: () => void done.push('appended'),
      };
      const service = new StoreService(core as never, returned);
      const window = (label: string): StoreWindow => ({ label, notify: () => undefined });
      const mine = window('mine');
      service.join(mine, { claims: [], queued: [] });
      const asked = (async () => service.call(mine, method, args))();
      service.join(window('other'), { claims: [{ session: 's', claim: 'c' }], queued: ['q'] });
      back();
      if (method === 'purge' || method === 'append') await rejects(asked, { reason: 'conflict' });
      else if (method === 'queue') deepStrictEqual(await asked, []);
      else {
        await asked;
        deepStrictEqual(done, method === 'saveQueue' ? [[{ id: 'q', text: 'waits in the other window' }]] : [['s']]);
      }
    });

  it('lets a window write in the session that it holds, behind what it has asked before', async () => {
    let back!: () => void;
    const returned = new Promise<void>((resolve) => (back = resolve));
    const done: string[] = [];
    const core = { queue: () => [], saveQueue: () => void done.push('queue'), append: () => (done.push('appended'), []) };
    const service = new StoreService(core as never, returned);
    const mine: StoreWindow = { label: 'mine', notify: () => undefined };
    service.join(mine, { claims: [{ session: 's', claim: 'c' }], queued: [] });
    const append = () => service.call(mine, 'append', ['s', { entries: [{ content: { type: 'message' } }], after: 'leaf' }]);
    append();
    deepStrictEqual(done, ['appended']);
    const later = [service.call(mine, 'saveQueue', ['s', []]), append()];
    deepStrictEqual(done, ['appended']);
    back();
    await Promise.all(later);
    deepStrictEqual(done, ['appended', 'queue', 'appended']);
  });
});
