import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChat, type ChatSession } from '../chat/chatSession';

/**
 * One VS Code for all tests of a suite, with pictures of those that fail, and a folder for the files that they bring and make: it is
 * there at once and goes with the window.
 */
export function useChat(options: Parameters<typeof openChat>[0] = {}): { readonly session: () => ChatSession; readonly files: string } {
  const files = mkdtempSync(join(tmpdir(), 'threadkeeper-files-'));
  let session: ChatSession;
  before(async () => {
    session = await openChat(options);
  });
  afterEach(function () {
    return session.keepPictures(this.currentTest);
  });
  after(async () => {
    await session?.close();
    rmSync(files, { recursive: true, force: true });
  });
  return { session: () => session, files };
}
