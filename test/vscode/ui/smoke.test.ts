import assert from 'node:assert/strict';
import { openVscode, type VscodeSession } from '../../support/vscode/openVscode';

describe('a fresh profile', () => {
  let session: VscodeSession;

  before(async () => {
    session = await openVscode();
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(() => session?.close());

  it('shows the chat in the side bar', async () => {
    const { workbench } = session;
    await workbench.openView();
    const chat = await workbench.webview('textarea');
    assert.equal(await chat.locator('textarea').first().isEditable(), true);
    await workbench.screenshot('fresh-profile');
  });
});
