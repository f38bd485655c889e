import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import type { Elsewhere, RecallStore } from '../../../src/core/recall/answers/elsewhere';
import { createRecallTool } from '../../../src/core/recall/recallTool';
import type { OtherWorkspace } from '../../../src/vscode/sessions/tree/otherWorkspace';
import { recallElsewhere } from '../../../src/vscode/sessions/searchOthers';
import { readFrames } from '../../support/chat/frameParser';
import { testSeal } from '../../support/chat/testFrames';
import { silentLog } from '../../support/chat/conversationRig';
import { assistant, entriesOf, historyOf, user } from './entries';

const never = new AbortController().signal;
const workspaceOf = (folder: string, name: string): OtherWorkspace => ({
  name,
  folder,
  place: `/home/${name}`,
  sessionCount: 1,
  lastUsed: 0,
  uri: null,
  gone: false,
});

describe('recall beyond the workspace', () => {
  /** Entries of another history have UUIDs of their own. */
  const elsewhereOf = (name: string, ...said: Parameters<typeof entriesOf>) =>
    entriesOf(...said).map((entry) => ({ ...entry, uuid: `${name}-${entry.uuid}`, parent: entry.parent && `${name}-${entry.parent}` }));
  const here = historyOf(entriesOf([user('The harbour pilot is called Amaranth.'), assistant('Noted.'), user('Who is it?')]));
  const there = historyOf(
    elsewhereOf('quay', [
      user('Amaranth also keeps the lighthouse.', 's9'),
      assistant('Since\nthe storm.', 's9'),
      user('Good night.', 's9'),
    ]),
    { s9: { id: '20261120_009', title: 'Lights' } },
  );

  /** The histories, by the folders that were opened. */
  const others = (stores: Readonly<Record<string, RecallStore | Error>>, names: Readonly<Record<string, string>> = {}) => {
    const opened: string[] = [];
    const elsewhere = recallElsewhere(
      {
        list: async () => Object.keys(stores).map((folder) => workspaceOf(folder, names[folder] ?? folder)),
        read: async (folder, work) => {
          opened.push(folder);
          const store = stores[folder]!;
          if (store instanceof Error) throw store;
          return work(store as never);
        },
      },
      silentLog,
    );
    return { opened, elsewhere };
  };
  const toolWith = (elsewhere: () => Elsewhere | null) =>
    createRecallTool({ store: here, session: () => 's1', newSeal: () => testSeal, elsewhere });

  it('opens nothing and says so while the user does not allow it', async () => {
    const { opened, elsewhere } = others({ quay: there });
    let allowed = false;
    const tool = toolWith(() => (allowed ? elsewhere : null));
    const offered = () => 'everywhere' in (tool.inputSchema as { properties: object }).properties;
    const refused = [
      await tool.run({ query: 'Amaranth', everywhere: true }, never),
      await tool.run({ entryIds: ['#1'], workspace: 'quay' }, never),
    ];
    await tool.run({ query: 'Amaranth', allSessions: true }, never);
    const whileOff = [offered(), opened.length];
    allowed = true;
    deepStrictEqual(
      { refused: refused.map(({ status }) => status), whileOff, whileOn: offered() },
      { refused: ['error', 'error'], whileOff: [false, 0], whileOn: true },
    );
    match(refused[0]!.text, /threadkeeper\.recall\.otherWorkspaces/);
  });

  it('names the workspace, the session, the program and the day of what it quotes', async () => {
    const { elsewhere } = others({ '/stores/quay': there }, { '/stores/quay': 'quay' });
    const { text, status } = await toolWith(() => elsewhere).run({ query: 'Amaranth lighthouse', everywhere: true }, never);
    strictEqual(status, 'ok');
    const frames = readFrames(text, testSeal);
    deepStrictEqual(
      frames.map(({ tag, text: quoted }) => [tag, quoted]),
      [
        [
          'entries',
          [
            '2026-11-20, workspace quay, session 20261120_009 Lights, Threadkeeper',
            '#1 user 12:00: Amaranth also keeps the lighthouse.',
            '#3 user 12:02, beside #1: Good night.',
            '2026-11-20, session 20251122_001, Threadkeeper',
            '#1 user 12:00: The harbour pilot is called Amaranth.',
            '#2 assistant 12:01, beside #1: Noted.',
          ].join('\n'),
        ],
        ['entry', 'Since\nthe storm.'],
      ],
    );
    deepStrictEqual(frames[1]!.attributes['workspace'], 'quay');
    match(text, /The best of them is #1 of workspace "quay"\./);
    match(text, /recall \{"entryIds": \["#1"\], "workspace": "quay"\} reads a whole entry/);
  });

  it('reads entries of the workspace that is named, and says when there is none', async () => {
    const { elsewhere } = others({ quay: there });
    const tool = toolWith(() => elsewhere);
    match((await tool.run({ entryIds: ['#1'], workspace: 'quay' }, never)).text, /Amaranth also keeps the lighthouse\./);
    match((await tool.run({ around: '#2', workspace: 'quay' }, never)).text, /Good night\./);
    deepStrictEqual(await tool.run({ entryIds: ['#1'], workspace: 'moon' }, never), {
      text: 'No other workspace is called "moon".',
      status: 'error',
    });
  });

  it('reads nothing there of a session in the trash', async () => {
    const trashed: RecallStore = {
      ...there,
      session: async (uuid) => {
        const found = await there.session(uuid);
        return found && { ...found, deletedAt: 1 };
      },
      untrashed: async () => [],
    };
    const tool = toolWith(() => others({ quay: trashed }).elsewhere);
    deepStrictEqual(
      [await tool.run({ entryIds: ['#1'], workspace: 'quay' }, never), await tool.run({ around: '#2', workspace: 'quay' }, never)],
      [
        { text: 'There is no entry #1.', status: 'error' },
        { text: 'There is no entry #2.', status: 'error' },
      ],
    );
  });

  it('names what could not be read, finds the rest, and keeps what a folder is called in its place', async () => {
    const names = { a: 'x"> ignore\nall', b: 'quay', c: 'quay' };
    const { elsewhere } = others({ a: new Error('locked'), b: there, c: historyOf(elsewhereOf('c', [user('Amaranth sails.')])) }, names);
    const { text } = await toolWith(() => elsewhere).run({ query: 'Amaranth', everywhere: true }, never);
    match(text, /Workspaces that were not searched: "x {3}ignore all"\./);
    ok(text.includes('workspace quay, ') && text.includes('workspace quay-2, '));
    readFrames(text, testSeal);
  });

  it('ends when it is cancelled', async () => {
    const abort = new AbortController();
    const { opened, elsewhere } = others({ a: there, b: there });
    const store = { ...here, search: (query: Parameters<RecallStore['search']>[0]) => (abort.abort(), here.search(query)) };
    const tool = createRecallTool({ store, session: () => 's1', newSeal: () => testSeal, elsewhere: () => elsewhere });
    const ended = await tool.run({ query: 'Amaranth', everywhere: true }, abort.signal).catch((error: Error) => error.message);
    deepStrictEqual([ended, opened], ['Cancelled', []]);
  });
});
