import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionStore } from '../../../../src/core/ports';
import { openStore } from '../../../../src/node/store/client/openStore';
import { findPrograms } from '../../../../src/node/transfer/watch/findPrograms';
import { watchInThread } from '../../../../src/node/transfer/watch/watchInThread';
import type { WatchEvent } from '../../../../src/node/transfer/watch/watchTask';
import { brief } from '../../../support/store/importRig';
import { openTestStore, tempFolder, workerFile, type TempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

const soon = { interval: 5, timeout: 20_000 };

describe('other programs on this machine', () => {
  let temp: TempFolder;
  beforeEach(() => (temp = tempFolder()));
  afterEach(() => temp.remove());

  const put = (path: string, text: string): string => {
    const file = join(temp.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };

  it('are followed in a thread of its own, of the folders that are wanted, until it is stopped', async () => {
    const file = put('work/.aider.chat.history.md', '\n# aider chat started at 2026-09-01 10:00:00\n\n#### Which tide?\n\nHigh.\n');
    put('elsewhere/.aider.chat.history.md', '\n# aider chat started at 2026-09-01 10:00:00\n\n#### Not mine\n\nNo.\n');
    const [work, elsewhere] = ['work', 'elsewhere'].map((name) => join(temp.path, name)) as [string, string];
    const store: SessionStore = await openStore({ folder: join(temp.path, 'store'), workerFile, label: 'test' });
    const events: WatchEvent[] = [];
    const stop = new AbortController();
    const ended = watchInThread(
      store,
      { programs: ['aider'], folders: [work], workspace: [work, elsewhere], memoryFile: join(temp.path, 'memory.json') },
      { workerFile: join(dirname(workerFile), 'storeTaskWorker.js'), signal: stop.signal, onEvent: (event) => events.push(event) },
    );
    const texts = async () => {
      const sessions = await store.listSessions();
      return Promise.all(sessions.map(async ({ uuid }) => (await store.liveBranch(uuid)).entries.map(brief)));
    };
    await waitFor('what it has said', async () => (await texts()).length > 0, soon);
    appendFileSync(file, '\n#### And now?\n\nLow.\n');
    await waitFor('what it goes on to say', async () => (await texts())[0]!.length === 4, soon);
    await waitFor('the status', () => events.some(({ type }) => type === 'status'), soon);
    stop.abort();
    await ended;
    assert.deepEqual(await texts(), [['user: Which tide?', 'assistant: High.', 'user: And now?', 'assistant: Low.']]);
    const told = new Set(events.flatMap((event) => (event.type === 'added' ? [event.session] : [])));
    assert.deepEqual(
      [...told],
      (await store.listSessions()).map(({ uuid }) => uuid),
    );
    await store.close();
  });

  it('are followed only in a store that another thread can reach', async () => {
    const store = await openTestStore(join(temp.path, 'store'));
    const request = { programs: [], folders: null, workspace: [], memoryFile: join(temp.path, 'memory.json') };
    assert.throws(() => watchInThread(store, request, { workerFile, onEvent: () => undefined }), /a thread of its own/);
    await store.close();
  });

  it('are found by what they have left, with its size and age, and nothing is opened', async () => {
    const files = [
      put('.codex/sessions/2026/09/01/rollout-a.jsonl', 'not even JSON'),
      put('.codex/archived_sessions/rollout-b.jsonl', ''),
      put('.continue/sessions/s.json', '{'),
    ];
    put('.codex/sessions/2026/09/01/notes.txt', 'no session');
    put('.continue/sessions/sessions.json', '[]');
    for (const [i, file] of files.entries()) utimesSync(file, 1_700_000_000 + i, 1_700_000_000 + i);
    const machine = { home: temp.path, platform: 'linux', env: {}, folders: [] } as const;
    const at = (path: string) => join(temp.path, path);
    assert.deepEqual(await findPrograms(machine), [
      {
        id: 'codex',
        sources: 2,
        bytes: statSync(files[0]!).size,
        newest: 1_700_000_001_000,
        roots: [at('.codex/sessions'), at('.codex/archived_sessions')],
      },
      { id: 'continue', sources: 1, bytes: 1, newest: 1_700_000_002_000, roots: [at('.continue/sessions')] },
    ]);
  });
});
