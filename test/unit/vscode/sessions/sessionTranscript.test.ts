import { deepStrictEqual, ok, rejects } from 'node:assert';
import { sessionTranscript, transcriptEntries } from '../../../../src/vscode/sessions/sessionTranscript';
import { openTestStore, tempFolder, testUuid, userMessage } from '../../../support/store/storeTemp';
import { now } from './sessions';

describe('a session to be read', () => {
  const folder = tempFolder();
  after(() => folder.remove());

  it('is its newest messages as text, and says where older ones are left out', async () => {
    const store = await openTestStore(folder.path);
    const { uuid, id } = await store.createSession({ uuid: testUuid(), channel: 'vscode', title: 'Tides', createdAt: now });
    const append = async (count: number, text: (i: number) => string) => {
      const entries = [];
      let parent = (await store.session(uuid))?.leaf ?? null;
      for (let i = 0; i < count; i++) {
        const entry = userMessage(uuid, parent, text(i), { createdAt: now });
        entries.push(entry);
        parent = entry.uuid;
      }
      await store.append(uuid, { entries });
    };
    await append(1, () => 'When is **high water**?');
    const lines = (await sessionTranscript(store, uuid, '/home/me/tides')).split('\n');
    deepStrictEqual(lines.slice(0, 6), [
      '# Tides',
      '',
      `*To be read only · ${id} · 2026-11-22 15:30 to 2026-11-22 15:30 · /home/me/tides*`,
      '',
      '## You · 2026-11-22 15:30',
      '',
    ]);
    deepStrictEqual(lines[6], 'When is **high water**?');

    await append(transcriptEntries, (i) => `message ${i}`);
    const long = await sessionTranscript(store, uuid, '/home/me/tides');
    ok(
      long.includes('*Older messages are left out here.*') &&
        !long.includes('high water') &&
        long.includes(`message ${transcriptEntries - 1}\n`),
    );
    await rejects(sessionTranscript(store, testUuid(), ''), /does not exist any more/);
    await store.close();
  });
});
