import assert from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionStore } from '../../../../src/core/ports';
import { storeFiles } from '../../../../src/node/store/database/storeFiles';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { projectRoot } from '../../../support/paths';
import { openTestStore, tempFolder, type TempFolder } from '../../../support/store/storeTemp';

/** Databases as older versions left them, and what a user finds in `s-a` and `s-b` of them. */
const older = [
  { version: 1, own: 'Marmalade', forked: '日本語' },
  { version: 2, own: 'Marmalade', forked: 'Marmalade' },
];

describe('a history of an older version', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let window: ChatWindow;
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(async () => {
    await window.close();
    temp.remove();
  });

  for (const { version, own, forked } of older) {
    it(`of version ${version} is shown, searched, continued and compacted, and stays as it is when it is opened again`, async () => {
      copyFileSync(join(projectRoot, 'test', 'fixtures', 'stores', `v${version}.db`), storeFiles(temp.path).main);
      const open = async () => (store = await openTestStore(temp.path));
      window = new ChatWindow(temp.path, new Map(), open);
      await window.controller.ready();
      assert.equal((await store.listSessions()).length, 2);
      assert.ok(existsSync(`${storeFiles(temp.path).main}.v${version}.bak`), 'what the older version wrote is kept');

      await window.controller.active.openSession('s-a');
      assert.ok(window.last.session?.title.startsWith(own), window.last.session?.title);
      const before = await window.texts();
      assert.ok(before.length > 0);
      for (let i = 0; i < 8; i++)
        await window.ask(`question ${i} about the Zanzibar ledger`, `answer ${i}: ${'the ledger is kept in the tower. '.repeat(40)}`);
      const texts = await window.texts();
      assert.deepEqual(texts.slice(0, before.length), before);
      const found = async (text: string) => (await store.search({ text, limit: 50 })).hits.map(({ session }) => session);
      assert.ok((await found('Zanzibar')).includes('s-a'));
      const words = before.find((text) => /\p{L}{4}/u.test(text)) ?? '';
      assert.ok((await found(words)).length > 0, `what was said before is found: ${words}`);

      const { entry, message } = await window.controller.compact();
      assert.ok(entry, message ?? 'nothing was compacted');
      assert.equal(window.controller.state.canUndo, true);
      await window.ask('and after it?');
      assert.deepEqual((await window.texts()).slice(0, before.length), before, 'nothing is gone from the transcript');
      const shown = await window.texts();

      await window.controller.active.openSession('s-b');
      assert.ok(window.last.session?.title.includes(forked), window.last.session?.title);
      assert.equal(window.last.draft, 'a draft');
      await window.close();

      window = new ChatWindow(temp.path, new Map(), open);
      await window.controller.ready();
      await window.controller.active.openSession('s-a');
      assert.deepEqual(await window.texts(), shown);
    });
  }
});
