import { deepStrictEqual, match, ok, rejects } from 'node:assert';
import { StoreError } from '../../../../src/core/errors';
import type { SessionStore } from '../../../../src/core/ports';
import type { Attachment } from '../../../../src/core/session/userMessage';
import { UuidV7 } from '../../../../src/node/runtime/ids';
import { ChatWindow } from '../../../support/vscode/chatWindow';
import { says } from '../../../support/chat/scriptedModel';
import { openTestStore, tempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

describe('ChatController', () => {
  let temp: ReturnType<typeof tempFolder>;
  const windows: ChatWindow[] = [];

  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(async () => {
    for (const window of windows.splice(0)) await window.close();
    temp.remove();
  });

  function open(state?: Map<string, unknown>, store?: () => Promise<SessionStore>): ChatWindow {
    const window = new ChatWindow(temp.path, state, store);
    windows.push(window);
    return window;
  }

  it('shows an empty view on a fresh profile and begins a session with the first message', async () => {
    const window = open();
    await window.controller.ready();
    deepStrictEqual(
      { ...window.last, connection: undefined },
      {
        session: null,
        sessions: [],
        rows: [],
        marks: [],
        hasMore: false,
        live: [],
        turn: null,
        queue: [],
        left: null,
        full: null,
        context: null,
        connection: undefined,
        banner: null,
        draft: '',
      },
    );
    deepStrictEqual(window.controller.state.hasSession, false);
    await window.ask('Hello there');
    const kinds = window.deltas.map(({ kind }) => kind);
    ok(kinds.indexOf('session') < kinds.indexOf('row'), 'the session is known before its first row');
    deepStrictEqual(
      {
        texts: await window.texts(),
        title: window.last.session?.title,
        sessionsCount: window.last.sessions.length,
        snapshotsCount: window.snapshots.length,
      },
      { texts: ['Hello there', 'Yes.'], title: 'Hello there', sessionsCount: 1, snapshotsCount: 2 },
    );
    deepStrictEqual(window.controller.state, {
      isOpened: true,
      hasSession: true,
      canUndo: false,
      busy: false,
      compacting: false,
      waiting: [],
      context: window.last.context,
    });
  });

  it('keeps what is attached with the draft of its session: over a switch, a restart and a stop of what is queued', async () => {
    const attachment: Attachment = { kind: 'file', name: 'a.ts', path: 'src/a.ts', hash: 'a'.repeat(64), mime: 'text/plain', tokens: 7 };
    const other: Attachment = { ...attachment, name: 'b.ts', hash: 'b'.repeat(64) };
    const state = new Map<string, unknown>();
    const window = open(state);
    await window.controller.active.attachToDraft(attachment);
    deepStrictEqual(window.deltas.at(-1), { kind: 'attach', attachment });
    window.model.scripts.push(says('Yes.'));
    await window.controller.active.send('m1', 'One', [attachment]);
    await window.idle();
    await window.controller.ready();
    const draft = ({ last }: ChatWindow) => [last.draft, last.attachments];
    deepStrictEqual(
      [window.last.rows[0]?.kind === 'user' && window.last.rows[0].attachments, draft(window)],
      [[attachment], ['', undefined]],
    );
    await window.controller.active.saveDraft('half', [other]);
    const { uuid } = window.controller.active.session!;
    await window.controller.active.newSession();
    deepStrictEqual(draft(window), ['', undefined]);
    await window.controller.active.openSession(uuid);
    deepStrictEqual(draft(window), ['half', [other]]);
    await window.close();

    const second = open(state);
    await second.controller.ready();
    deepStrictEqual(draft(second), ['half', [other]]);
    let end!: () => void;
    second.model.scripts.push([{ hold: new Promise<void>((resolve) => (end = resolve)) }, ...says('never')]);
    await second.controller.active.send('m2', 'Two');
    await second.controller.active.send('m3', 'Three', [attachment]);
    await second.controller.active.saveDraft('half', [other]);
    await second.controller.active.chat?.stop();
    end();
    await second.idle();
    deepStrictEqual(
      second.deltas.findLast(({ kind }) => kind === 'draft'),
      { kind: 'draft', text: 'Three\n\nhalf', attachments: [attachment, other] },
    );
  });

  it('opens the same session after a restart, with the draft', async () => {
    const state = new Map<string, unknown>();
    const first = open(state);
    await first.ask('One');
    await first.controller.active.saveDraft('half a thought');
    await first.close();
    const second = open(state);
    deepStrictEqual([await second.texts(), second.last.draft], [['One', 'Yes.'], 'half a thought']);
  });

  it('finds the newest session without any memory of it, and stays new where a new one was begun', async () => {
    const first = open();
    await first.ask('One');
    await first.close();
    const second = open();
    deepStrictEqual(await second.texts(), ['One', 'Yes.']);
    const state = new Map<string, unknown>();
    await second.close();
    const third = open(state);
    await third.controller.active.newSession();
    deepStrictEqual([third.last.session, third.controller.state.hasSession], [null, true]);
    await third.close();
    deepStrictEqual((await open(state).texts()).length, 0);
  });

  it('sends a repeated request once', async () => {
    const window = open();
    window.model.scripts.push(says('Yes.'));
    await Promise.all([window.controller.active.send('same', 'Once'), window.controller.active.send('same', 'Once')]);
    await window.idle();
    await window.controller.active.send('same', 'Once');
    deepStrictEqual([await window.texts(), window.model.requests.length], [['Once', 'Yes.'], 1]);
  });

  it('answers a request as soon as its message is on disk, and queues the next', async () => {
    const window = open();
    let release!: () => void;
    window.model.scripts.push([{ hold: new Promise<void>((resolve) => (release = resolve)) }, ...says('First.')], says('Second.'));
    await window.controller.active.send('a', 'One');
    deepStrictEqual(window.controller.state.busy, true);
    await window.controller.active.send('b', 'Two');
    deepStrictEqual(window.deltas.filter(({ kind }) => kind === 'queue').at(-1), { kind: 'queue', queue: [{ id: 'b', text: 'Two' }] });
    release();
    while ((await window.texts()).length < 4) await window.idle();
    deepStrictEqual(await window.texts(), ['One', 'First.', 'Two', 'Second.']);
  });

  it('hands queued messages back to the composer when the turn is stopped', async () => {
    const window = open();
    window.model.scripts.push([{ hold: new Promise<void>(() => undefined) }]);
    await window.controller.active.send('a', 'One');
    await window.controller.active.send('b', 'Two');
    await window.controller.active.saveDraft('and three');
    await window.controller.active.chat?.stop();
    await window.idle();
    deepStrictEqual(
      window.deltas.filter(({ kind }) => kind === 'draft'),
      [{ kind: 'draft', text: 'Two\n\nand three' }],
    );
    await window.controller.ready();
    deepStrictEqual(
      { draft: window.last.draft, queue: window.last.queue, turn: window.last.turn },
      { draft: 'Two\n\nand three', queue: [], turn: null },
    );
  });

  it('lets a session that is left finish its answer, and takes it back with it', async () => {
    const window = open();
    let release!: () => void;
    window.model.scripts.push([{ hold: new Promise<void>((resolve) => (release = resolve)) }, ...says('Late.')]);
    await window.controller.active.send('a', 'One');
    const uuid = window.controller.active.session!.uuid;
    await window.controller.active.newSession();
    deepStrictEqual([window.last.session, window.controller.state.busy], [null, false]);
    release();
    await window.ask('Other');
    await window.controller.active.openSession(uuid);
    await window.idle();
    deepStrictEqual(await window.texts(), ['One', 'Late.']);
  });

  it('keeps what is written while a message is on its way, and not the message itself', async () => {
    let arrived!: () => void;
    let go: Promise<void> = Promise.resolve();
    const window = open(undefined, async () => {
      const store = await openTestStore(temp.path);
      return { ...store, status: store.status, append: async (...args) => (await go, store.append(...args)) };
    });
    window.model.scripts.push(says('Yes.'), says('Yes.'));
    for (const text of ['First', 'Second']) {
      go = new Promise((resolve) => (arrived = resolve));
      await window.controller.active.saveDraft(text.slice(0, 4));
      const sending = window.controller.active.send(text, text);
      await window.controller.active.saveDraft(`after ${text}`);
      arrived();
      await sending;
      await window.idle();
      await window.controller.ready();
      deepStrictEqual(window.last.draft, `after ${text}`);
    }
    await window.controller.active.saveDraft('Thi');
    await window.ask('Third');
    await window.controller.ready();
    deepStrictEqual(window.last.draft, '');
  });

  it('keeps a queued message in the queue or in the draft at every moment of a stop', async () => {
    const state = new Map<string, unknown>();
    const calls: string[] = [];
    let full = false;
    const window = open(state, async () => {
      const store = await openTestStore(temp.path);
      return {
        ...store,
        status: store.status,
        saveDraft: async (session, draft) => {
          calls.push(`draft ${draft?.text ?? ''}`);
          if (full) throw new StoreError('disk_full', 'full');
          await store.saveDraft(session, draft);
        },
        saveQueue: async (session, queue) => {
          calls.push(`queue ${queue.map(({ text }) => text).join()}`);
          await store.saveQueue(session, queue);
        },
      };
    });
    const stopWithQueue = async (text: string) => {
      window.model.scripts.push([{ hold: new Promise<void>(() => undefined) }]);
      await window.controller.active.send(`${text} asked`, 'Asked');
      await window.controller.active.send(text, text);
      calls.length = 0;
      await window.controller.active.chat?.stop();
      await window.idle();
    };
    await stopWithQueue('Two');
    deepStrictEqual(calls, ['draft Two', 'queue ']);
    full = true;
    await window.controller.active.saveDraft('');
    await stopWithQueue('Three');
    deepStrictEqual(calls, ['draft Three', 'queue ', 'queue Three']);
    full = false;
    await window.controller.active.saveDraft('Three, changed');
    deepStrictEqual(calls.slice(3), ['draft Three, changed', 'queue ']);
    full = true;
    await stopWithQueue('Four');
    full = false;
    await window.close();
    const next = open(state);
    await next.controller.ready();
    deepStrictEqual([next.last.draft, next.last.queue], ['Four\n\nThree, changed', []]);
  });

  it('puts a queue that a dead process left into the composer, once, and leaves it waiting where that cannot be saved', async () => {
    const state = new Map<string, unknown>();
    const first = open(state);
    await first.ask('One');
    const uuid = first.controller.active.session!.uuid;
    await first.close();
    const store = await openTestStore(temp.path);
    await store.saveDraft(uuid, { text: 'Two\n\nand more', attachments: [], at: 1 });
    await store.saveQueue(uuid, [{ id: 'b', text: 'Two' }]);
    await store.close();
    const second = open(state);
    await second.controller.ready();
    deepStrictEqual([second.last.draft, second.last.queue], ['Two\n\nand more', []]);
    await second.close();
    const full = open(state, async () => {
      const real = await openTestStore(temp.path);
      await real.saveQueue(uuid, [{ id: 'c', text: 'Three' }]);
      return { ...real, status: real.status, saveDraft: async () => Promise.reject(new StoreError('disk_full', 'full')) };
    });
    await full.controller.ready();
    deepStrictEqual([full.last.draft, full.last.queue], ['Two\n\nand more', [{ id: 'c', text: 'Three' }]]);
    await full.close();
    const third = open(state);
    await third.controller.ready();
    deepStrictEqual(
      { draft: third.last.draft, queue: third.last.queue, requestsCount: third.model.requests.length },
      { draft: 'Three\n\nTwo\n\nand more', queue: [], requestsCount: 0 },
    );
  });

  it('lets a session finish that is left a second time while it answers', async () => {
    const window = open();
    const gates: (() => void)[] = [];
    const held = (text: string) => [{ hold: new Promise<void>((resolve) => gates.push(resolve)) }, ...says(text)];
    window.model.scripts.push(held('First.'), held('Second.'));
    await window.controller.active.send('a', 'One');
    const uuid = window.controller.active.session!.uuid;
    await window.controller.active.newSession();
    await window.controller.active.openSession(uuid);
    await window.controller.active.send('b', 'Two');
    await window.controller.active.newSession();
    gates[0]!();
    while (window.model.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    gates[1]!();
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    await window.controller.active.openSession(uuid);
    await window.idle();
    deepStrictEqual(await window.texts(), ['One', 'First.', 'Two', 'Second.']);
  });

  it('ends a turn in good order when the window closes, and sends nothing of the queue', async () => {
    const state = new Map<string, unknown>();
    const first = open(state);
    first.model.scripts.push([{ type: 'text_delta', index: 0, text: 'As far as ' }, { hold: new Promise<void>(() => undefined) }]);
    await first.controller.active.send('a', 'One');
    await first.controller.active.send('b', 'Two');
    while (!first.deltas.some((delta) => JSON.stringify(delta).includes('As far as')))
      await new Promise((resolve) => setImmediate(resolve));
    const closed = first.close();
    // As VS Code does, without waiting for `deactivate`.
    first.controller.dispose();
    await closed;
    const second = open(state);
    deepStrictEqual(
      { texts: await second.texts(), draft: second.last.draft, queue: second.last.queue },
      { texts: ['One', 'As far as '], draft: 'Two', queue: [] },
    );
    const answer = second.last.rows.at(-1);
    deepStrictEqual(answer?.kind === 'assistant' && answer.interrupted, 'stopped');
    await second.ask('Three');
    deepStrictEqual((await second.texts()).length, 4);
  });

  it('rejects a message that cannot be stored, and asks for nothing', async () => {
    const window = open(undefined, async () => {
      const store = await openTestStore(temp.path);
      return { ...store, status: store.status, append: async () => Promise.reject(new StoreError('disk_full', 'full')) };
    });
    await rejects(window.controller.active.send('a', 'Precious'), /disk is full/);
    deepStrictEqual([window.model.requests.length, await window.texts()], [0, []]);
    await rejects(window.controller.active.send('a', 'Precious'), /disk is full/, 'the same message may be tried again');
  });

  it('shows why a store cannot be opened, and opens it when it can', async () => {
    let broken = true;
    const window = open(undefined, async () => {
      if (broken) throw new StoreError('corrupt', 'history.db is damaged');
      return openTestStore(temp.path);
    });
    await window.controller.ready();
    deepStrictEqual(window.last.banner?.kind, 'store_failed');
    match(window.last.banner?.text ?? '', /damaged.*Nothing was changed/s);
    await rejects(window.controller.active.send('a', 'x'));
    broken = false;
    await window.controller.catchUp();
    deepStrictEqual([window.last.banner, await window.texts()], [null, []]);
    await window.ask('Now');
    deepStrictEqual(await window.texts(), ['Now', 'Yes.']);
  });

  it('sends what is written while the store is opened anew in the chat as it is then', async () => {
    const window = open();
    await window.ask('before');
    let between = false;
    const reopened = window.places.reopenStore({ between: async () => void (between = true) });
    await window.ask('meanwhile');
    await reopened;
    deepStrictEqual([between, await window.texts()], [true, ['before', 'Yes.', 'meanwhile', 'Yes.']]);
    await window.ask('after');
    deepStrictEqual((await window.texts()).slice(-2), ['after', 'Yes.']);
  });

  it('hears of a fork in another window, and leaves a session that is deleted there', async () => {
    const first = open();
    await first.ask('Kept here');
    const kept = first.controller.active.session!;
    const second = open();
    deepStrictEqual(await second.texts(), ['Kept here', 'Yes.']);
    const other = await openTestStore(temp.path, 'a third window');
    try {
      const fork = await other.forkSession((await other.session(kept.uuid))!.leaf!, {
        uuid: new UuidV7().next(),
        channel: 'vscode',
        title: 'Forked',
        createdAt: Date.now(),
      });
      for (const window of [first, second]) {
        await waitFor(
          'the fork',
          () => window.deltas.some((delta) => delta.kind === 'sessions' && delta.sessions.some(({ uuid }) => uuid === fork.uuid)),
          { interval: 5 },
        );
      }
      await second.controller.active.saveDraft('half a thought');
      await other.updateSession(kept.uuid, { deletedAt: Date.now() });
      await other.purge([kept.uuid]);
      for (const window of [first, second]) await waitFor('the news', () => window.deleted.length > 0, { interval: 5 });
      deepStrictEqual([first.deleted, first.controller.active.session, second.controller.active.session], [[kept.title], null, null]);
      deepStrictEqual(
        { session: second.last.session, rows: second.last.rows, draft: second.last.draft },
        { session: null, rows: [], draft: 'half a thought' },
      );
      await second.ask('Somewhere else');
      deepStrictEqual(await second.texts(), ['Somewhere else', 'Yes.']);
      // What the fork shares is still there.
      await second.controller.active.openSession(fork.uuid);
      deepStrictEqual(await second.texts(), ['Kept here', 'Yes.']);
    } finally {
      await other.close();
    }
  });

  it('compacts and undoes without any view', async () => {
    const state = new Map<string, unknown>();
    const first = open(state);
    for (let i = 0; i < 4; i++) await first.ask(`Question ${i} ${'word '.repeat(300)}`, `Answer ${i} ${'word '.repeat(300)}`);
    await first.close();
    const second = open(state);
    second.visible = false;
    const result = await second.controller.compact();
    ok(result.entry, result.message ?? '');
    deepStrictEqual([second.controller.state.canUndo, second.controller.state.compacting], [true, false]);
    deepStrictEqual(await second.controller.undoCompaction(async () => true, 'another'), {
      message: 'This compaction is not the last one any more.',
    });
    const asked: string[] = [];
    deepStrictEqual(await second.controller.undoCompaction(async (question) => (asked.push(question), true)), 'undone');
    deepStrictEqual([second.controller.state.canUndo, asked], [false, []]);
    deepStrictEqual(await second.controller.undoCompaction(async () => true), { message: 'There is no compaction to undo.' });
  });

  it('says so when there is nothing to compact', async () => {
    deepStrictEqual(await open().controller.compact(), {
      entry: null,
      message: 'There is nothing to compact: this session has no messages yet.',
      isNothing: true,
    });
  });

  it('names the model in the rows that showed its id, those of older pages included, and sends no other anew', async () => {
    const window = open();
    for (let turn = 0; turn < 50; turn++) await window.ask(`Question ${turn}`);
    await window.close();
    const later = open();
    await later.controller.ready();
    const { rows, hasMore } = later.last;
    const older = await later.controller.active.older(rows[0]!.id);
    ok(hasMore && older.rows.length > 0);
    const answers = [...older.rows, ...rows].flatMap((row) => (row.kind === 'assistant' ? [row] : []));
    deepStrictEqual([answers.length, new Set(answers.map(({ model }) => model))], [50, new Set(['scripted-1'])]);
    later.deltas.length = 0;
    const snapshots = later.snapshots.length;
    const info = await later.model.describe('scripted-1');
    later.names.learn([{ ...info, name: 'Scripted One' }]);
    const changed = () => later.deltas.flatMap((delta) => (delta.kind === 'row_changed' ? [delta.row] : []));
    await waitFor('the names', () => changed().length >= 50);
    const byId = (some: readonly { readonly id: string }[]) => [...some].sort((a, b) => (a.id < b.id ? -1 : 1));
    deepStrictEqual(byId(changed()), byId(answers.map((row) => ({ ...row, model: 'Scripted One' }))));
    deepStrictEqual(later.snapshots.length, snapshots);
  });

  it('gives older pages down to the beginning', async () => {
    const window = open();
    for (let i = 0; i < 60; i++) await window.ask(`q${i}`, `a${i}`);
    const uuid = window.controller.active.session!.uuid;
    await window.controller.active.newSession();
    await window.controller.active.openSession(uuid);
    const { rows, hasMore } = window.last;
    ok(hasMore && rows.length === 80);
    const page = await window.controller.active.older(rows[0]!.id);
    deepStrictEqual([page.rows.length, page.hasMore], [40, false]);
    deepStrictEqual(
      [...page.rows, ...rows].map((row) => (row.kind === 'user' ? row.text : row.kind === 'assistant' ? row.markdown : '')),
      Array.from({ length: 60 }, (_, i) => [`q${i}`, `a${i}`]).flat(),
    );
  });

  it('renames, lists and switches sessions', async () => {
    const window = open();
    await window.ask('First');
    const first = window.controller.active.session!.uuid;
    await window.controller.active.newSession();
    await window.ask('Second');
    await window.controller.renameSession('  A   better\nname ');
    deepStrictEqual((await window.controller.list.read()).map(({ title }) => title).sort(), ['A better name', 'First']);
    await window.controller.active.openSession(first);
    deepStrictEqual([window.last.session?.title, window.controller.active.session?.uuid], ['First', first]);
    await rejects(window.controller.active.openSession('nobody'), /does not exist/);
  });
});
