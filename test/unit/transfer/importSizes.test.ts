import assert from 'node:assert/strict';
import { join } from 'node:path';
import fc from 'fast-check';
import type { SessionStore } from '../../../src/core/ports';
import { contentSize, type EntryContent } from '../../../src/core/session/entry';
import { KindCounter } from '../../../src/core/transfer/importReport';
import { batches } from '../../../src/node/transfer/import/importExport';
import { RecordPlaces } from '../../../src/node/transfer/import/recordPlaces';
import { brief, ImportRig } from '../../support/store/importRig';
import { openTestStore } from '../../support/store/storeTemp';

const header = { type: 'session', version: 3, id: 's1', timestamp: '2026-09-01T10:00:00Z', cwd: '/w' };
const row = (id: string, parentId: string | null, message: object) => ({
  type: 'message',
  id,
  parentId,
  timestamp: '2026-09-01T10:00:01Z',
  message,
});
const user = (id: string, parentId: string | null, text: string, more: object = {}) =>
  row(id, parentId, { role: 'user', content: text, ...more });
const megabyte = 1024 * 1024;

describe('an import of what is large', () => {
  let rig: ImportRig;
  const sizes: number[] = [];

  beforeEach(async () => {
    rig = await ImportRig.open();
    sizes.length = 0;
  });
  afterEach(() => rig.close());

  /** The store, and how much it is given at once. */
  function measured(): SessionStore {
    return {
      ...rig.store,
      importEntries: (session, batch) => {
        sizes.push(JSON.stringify(batch).length);
        return rig.store.importEntries(session, batch);
      },
    };
  }

  const kinds: readonly [string, (id: string, parentId: string | null) => object][] = [
    ['fields that it does not know', (id, parentId) => user(id, parentId, 'small', { novelty: { inside: ['x'.repeat(megabyte)] } })],
    [
      'what a call is given',
      (id, parentId) =>
        row(id, parentId, {
          role: 'assistant',
          content: [{ type: 'toolCall', id: `call_${id}`, name: 'write', arguments: { text: 'x'.repeat(megabyte) } }],
        }),
    ],
  ];
  for (const [what, make] of kinds) {
    it(`gives the store no more at once than fits into a message to another window, whatever is large: ${what}`, async () => {
      const rows = Array.from({ length: 20 }, (_, i) => make(`r${i}`, i === 0 ? null : `r${i - 1}`));
      const { sessions, failed } = await rig.import(rig.source('raw.jsonl', [header, ...rows]), { store: measured() });
      assert.deepEqual([failed, sessions[0]?.repaired], [[], []]);
      assert.ok(sizes.length >= 3 && Math.max(...sizes) < 10 * megabyte, sizes.join());
    });
  }

  it('gives it no more at once either where all has waited for what stands at the end of the file', async () => {
    const rows = Array.from({ length: 20 }, (_, i) => user(`r${i}`, i === 0 ? null : `r${i - 1}`, 'x'.repeat(megabyte)));
    const { sessions } = await rig.import(rig.source('late.jsonl', [header, ...rows.reverse()]), { store: measured() });
    assert.equal(sessions[0]?.entriesAdded, 20);
    assert.ok(Math.max(...sizes) < 10 * megabyte, sizes.join());
  });

  it('leaves out what no message can hold, says so, and brings what stands before and behind it, through another window too', async function () {
    this.timeout(30_000);
    const peer = await openTestStore(join(rig.temp.path, 'store'), 'other');
    try {
      const file = rig.source('huge.jsonl', [
        header,
        user('a', null, 'before'),
        user('b', 'a', 'x'.repeat(61 * megabyte)),
        user('c', 'b', 'behind'),
      ]);
      const { sessions, failed } = await rig.import(file, { store: peer });
      assert.deepEqual(
        { failed, repaired: sessions[0]?.repaired, keptRaw: sessions[0]?.keptRaw },
        { failed: [], repaired: [{ kind: 'larger than 60 MB, left out', count: 1 }], keptRaw: [] },
      );
      const branch = await rig.branch(sessions[0]!.uuid);
      assert.deepEqual(branch.map(brief), ['user: before', 'custom too_large', 'user: behind']);
      assert.deepEqual(branch[1]!.content, {
        type: 'custom',
        customType: 'too_large',
        data: { type: 'message', bytes: 61 * megabyte + '{"type":"message","role":"user","text":""}'.length },
      });
      assert.equal((await rig.import(file, { store: peer })).sessions[0]?.outcome, 'known');
    } finally {
      await peer.close();
    }
  });

  it('cuts the entries of an export by all that they hold', async () => {
    const content: EntryContent = { type: 'custom', customType: 'x', data: ['y'.repeat(megabyte)] };
    const lengths: number[] = [];
    for await (const batch of batches(
      (async function* () {
        for (let i = 0; i < 8; i++) yield { content };
      })(),
    ))
      lengths.push(batch.length);
    assert.deepEqual(lengths, [3, 3, 2]);
  });

  it('never takes a content for smaller than its JSON, escapes apart', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const content: EntryContent = { type: 'custom', customType: 'x', data };
        const plain = JSON.stringify(content).replace(/\\(?:u[\da-f]{4}|.)/g, 'x');
        assert.ok(contentSize(content) >= plain.length, plain);
      }),
    );
  });
});

describe('records that come before what they follow', () => {
  it('may be more than a call takes arguments', () => {
    let told = 0;
    const places = new RecordPlaces('any', { id: 's1' }, new KindCounter(), () => told++);
    const content = { type: 'message', role: 'user', text: 'Hi' } as const;
    const record = (id: string, parent: string | null) => {
      places.add({ id, parent, at: null, hash: id, parts: [{ content, modelFacing: true, display: true }] });
    };
    for (let i = 0; i < 200_000; i++) record(String(i), 'late');
    record('late', null);
    assert.deepEqual([told, places.isWaiting], [200_001, false]);
  });
});
