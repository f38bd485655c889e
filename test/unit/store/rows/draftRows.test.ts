import assert from 'node:assert/strict';
import type { Attachment } from '../../../../src/core/session/userMessage';
import { SearchStore } from '../../../support/store/searchStore';
import { tempFolder } from '../../../support/store/storeTemp';

const attachment: Attachment = { kind: 'file', name: 'a.ts', hash: 'a'.repeat(64), mime: 'text/plain', tokens: 3 };

describe('store: drafts and queue', () => {
  const temp = tempFolder();
  let store: SearchStore;
  before(async () => {
    store = await SearchStore.open(temp.path);
    store.session('s');
  });
  after(() => {
    store.database.close();
    temp.remove();
  });
  const raw = (table: string) =>
    store.database.connection.get(`SELECT attachments_json AS json FROM ${table} WHERE session = 's'`)?.['json'];
  const spoil = (json: string) => store.database.connection.run('UPDATE drafts SET attachments_json = ?', [json]);

  it('keep what is attached', () => {
    store.core.saveDraft('s', { text: 'look', attachments: [attachment], at: 1 });
    assert.deepEqual(store.core.draft('s'), { text: 'look', attachments: [attachment], at: 1 });
    store.core.saveQueue('s', [
      { id: '1', text: 'one', attachments: [attachment] },
      { id: '2', text: 'two' },
    ]);
    assert.deepEqual(store.core.queue('s'), [
      { id: '1', text: 'one', attachments: [attachment] },
      { id: '2', text: 'two' },
    ]);
    store.core.saveQueue('s', []);
  });

  for (const [name, json, unreadable] of [
    ['are no JSON', '[{"kind":', [{ unreadable: '[{"kind":' }]],
    ['are of a kind that nobody knows', JSON.stringify([attachment, { kind: 'hologram' }]), [{ kind: 'hologram' }]],
  ] as const) {
    it(`give the text of a draft whose attachments ${name}, say so, and keep those through every change`, () => {
      store.core.saveDraft('s', { text: 'the text', attachments: [], at: 1 });
      spoil(json);
      const read = json.includes('hologram') ? [attachment] : [];
      assert.deepEqual(store.core.draft('s'), { text: 'the text', attachments: read, at: 1, unreadable: true });
      store.core.saveDraft('s', { text: 'more', attachments: [attachment], at: 2 });
      assert.deepEqual(JSON.parse(String(raw('drafts'))), [attachment, ...unreadable]);
      store.core.saveDraft('s', null);
      assert.deepEqual(store.core.draft('s'), { text: '', attachments: [], at: 2, unreadable: true });
      assert.deepEqual(JSON.parse(String(raw('drafts'))), unreadable);
      store.database.connection.run('DELETE FROM drafts');
    });
  }

  it('move what cannot be read of a queue to the draft when the queue is written anew', () => {
    store.core.saveQueue('s', [{ id: '1', text: 'one', attachments: [attachment] }]);
    store.database.connection.run("UPDATE queue SET attachments_json = 'gibberish'");
    assert.deepEqual(store.core.queue('s'), [{ id: '1', text: 'one' }]);
    store.core.saveQueue('s', []);
    assert.deepEqual(store.core.draft('s'), { text: '', attachments: [], at: 0, unreadable: true });
    assert.equal(raw('drafts'), '[{"unreadable":"gibberish"}]');
  });
});
