import { deepStrictEqual, strictEqual } from 'node:assert';
import type { Session } from '../../../../src/core/session/session';
import type { LoadedLists } from '../../../../src/vscode/sessions/tree/treeLists';
import {
  groupNodes,
  rootNodes,
  rowOf,
  sessionNodes,
  type SessionNode,
  type TreeState,
} from '../../../../src/vscode/sessions/tree/sessionNodes';
import type { OtherWorkspace } from '../../../../src/vscode/sessions/tree/otherWorkspace';
import { aSession, now } from './sessions';

const hour = 3_600_000;
const day = 24 * hour;

function stateOf(more: Partial<Omit<TreeState, 'lists'>> & { readonly lists?: Partial<LoadedLists> } = {}): TreeState {
  const empty = { sessions: [], hasMore: false };
  return {
    filter: '',
    sort: 'updated',
    others: [],
    elsewhere: null,
    isReading: false,
    agents: [],
    current: null,
    shown: new Set(),
    answering: new Set(),
    waiting: new Map(),
    now,
    ...more,
    lists: { active: empty, archived: empty, trashed: empty, ...more.lists },
  };
}

function listed(...sessions: readonly Session[]): { readonly sessions: readonly Session[]; readonly hasMore: boolean } {
  return { sessions, hasMore: false };
}

const elsewhere: OtherWorkspace = {
  folder: '/stores/1',
  name: 'tides',
  place: '/home/me/tides',
  sessionCount: 3,
  lastUsed: now - hour,
  uri: 'file:///home/me/tides',
  gone: false,
};

/** Labels as an outline, groups with what is in them. */
function outline(state: TreeState): string[] {
  const line = (node: SessionNode, indent: string) => `${indent}${rowOf(node, state).label}`;
  return rootNodes(state).flatMap((node) => [
    line(node, ''),
    ...(node.kind === 'group' ? groupNodes(state, node.group).map((child) => line(child, '  ')) : []),
  ]);
}

describe('the Sessions view: its rows', () => {
  it('groups by the day something was last said, pinned ones first, archive and trash apart', () => {
    const active = listed(
      aSession({ title: 'just now', updatedAt: now }),
      aSession({ title: 'first thing today', updatedAt: new Date(2026, 10, 22, 0, 0).getTime() }),
      aSession({ title: 'late yesterday', updatedAt: new Date(2026, 10, 21, 23, 59).getTime() }),
      aSession({ title: 'six days ago', updatedAt: new Date(2026, 10, 16, 0, 0).getTime() }),
      aSession({ title: 'pinned long ago', updatedAt: now - 400 * day, pinnedAt: now }),
      aSession({ title: 'a week ago', updatedAt: new Date(2026, 10, 15, 23, 59).getTime() }),
    );
    const archived = listed(aSession({ title: 'put away', archivedAt: now }));
    const trashed = listed(aSession({ title: 'thrown away', deletedAt: now, archivedAt: now }));
    deepStrictEqual(outline(stateOf({ lists: { active, archived, trashed }, others: [elsewhere] })), [
      ...['Pinned', '  pinned long ago'],
      ...['Today', '  just now', '  first thing today'],
      ...['Yesterday', '  late yesterday'],
      ...['Last 7 Days', '  six days ago'],
      ...['Older', '  a week ago'],
      ...['Archived', '  put away'],
      ...['Trash', '  thrown away'],
      ...['Other Workspaces', '  tides'],
    ]);
  });

  it('shows nothing where there is nothing, so that the welcome can be seen', () => {
    deepStrictEqual(rootNodes(stateOf()), []);
  });

  it('offers more where a list goes on', () => {
    const active = { sessions: [aSession({ title: 'one' })], hasMore: true };
    const trashed = { sessions: [aSession({ title: 'two', deletedAt: now })], hasMore: true };
    deepStrictEqual(outline(stateOf({ lists: { active, trashed } })), ['Today', '  one', 'Show more…', 'Trash', '  two', '  Show more…']);
    const state = stateOf({ lists: { trashed } });
    strictEqual(rowOf({ kind: 'group', group: 'trashed' }, state).description, '1+');
  });

  it('says when a filter finds nothing, and leaves other workspaces out of it', () => {
    deepStrictEqual(outline(stateOf({ filter: 'moon', others: [elsewhere] })), ['No session matches "moon"']);
    deepStrictEqual(outline(stateOf({ filter: 'o', others: [elsewhere], lists: { active: listed(aSession({ title: 'one' })) } })), [
      'Today',
      '  one',
    ]);
  });

  it('puts sessions of all workspaces in one list when they are wanted, each with its workspace and program', () => {
    const imported = { importedFrom: { format: 'codex' } };
    const active = listed(aSession({ title: 'mine', updatedAt: now - hour, messageCount: 1 }));
    const part = { workspace: elsewhere, state: 'read' as const, hasMore: false };
    const sessions = [
      aSession({ title: 'theirs', updatedAt: now - 60_000, messageCount: 2, metadata: imported }),
      aSession({ title: 'old', updatedAt: now - 40 * day }),
    ];
    const broken = { ...elsewhere, folder: '/stores/2', name: 'broken' };
    const state = stateOf({
      lists: { active },
      others: [elsewhere],
      elsewhere: [
        { ...part, sessions, hasMore: true },
        { ...part, workspace: broken, state: 'unread', sessions: [] },
        { ...part, workspace: { ...broken, name: 'far' }, state: 'left_out', sessions: [] },
      ],
      isReading: true,
    });
    deepStrictEqual(outline(state), [
      ...['Today', '  theirs', '  mine'],
      ...['Older', '  old'],
      'Reading other workspaces…',
      'Older sessions are not listed: tides',
      'Could not be read: broken',
      'Not listed: far',
    ]);
    const [theirs, mine] = groupNodes(state, 'today').map((node) => rowOf(node, state));
    deepStrictEqual(
      [theirs, mine].map((row) => [row!.description, row!.icon, row!.context]),
      [
        ['tides · Codex CLI · 1 min ago · 2 messages', 'terminal', 'session.other'],
        ['1 h ago · 1 message', 'comment', 'session.active'],
      ],
    );
    deepStrictEqual(outline({ ...state, sort: 'title', elsewhere: [{ ...part, sessions }], isReading: false }), [
      'All Sessions',
      ...['  mine', '  old', '  theirs'],
    ]);
  });

  it('says that nothing matches only when all workspaces have answered', () => {
    const none = { filter: 'moon', others: [elsewhere], elsewhere: [] };
    deepStrictEqual(outline(stateOf({ ...none, isReading: true })), ['Reading other workspaces…']);
    deepStrictEqual(outline(stateOf(none)), ['No session matches "moon"']);
  });

  it('opens what a filter has found, in groups that are otherwise closed', () => {
    const lists = { archived: listed(aSession({ archivedAt: now })) };
    const [plain, filtered] = [stateOf({ lists }), stateOf({ lists, filter: 'x' })].map((state) =>
      rowOf({ kind: 'group', group: 'archived' }, state),
    );
    deepStrictEqual(
      { plainExpands: plain!.expands, filteredExpands: filtered!.expands, id: plain!.id === filtered!.id },
      { plainExpands: 'closed', filteredExpands: 'open', id: false },
    );
  });

  it('tells the open session, those being answered and those that wait for the user by icon, word and colour', () => {
    const [open, busy, idle, asking, full] = ['open', 'busy', 'idle', 'asking', 'full'].map((title) =>
      aSession({ title, updatedAt: now - 5 * 60_000, messageCount: 1 }),
    );
    const state = stateOf({
      shown: new Set([open!.uuid]),
      answering: new Set([busy!.uuid, asking!.uuid, full!.uuid]),
      waiting: new Map([
        [asking!.uuid, 'permission'],
        [full!.uuid, 'decision'],
      ]),
    });
    const rows = sessionNodes([open!, busy!, idle!, asking!, full!], null).map((node) => rowOf(node, state));
    deepStrictEqual(
      rows.map(({ icon, iconColor, description, spoken }) => ({ icon, coloured: iconColor !== null, description, spoken })),
      [
        {
          icon: 'comment-discussion',
          coloured: true,
          description: 'open · 5 min ago · 1 message',
          spoken: 'open, open, 5 min ago, 1 message',
        },
        {
          icon: 'loading~spin',
          coloured: true,
          description: 'answering · 5 min ago · 1 message',
          spoken: 'busy, answering, 5 min ago, 1 message',
        },
        { icon: 'comment', coloured: false, description: '5 min ago · 1 message', spoken: 'idle, 5 min ago, 1 message' },
        {
          icon: 'bell-dot',
          coloured: true,
          description: 'waits for your permission · 5 min ago · 1 message',
          spoken: 'asking, waits for your permission, 5 min ago, 1 message',
        },
        {
          icon: 'bell-dot',
          coloured: true,
          description: 'waits for your decision · 5 min ago · 1 message',
          spoken: 'full, waits for your decision, 5 min ago, 1 message',
        },
      ],
    );
  });

  it('keeps the id of a session wherever it is listed, but not for the same one of another workspace', () => {
    const session = aSession();
    const state = stateOf();
    const own = [session, { ...session, archivedAt: now }, { ...session, deletedAt: now }, { ...session, pinnedAt: now }].map((one) =>
      rowOf({ kind: 'session', session: one, other: null }, state),
    );
    strictEqual(new Set(own.map(({ id }) => id)).size, 1);
    deepStrictEqual(
      own.map(({ context }) => context),
      ['session.active', 'session.archived', 'session.trashed', 'session.pinned'],
    );
    const other = rowOf({ kind: 'session', session, other: elsewhere }, stateOf({ shown: new Set([session.uuid]) }));
    deepStrictEqual(
      { id: other.id === own[0]!.id, context: other.context, icon: other.icon },
      { id: false, context: 'session.other', icon: 'comment' },
    );
  });

  it('marks a workspace whose folder is gone, and offers to open only one that is a folder', () => {
    const rows = [elsewhere, { ...elsewhere, gone: true }, { ...elsewhere, uri: null, sessionCount: null }].map((workspace) =>
      rowOf({ kind: 'workspace', workspace }, stateOf()),
    );
    deepStrictEqual(
      rows.map(({ description, icon, context }) => [description, icon, context]),
      [
        ['3 sessions · /home/me/tides', 'folder', 'workspace.folder'],
        ['3 sessions · folder is gone · /home/me/tides', 'warning', 'workspace'],
        ['/home/me/tides', 'folder', 'workspace'],
      ],
    );
  });
});
