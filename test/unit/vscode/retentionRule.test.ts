import { deepStrictEqual, match } from 'node:assert';
import type { SessionStore } from '../../../src/core/ports';
import { bytesText, purgeText } from '../../../src/vscode/sessions/sessionText';
import type { PurgePreview } from '../../../src/core/maintenance/reports';
import { cleanUpRule, RetentionRule, trashRule, type RetentionRuleDeps } from '../../../src/vscode/sessions/retentionRule';
import { silentLog } from '../../support/chat/conversationRig';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../support/store/storeTemp';
import { waitFor } from '../../support/waitFor';
import { now } from './sessions/sessions';

const day = 86_400_000;

describe('a rule on old sessions', () => {
  let folder: TempFolder;
  let store: SessionStore;
  let open: string[];
  beforeEach(async () => {
    folder = tempFolder();
    store = await openTestStore(folder.path);
    open = [];
  });
  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  async function trashed(title: string, deletedAt: number): Promise<string> {
    const { uuid } = await store.createSession({ uuid: testUuid(), channel: 'vscode', title, createdAt: deletedAt });
    await store.append(uuid, { entries: [userMessage(uuid, null, title)] });
    await store.updateSession(uuid, { deletedAt });
    return uuid;
  }

  /** A window over the same workspace: what it remembers outlives it. */
  function rig(answer: RetentionRuleDeps<PurgePreview>['ask'], settings = { days: 30 }) {
    const state = { asked: [] as string[][], at: now, lastRun: 0, agreed: undefined as number | undefined, isCurrent: true };
    const retention = new RetentionRule({
      rule: trashRule(() => open),
      store: { get: async () => store },
      days: () => settings.days,
      isCurrent: async () => state.isCurrent,
      memory: {
        lastRun: () => state.lastRun,
        setLastRun: async (at) => void (state.lastRun = at),
        agreed: () => state.agreed,
        setAgreed: async (days) => void (state.agreed = days),
      },
      ask: async (days, due, preview) => {
        state.asked.push(due.map(({ title }) => title));
        return answer(days, due, preview);
      },
      done: () => undefined,
      now: () => state.at,
      log: silentLog,
    });
    return { state, settings, run: () => retention.run(), nextDay: () => ((state.at += day), retention.run()) };
  }

  const left = async () => (await store.listSessions({ trashed: true })).map(({ title }) => title).sort();

  it('deletes nothing unless it is asked to', async () => {
    await trashed('old', now - 1_000 * day);
    const { run, state } = rig(async (_, due) => due, { days: 0 });
    await run();
    deepStrictEqual([state.asked, await left()], [[], ['old']]);
  });

  it('deletes nothing by what was known before other devices have been heard, and does so once they have', async () => {
    await trashed('restored on another device', now - 31 * day);
    const { run, state } = rig(async (_, due) => due);
    state.isCurrent = false;
    await run();
    deepStrictEqual([state.asked, state.lastRun, await left()], [[], 0, ['restored on another device']]);
    state.isCurrent = true;
    await run();
    deepStrictEqual([state.lastRun, await left()], [now, []]);
  });

  it('leaves what is open, and what has been used since it came into the trash', async () => {
    await trashed('gone', now - 31 * day);
    const said = await trashed('said something', now - 31 * day);
    await store.append(said, { entries: [userMessage(said, null, 'and more', { createdAt: now - day })] });
    const opened = await trashed('looked at', now - 31 * day);
    await store.updateSession(opened, { lastOpenedAt: now - day });
    open.push(await trashed('open', now - 31 * day));
    const { run, state } = rig(async (_, due) => due);
    await run();
    deepStrictEqual([state.asked, await left()], [[['gone']], ['looked at', 'open', 'said something']]);
  });

  it('is left to the window that owns the history, and done the same day by the one that takes over', async () => {
    await trashed('old', now - 31 * day);
    const owner = store;
    store = await openTestStore(folder.path, 'guest');
    const { state, run } = rig(async (_, due) => due);
    try {
      deepStrictEqual(store.status.access, 'shared');
      await run();
      deepStrictEqual([state.asked, await left()], [[], ['old']]);
    } finally {
      await owner.close();
    }
    await waitFor('ownership', () => store.status.access === 'owner', { interval: 5 });
    await run();
    deepStrictEqual([state.asked, await left()], [[['old']], []]);
  });

  it('asks the first time, then does it once a day, and asks again when the setting has changed', async () => {
    await trashed('old', now - 31 * day);
    await trashed('young', now - 29 * day);
    const { state, settings, run, nextDay } = rig(async (_, due) => due);
    await run();
    deepStrictEqual([state.asked, await left()], [[['old']], ['young']]);
    await trashed('as old', now - 31 * day);
    await run();
    deepStrictEqual(await left(), ['as old', 'young'], 'not twice a day');
    await nextDay();
    deepStrictEqual([state.asked.length, await left()], [1, ['young']], 'without another question');
    settings.days = 7;
    await nextDay();
    deepStrictEqual([state.asked, await left()], [[['old'], ['young']], []]);
  });

  it('keeps everything when the user has not decided, and what was unchecked, and asks again', async () => {
    await trashed('a', now - 40 * day);
    await trashed('b', now - 40 * day);
    let answer: 'later' | 'only a' | 'all' = 'later';
    const { state, run, nextDay } = rig(async (_, due) =>
      answer === 'later' ? undefined : answer === 'all' ? due : due.filter(({ title }) => title === 'a'),
    );
    await run();
    deepStrictEqual(await left(), ['a', 'b']);
    answer = 'only a';
    await nextDay();
    deepStrictEqual(await left(), ['b']);
    answer = 'all';
    await nextDay();
    deepStrictEqual([await left(), state.asked.length], [[], 3]);
  });

  it('keeps what was restored while the question was open', async () => {
    const uuid = await trashed('missed', now - 40 * day);
    const { run } = rig(async (_, due) => (await store.updateSession(uuid, { deletedAt: null }), due));
    await run();
    deepStrictEqual(
      (await store.listSessions()).map(({ title }) => title),
      ['missed'],
    );
  });

  it('moves to the trash what nobody uses, in the same way: off by itself, after a preview, never a pinned or an open one (seed 003)', async () => {
    const make = async (title: string, age: number, patch = {}) =>
      store.updateSession(
        (await store.createSession({ uuid: testUuid(), channel: 'vscode', title, createdAt: now - age * day })).uuid,
        patch,
      );
    await make('old', 100);
    await make('young', 5);
    await make('pinned', 100, { pinnedAt: 1 });
    await make('archived', 100, { archivedAt: 1 });
    await make('looked at', 100, { lastOpenedAt: now - day });
    const open = await make('on show', 100);
    const working = await make('worked in', 100);
    const guest = await openTestStore(folder.path, 'guest');
    await guest.claim(working.uuid, testUuid());
    const asked: string[][] = [];
    let days = 0;
    let agreed: number | undefined;
    const rule = () =>
      new RetentionRule({
        store: { get: async () => store },
        days: () => days,
        isCurrent: async () => true,
        memory: { lastRun: () => 0, setLastRun: async () => undefined, agreed: () => agreed, setAgreed: async (to) => void (agreed = to) },
        rule: cleanUpRule(() => [open.uuid]),
        ask: async (_, due) => (asked.push(due.map(({ title }) => title).sort()), due.filter(({ title }) => title === 'old')),
        done: () => undefined,
        now: () => now,
        log: silentLog,
      });
    await rule().run();
    deepStrictEqual([asked, await left()], [[], []], 'nothing without the setting');
    days = 30;
    await rule().run();
    deepStrictEqual([asked, await left()], [[['archived', 'old']], ['old']]);
    await guest.close();
  });

  it('says what goes and what stays', () => {
    const text = purgeText({ sessions: ['x'], entries: 1_200, keptEntries: 1, bytes: 3_940_000 });
    match(
      text,
      /^This deletes 1,200 entries \(3\.9 MB\) from the history\. Other sessions keep the 1 entry that they share\. This cannot be undone\.$/,
    );
    match(
      purgeText({ sessions: ['x'], entries: 0, keptEntries: 2, bytes: 0 }),
      /^No entries go with it\. Other sessions keep the 2 entries that they share\./,
    );
    deepStrictEqual([0, 999, 1_000, 12_345, 1_000_000, 2_500_000_000].map(bytesText), [
      '0 bytes',
      '999 bytes',
      '1 kB',
      '12 kB',
      '1 MB',
      '2.5 GB',
    ]);
  });
});
